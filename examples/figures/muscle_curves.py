"""The curves of the muscle models: docs/muscles.svg.

Run ``python examples/figures/muscle_curves.py docs``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt


def draw(path: Path) -> None:
    """The four curves of each set."""
    plt.style.use(kt.viz.STYLE)
    figure, axes = plt.subplots(2, 2, figsize=(7.5, 5.0), layout="constrained")
    fields = ("active_force_length", "passive_force_length", "force_velocity", "tendon_force_length")
    ranges = ((0.3, 2.0), (0.3, 1.8), (-1.2, 1.2), (0.99, 1.06))
    for ax, field, (low, high) in zip(axes.flat, fields, ranges, strict=True):
        x = np.linspace(low, high, 300)
        for name in kt.muscles.CURVES:
            ax.plot(x, getattr(kt.muscles.curves(name), field)(x), label=name)
        ax.set(title=field.replace("_", " "), xlabel="velocity" if field == "force_velocity" else "length")
    for ax in axes[:, 0]:
        ax.set_ylabel("force / F0")
    axes[0, 1].legend()
    figure.savefig(path)


if __name__ == "__main__":
    draw(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "muscles.svg")
