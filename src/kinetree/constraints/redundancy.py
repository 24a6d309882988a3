"""Independent rows of loops: a subset that is valid at every generic position, chosen once.

In mechanisms such as a planar four-bar, loops have redundant rows. Which rows to leave out must not depend on the
state, so they are chosen from the rank of G at several closed positions.
"""

from __future__ import annotations

import numpy as np

from kinetree.state_kinematics import Kinematics

SAMPLES, NEWTON = 6, 40
CLOSED = 1e-10  # [m, rad]
NOISE = 1e-6  # of a loop's largest row: smaller ones come from the decimals of a file
DEPENDENT = 1e-3  # of a row of size one beside the others: less are the decimals of a file
SPREAD = 0.15  # [rad, m] by which each start is farther from the neutral position than the one before


def independent_rows(model) -> tuple[int, ...]:
    """Numbers of the rows to keep among those of ``model.constraints``; of eliminated constraints all.

    Notes
    -----
    Closed positions are found by Newton's method from random ones about the neutral position. Rows are scaled by their
    largest size over all samples; then the row is taken, one after another, of which most remains beside those taken
    before: by the product of the geometric mean over the samples and the lower decile.
    """
    kept, loops, first = [], [], 0
    for c in model.constraints:
        numbers = list(range(first, first + c.count(model)))
        first += len(numbers)
        if c.frames and not c.velocity_map(Kinematics(model, ())):
            loops.append((c, numbers))
        else:
            kept += numbers
    if not loops:
        return tuple(kept)
    if model.time_dependent or any(c.time_dependent for c, _ in loops):
        return tuple(range(first))
    rng, names = np.random.default_rng(0), np.array([n for _, numbers in loops for n in numbers])
    samples = [_closed(model, [c for c, _ in loops], SPREAD * (1 + n), rng) for n in range(SAMPLES)]
    best = min(gap for gap, _, _ in samples)
    G = np.array([rows for gap, rows, _ in samples if gap <= max(CLOSED, 10.0 * best)])  # (samples, rows, nv)
    size = np.abs(G).max(axis=(0, 2))
    largest = np.concatenate([np.full(len(numbers), size[np.isin(names, numbers)].max()) for _, numbers in loops])
    left = G / np.where(size > 0.0, size, 1.0)[None, :, None]
    usable = size > NOISE * np.maximum(largest, 1e-300)
    while usable.any():
        norms = np.linalg.norm(left, axis=2)
        score = np.exp(np.log(np.maximum(norms, 1e-300)).mean(axis=0)) * np.quantile(norms, 0.1, axis=0)
        score[~usable] = 0.0
        row = int(np.argmax(score))
        if score[row] < DEPENDENT**2:
            break
        kept.append(int(names[row]))
        usable[row] = False
        unit = left[:, row] / norms[:, row, None]
        left = left - (left @ unit[:, :, None]) * unit[:, None, :]
    return tuple(sorted(kept))


def _closed(model, loops, spread: float, rng) -> tuple[float, np.ndarray, np.ndarray]:
    """The error of position, the rows, and the position itself that Newton's method finds."""
    q = _moved(model, model.neutral(), spread * rng.standard_normal(model.nv))
    for _ in range(NEWTON):
        kin = Kinematics(model, q.tolist())
        phi = np.array([float(x) for c in loops for x in c.residual(kin) or [0.0] * c.count(model)])
        G = np.zeros((len(phi), model.nv))
        for n, row in enumerate(row for c in loops for row in c.rows(kin)):
            for k, x in row.items():
                G[n, k] = float(x)
        maps = [c.velocity_map(kin) for c in model.constraints]
        dependent = {k: pairs for entries in maps for k, pairs in entries.items()}
        for k, pairs in dependent.items():
            for m, ratio in pairs:
                G[:, m] += ratio * G[:, k]
            G[:, k] = 0.0
        gap = np.abs(phi).max()
        if gap < CLOSED:
            break
        step = -np.linalg.lstsq(G, phi, rcond=1e-9)[0]
        for k, pairs in dependent.items():
            step[k] = sum(ratio * step[m] for m, ratio in pairs)
        step *= min(1.0, 1.0 / max(np.abs(step).max(), 1e-12))  # at most a radian
        q = _moved(model, q, step)
    return gap, G, q


def closed_state(model, rng) -> tuple[np.ndarray, np.ndarray]:
    """A random position near the neutral one and a velocity that obey all loops; the last try if none is found."""
    loops = [c for c in model.constraints if c.frames]
    for n in range(4 * SAMPLES):
        gap, G, q = _closed(model, loops, SPREAD * (1 + n % SAMPLES), rng)
        if gap < CLOSED:
            break
    v = rng.standard_normal(model.nv)
    return q, model.constrained_velocities(v - np.linalg.pinv(G, rcond=1e-9) @ (G @ v))


def _moved(model, q, step) -> np.ndarray:
    """The position reached by a step."""
    q, step = q.tolist(), step.tolist()
    return np.array([x for i in model.outward()
                     for x in model.joints[i].integrate(model.q_of(i, q), model.v_of(i, step))])  # fmt: skip
