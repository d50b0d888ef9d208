"""Enqueue on the user's own connection: the same statements on each library's, which is imported only if it is used."""
