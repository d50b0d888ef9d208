"""Recorded histories of callers at once, judged object by object: is there an order in which every answer is right?

An operation whose outcome nobody knows, since it was cancelled or its connection broke, may have happened at any time
after it began, or not at all.
"""
