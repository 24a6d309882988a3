"""Positions of a model's joints as surgery takes them: checked, as floats."""

from __future__ import annotations

import numpy as np

from kinetree.errors import NonFiniteError, QuaternionError, ShapeError
from kinetree.model import Model
from kinetree.model.parts import numeric

CONSISTENT = 1e-6  # of couplings, and of |quaternion|^2 - 1: the same as in the plain calls


def joint_position(model: Model, joint: str | int, value) -> list[float]:
    """The position of one joint as floats; None means neutral, a number is enough for a joint of one position.

    Raises
    ------
    ShapeError, NonFiniteError, QuaternionError
    """
    i = model.joint(joint)
    name, kind = model.joint_name(i), model.joints[i]
    if value is None:
        return [float(x) for x in kind.neutral()]
    q = numeric(f"joint {name!r}: position", value)
    if q.ndim == 0 and kind.nq == 1:
        q = q.reshape(1)
    if q.shape != (kind.nq,):
        message = (
            f"joint {name!r}: position has shape {q.shape}, expected ({kind.nq},): {', '.join(kind.position_names)}"
        )
        raise ShapeError(message, joint=name, shape=q.shape)
    if not np.all(np.isfinite(q)):
        raise NonFiniteError(f"joint {name!r}: position is {q.tolist()}, expected finite numbers", joint=name)
    q = q.tolist()
    worst = max((abs(float(x)) for x in kind.defect(q)), default=0.0)
    if worst > CONSISTENT:
        fault = f"joint {name!r}: the quaternion in {q} is not of unit length: its square is off by {worst:.3g}"
        raise QuaternionError(f"{fault}; kinetree.normalize gives the nearest valid position", joint=name)
    return [float(x) for x in kind.normalize(q)]


def position(model: Model, q) -> list[float]:
    """A whole position as floats, each joint's part checked; None means neutral."""
    q = model.neutral() if q is None else numeric(f"model {model.name!r}: q", q)
    if q.shape != (model.nq,):
        raise ShapeError(f"q has shape {q.shape}, expected ({model.nq},) for model {model.name!r}", shape=q.shape)
    return [x for i in model.outward() for x in joint_position(model, i, q[model.q_slice[i]])]
