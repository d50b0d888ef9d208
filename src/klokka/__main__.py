"""`python -m klokka` is the command `klokka`."""

from klokka.cli.main import main

main()
