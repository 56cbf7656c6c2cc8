"""`python -m diprl` is the `diprl` command."""

from diprl.cli import main

if __name__ == "__main__":
    main()
