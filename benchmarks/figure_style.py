"""The style of the library for the figures of benchmarks."""

from __future__ import annotations

from kinetree.viz.style import STYLE


def pyplot():
    """matplotlib's pyplot, without a display, in the style; the same figure gives the same file."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams.update({"svg.hashsalt": "kinetree", **STYLE})
    import matplotlib.pyplot as plt

    return plt
