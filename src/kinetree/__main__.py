"""``python -m kinetree``: the command line."""

from kinetree.cli import main

if __name__ == "__main__":
    main()
