"""``python -m benchmarks.rivals``."""

from benchmarks.rivals.run import main

if __name__ == "__main__":
    main()
