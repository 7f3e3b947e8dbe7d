"""`python -m basanite` is the command line."""

from basanite.cli import main

main()
