"""kinetree against every rival that is installed, on the same robots and states: ``python -m benchmarks.rivals``."""
