"""The contract as a model: plain values and arithmetic, no store.

It is told what each verb was asked and what the store answered, says which clause a wrong answer breaks, and goes on
from the answer where the contract leaves the store a choice: ids, fences, promotion, what a bounded sweep takes first.
"""
