"""``python -m benchmarks``: run the comparison with Pinocchio and rewrite the table of the README."""

from benchmarks.run import main

if __name__ == "__main__":
    main()
