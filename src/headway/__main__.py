"""`python -m headway`, for torchrun and for machines without the script on their path."""

from headway.cli import main

main()
