"""``python -m benchmarks.corpus``: examine all files, or a selection, and rewrite the table."""

from benchmarks.corpus.run import main

if __name__ == "__main__":
    main()
