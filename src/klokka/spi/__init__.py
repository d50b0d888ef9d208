"""The storage contract: what a store must do and may do. Protocols and prose, no logic.

The clauses stand in `docs/contract.md`; each id in brackets stands in the docstring of the verb that it binds and in
at least one check of `klokka.tck`. Start with `store.JobStore`.
"""
