"""The conformance kit: checks that prove a store right, clause by clause of `docs/contract.md`.

A factory gives fresh, empty data; `run.run` says what passed, what failed and in which clause, and what was skipped
and why. Strength comes in layers: examples, with one handle and with many at once; random scripts against a pure model
(`machine`, with the extra `klokka[tck]`); recorded histories of callers at once (`history`); other processes, killed and
stopped (`processes`); and verbs cancelled at every await (`cancellation`).
"""
