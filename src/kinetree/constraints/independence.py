"""Independent velocities of a model with loops, and whether motors determine its motion: at generic positions.

Both are properties of the rank of parts of K at several closed positions, found once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.constraints.explicit_constraint import in_order
from kinetree.constraints.redundancy import kept_equalities
from kinetree.errors import ConstraintError
from kinetree.state_kinematics import Kinematics

SINGULAR = 1e-7  # a singular value below this part of the largest, at all sampled positions
REGULAR = (0.1, 0.01, 1e-4, 1e-8)  # of K, the parts of its smallest singular value that dependent columns keep


def independent_velocities(model) -> tuple[int, ...]:
    """Velocity coordinates that determine all others at generic positions, ascending.

    Notes
    -----
    Joints of one freedom are tried first, from the root outward. One is taken if the columns that are left keep the
    rank of K: its smallest singular value, in the geometric mean over the sampled positions, may not fall by more than
    a factor of 10; then of 100, before joints of several freedoms are tried in the same way. Floating bases that loops
    do not hold are among the independent ones.
    """
    columns, K = sampled_rows(model)
    sizes = np.sqrt((K**2).sum(axis=1).mean(axis=0))
    K = K / np.where(sizes > 0.0, sizes, 1.0)
    single = [joint.nv == 1 for joint in model.joints[1:] for _ in range(joint.nv)]
    left, limit = [c for c in range(len(columns)) if sizes[c] > 0.0], _least(K)
    groups = [[c for c in left if single[columns[c]] == one] for one in (True, False)]
    tries = [(part, group) for group in groups for part in REGULAR[:2]] + [(part, list(left)) for part in REGULAR[2:]]
    for part, group in tries:
        for c in group:
            rest = [n for n in left if n != c]
            if len(left) > K.shape[1] and c in left and _least(K[:, :, rest]) >= part * limit:
                left = rest
    return tuple(k for c, k in enumerate(columns) if c not in left)


def _least(K) -> float:
    """The smallest singular value, in the geometric mean of the samples; infinite without rows."""
    if not K.shape[1]:
        return np.inf
    return float(np.exp(np.log(np.maximum(np.linalg.svd(K, compute_uv=False)[:, -1], 1e-300)).mean()))


def check_independent(model, chosen: tuple[int, ...]) -> None:
    """Raise ConstraintError unless these velocity coordinates determine all others at generic positions."""
    columns, K = sampled_rows(model, chosen)
    labels = ", ".join(model.velocity_labels[k] for k in chosen)
    for k in chosen:
        if k not in columns:
            raise ConstraintError(
                f"independent: {model.velocity_labels[k]!r} follows another joint by a constraint, or is given"
            )
    if len(chosen) != model.ny:
        raise ConstraintError(
            f"independent: {len(chosen)} velocities ({labels}), expected {model.ny}, as many as model {model.name!r} "
            f"has degrees of freedom; of {', '.join(model.velocity_labels[k] for k in columns)}"
        )
    dependent = [c for c, k in enumerate(columns) if k not in chosen]
    if dependent and _deficient(K[:, :, dependent], len(dependent)):
        raise ConstraintError(
            f"independent: the loops of model {model.name!r} relate {labels} to each other, so they do not determine "
            f"the other velocities; {', '.join(model.velocity_labels[k] for k in model.independent_velocities())} do"
        )


def lacking_motors(model, unactuated) -> int:
    """Number of independent motions that no motor has an influence on, where these coordinates have no motors."""
    columns, K = sampled_rows(model)
    free = [c for c, k in enumerate(columns) if k in unactuated]
    if not free:
        return 0
    return len(free) - _rank(K[:, :, free])


def sampled_rows(model, chosen: Sequence[int] = ()) -> tuple[list[int], np.ndarray]:
    """The coordinates that are not eliminated, and the kept rows K over them at closed positions.

    Explicit constraints eliminate the joints that they give, without those of the chosen coordinates.

    Returns
    -------
    columns : list of int
    K : (samples, rows, columns) array
        Scaled to a largest entry of one in each row.
    """
    kin = Kinematics(model, ())
    maps = {k: pairs for c in model.constraints for k, pairs in c.velocity_map(kin).items()}
    columns = [k for k in range(model.nv) if k not in maps]
    kept = list(model.loop_rows().coordinates)
    if not kept:
        return columns, np.zeros((1, 0, len(columns)))
    K = kept_equalities(model, model.loop_rows().positions, eliminated=False)
    for k, pairs in maps.items():
        for m, ratio in pairs:
            K[:, :, m] += ratio * K[:, :, k]
    K, columns = _substituted(model, K, kept, columns, chosen)
    K = K[:, :, columns]
    size = np.abs(K).max(axis=(0, 2))
    return columns, K / np.where(size > 0.0, size, 1.0)[None, :, None]


def _substituted(model, K, kept, columns, chosen):
    """Rows without those of explicit constraints, and the columns that are left."""
    kin, rows, numbers = Kinematics(model, ()), {}, model.constraint_rows()
    for place, c in in_order(model.constraints):
        for n, joint in zip(numbers[place][1], c.followers, strict=False):
            if n in kept and (k := kin.dof(joint)) in columns and k not in chosen:
                rows[kept.index(n)] = k
    for n, k in reversed(rows.items()):
        K = K - K[:, :, k][:, :, None] * K[:, n][:, None]
    others = [n for n in range(len(kept)) if n not in rows]
    return K[:, others], [k for k in columns if k not in rows.values()]


def _rank(K) -> int:
    """The largest rank over the samples."""
    sigma = np.linalg.svd(K, compute_uv=False)
    return int((sigma > SINGULAR * np.maximum(sigma[:, :1], 1e-300)).sum(axis=1).max()) if sigma.size else 0


def _deficient(K, n: int) -> bool:
    return K.shape[1] < n or _rank(K) < n
