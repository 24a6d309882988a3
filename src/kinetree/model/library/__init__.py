"""Models in code, of `kinetree.models`: one module per family."""
