"""The conformance kit: checks that prove a store right, clause by clause of `docs/contract.md`.

A factory gives fresh, empty data; `run.run` says what passed, what failed and in which clause, and what was skipped
and why. The layers so far: examples, and examples with many handles at once.
"""
