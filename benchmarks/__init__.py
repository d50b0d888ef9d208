"""How fast Klokka is, beside the bare database and beside others, in one run on one machine."""
