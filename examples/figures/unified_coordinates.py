"""Figures 7 to 12 of Holzinger, Gerstmayr, Schoeberl, with the measured slopes: docs/unified_coordinates.png.

Run ``python examples/figures/unified_coordinates.py docs``; it takes half a minute and prints the table of the page.
"ulvc" is the paper's method in unified local velocities with the pose as a matrix H, "f1" Terze's on unit quaternions.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

import kinetree as kt
from kinetree.joints import FreeUnified
from kinetree.liegroup import Projection, terze_rk4_step, unified_rk4_step
from kinetree.spatial import Inertia, Motion, Symmetric3, Transform, Vector3

CUBE = Projection.hexahedral()
MOMENTS = (5.2988, 1.1775, 4.3568)
OMEGA0 = (0.01, 0.0, 100.0)
BOX = Inertia.from_com(1.0, Vector3.zero(), Symmetric3.diagonal(*MOMENTS))
STEPS = (80, 160, 320, 640, 1280, 2560, 5120)  # the paper's 10 and 40 are unstable
EXACT = (  # Omega(1 s) by Jacobi's elliptic functions, in 40 digits, rounded to those of a long double
    "5.862162832632921267", "6.769011439155636654", "-99.72873950308943448",
)  # fmt: skip


def unified(steps, kind=float):
    """(R, Omega) of every step, R from the matrix H."""
    zero = Vector3.zero()
    X, w = Transform.identity(), CUBE.coordinates(Motion(Vector3(*(kind(x) for x in OMEGA0)), zero))
    h, states = kind(1) / kind(steps), [(np.eye(3), np.array(OMEGA0))]
    for _ in range(steps):
        X, w = unified_rk4_step(CUBE, BOX, h, X, w)
        states.append((np.array(X.E.matrix.rows).T, np.array(list(CUBE.twist(w).angular))))
    return states


def terze(steps, kind=float):
    """(quaternion, Omega) of every step."""
    q, omega = tuple(kind(x) for x in (1, 0, 0, 0)), Vector3(*(kind(x) for x in OMEGA0))
    h, states = kind(1) / kind(steps), []
    for _ in range(steps):
        q, omega = terze_rk4_step(BOX.I, h, q, omega)
        states.append((np.array(q), np.array(list(omega))))
    return states


def determinant(R):
    """By its cofactors, so that it works in extended precision too."""
    return R[0] @ np.cross(R[1], R[2])


def error(omega):
    return float(np.sqrt(((omega - np.array([np.longdouble(x) for x in EXACT])) ** 2).sum()))


def rotation(q):
    """R of a quaternion (w, x, y, z) as it is, without normalization."""
    (w, x, y, z), one = q, q[0] / q[0]
    return np.array([
        [one - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), one - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), one - 2 * (x * x + y * y)],
    ])  # fmt: skip


def convergence():
    """Rows (steps, errors of ulvc, f1, ulvc in extended precision, their largest difference, |det R - 1| of both).

    And det R - 1 of both after every step of the shortest steps.
    """
    rows = []
    for n in STEPS:
        one, two, three = unified(n), terze(n), unified(n, np.longdouble)
        apart = max(np.abs(a[1] - b[1]).max() for a, b in zip(one[1:], two, strict=True))
        dets = [abs(float(determinant(R)) - 1.0) for R in (one[-1][0], rotation(two[-1][0]))]
        rows.append((n, error(one[-1][1]), error(two[-1][1]), error(three[-1][1]), apart, *dets))
        slope = np.log2(rows[-2][3] / rows[-1][3]) if len(rows) > 1 else float("nan")
        errors = " | ".join(f"{x:.2e}" for x in rows[-1][1:4])
        rest = " | ".join(f"{x:.0e}" for x in rows[-1][4:])
        print(f"| 1/{n} | {errors} | {slope:.2f} | {rest} |")
    matrices = [R for R, _ in one[1:]], [rotation(q) for q, _ in two]
    return np.array(rows), [[determinant(R) - 1.0 for R in run] for run in matrices]


def reference():
    """t, path of p = (0, 0, 1) and Omega with h = 1e-5, by the compiled integrator of models; every 20th."""
    b = kt.ModelBuilder("box", gravity=(0.0, 0.0, 0.0))
    b.add_body("box", joint=FreeUnified(CUBE), mass=1.0, inertia=MOMENTS)
    model, w0 = b.build(), CUBE.D @ np.r_[OMEGA0, 0.0, 0.0, 0.0]
    q, w = kt.rollout(
        model, model.neutral(), w0, None, 1e-5, steps=100_000, record=kt.Record(every=20), integrator="rk4"
    )
    R = np.array([rotation(x) for x in q[:, 3:]])
    return np.linspace(0.0, 1.0, len(q)), R[:, :, 2], (w @ CUBE.D_inverse.T)[:, :3]


def draw(folder: Path) -> None:
    t, p, omega = reference()
    rows, determinants = convergence()
    plt.style.use(kt.viz.STYLE)
    figure = plt.figure(figsize=(9.5, 6.2), layout="constrained")
    axes = figure.add_subplot(2, 3, 1, projection="3d")
    axes.plot(*p[t < 0.62].T, linewidth=0.5)
    axes.set(title="7: path of p = (0, 0, 1)", xlabel="x", ylabel="y", zlabel="z", box_aspect=(1, 1, 1))
    axes.set(xticks=(-1, 0, 1), yticks=(-1, 0, 1), zticks=(-1, 0, 1))
    panels = [figure.add_subplot(2, 3, k) for k in range(2, 7)]
    for k, name in enumerate("xyz"):
        panels[0].plot(t, p[:, k], linewidth=0.6, label=name)
        panels[1].plot(t, omega[:, k], linewidth=0.9, label=f"$\\Omega_{k + 1}$")
    panels[0].set(title="8: position of p", xlabel="t [s]", ylabel="[m]", xlim=(0.0, 1.0))
    panels[1].set(title="9: body angular velocity", xlabel="t [s]", ylabel="[rad/s]", xlim=(0.0, 1.0))
    for det, label in zip(determinants, ("ulvc", "f1 (Terze)"), strict=True):
        panels[2].plot(np.arange(1, len(det) + 1) / len(det), det, linewidth=0.6, label=label)
    panels[2].set(title=f"10: det R - 1, h = 1/{STEPS[-1]} s", xlabel="t [s]", xlim=(0.0, 1.0))
    h = 1.0 / rows[:, 0]
    for column, label, style in ((1, "ulvc", "o-"), (2, "f1 (Terze)", "x--"), (3, "ulvc, extended precision", "^:")):
        panels[3].loglog(h, rows[:, column], style, label=label, markersize=5, fillstyle="none")
    slope = np.polyfit(np.log(h[3:]), np.log(rows[3:, 3]), 1)[0]
    line = 0.3 * rows[-1, 3] * (h[3:] / h[-1]) ** 4
    panels[3].loglog(h[3:], line, "k", linewidth=0.8, label=f"slope 4; measured {slope:.2f}")
    panels[3].set(title="11: error of Omega(1 s)", xlabel="h [s]", ylabel="[rad/s]")
    for column, label, style in ((5, "ulvc", "o-"), (6, "f1 (Terze)", "x--")):
        panels[4].loglog(h, np.maximum(rows[:, column], 1e-17), style, label=label, markersize=5, fillstyle="none")
    panels[4].set(title="12: |det R - 1| after 1 s", xlabel="h [s]", ylim=(1e-17, 1e-12))
    for panel in panels:
        panel.legend(fontsize=7)
    print(f"measured slope, h = 1/640 to 1/5120, extended precision: {slope:.3f}")
    figure.savefig(folder / "unified_coordinates.png", dpi=110)


if __name__ == "__main__":
    draw(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
