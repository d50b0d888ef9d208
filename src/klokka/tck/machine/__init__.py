"""Random steps against the model, by Hypothesis: every verb, virtual time, crashes and callers that listen to no hint.

What fails is made short and told as a script of verbs. Needs the extra `klokka[tck]`.
"""
