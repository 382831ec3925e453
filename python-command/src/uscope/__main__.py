"""`python -m uscope`."""

from .command import main

main()
