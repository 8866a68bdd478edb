"""python -m forebay VERB ..."""

from .program import main

main()
