"""Targets of inverse kinematics: poses, positions and orientations of frames, one of each or a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinetree.arguments import a_mapping, array, refuse
from kinetree.control.tasks import PARTS
from kinetree.errors import ModelError, ShapeError
from kinetree.model.parts import as_transform

FORMS = (
    "a pose, (4, 4) or (R, p), a position (3,) or (None, p), an orientation (3, 3) or (R, None), "
    "or a batch of them along a first axis"
)
CALL = "inverse_kinematics"


@dataclass(frozen=True)
class Target:
    """A frame, its pose, the rows of its error that count, and their weights."""

    frame: str
    R: np.ndarray
    p: np.ndarray
    rows: slice
    weights: np.ndarray

    @classmethod
    def of(cls, frame: str, given, weights: np.ndarray) -> Target:
        """From R (3, 3) and p (3,), of which one may be None, and the weights of rotation and position (2,)."""
        R, p = given
        part = "position" if R is None else "orientation" if p is None else "pose"
        R, p = np.eye(3) if R is None else R, np.zeros(3) if p is None else p
        try:
            as_transform(_of(frame), (R, p))  # R is a rotation
        except ModelError as error:
            hint = "; of three positions give (None, p)" if part == "orientation" else ""
            refuse(_of(frame), given, f"{FORMS}{hint} ({error})")
        return cls(frame, R, p, PARTS[part], np.repeat(weights, 3)[PARTS[part]])


def levels_of(model, targets, weights) -> tuple[int | None, list[list[list[Target]]]]:
    """The length of the batch, None for single targets, and for each entry the targets by priority."""
    levels = list(targets) if isinstance(targets, Sequence) and not isinstance(targets, str) else [targets]
    levels = [a_mapping(f"{CALL}: targets", level) for level in levels]
    if not levels or not all(levels):
        refuse(f"{CALL}: targets", targets, "a mapping of frames to poses with one at least, or several")
    known = {name for level in levels for name in level}
    weights = {} if weights is None else a_mapping(f"{CALL}: weights", weights)
    if unknown := [name for name in weights if name not in known]:
        refuse(f"{CALL}: weights", unknown, f"frames among {', '.join(map(str, known))}")
    for name in known:
        model.frame(name)
    found = [{name: _pose(name, given) for name, given in level.items()} for level in levels]
    by_frame = {name: _weights(name, weights.get(name, 1.0)) for name in known}
    n = _length(found)

    def one(k):
        return [
            [Target.of(name, [_entry(x, axes, k) for x, axes in zip(pose, (2, 1), strict=True)], by_frame[name])
             for name, pose in level.items()]
            for level in found
        ]  # fmt: skip

    return n, [one(k) for k in range(1 if n is None else n)]


def _pose(name, given):
    """R and p as arrays with one more axis for batches; None what is free."""
    what = _of(name)
    if isinstance(given, tuple) and len(given) == 2:
        R, p = (None if x is None else array(what, x, FORMS) for x in given)
    else:
        x = array(what, given, FORMS)
        if x.shape[-2:] == (4, 4):
            if not np.array_equal(x[..., 3, :], np.broadcast_to([0.0, 0.0, 0.0, 1.0], x[..., 3, :].shape)):
                refuse(what, given, f"{FORMS}; the last row of (4, 4) is [0, 0, 0, 1]")
            R, p = x[..., :3, :3], x[..., :3, 3]
        elif x.shape[-2:] == (3, 3):
            R, p = x, None
        else:
            R, p = None, x
    for x, axes in ((R, 2), (p, 1)):
        if x is not None and (x.shape[-axes:] != (3,) * axes or x.ndim > axes + 1):
            refuse(what, given, FORMS)
        if x is not None and not np.isfinite(x).all():
            refuse(what, given, "finite numbers")
    if R is None and p is None:
        refuse(what, given, FORMS)
    return R, p


def _length(levels) -> int | None:
    """The common length of all batches."""
    lengths = {
        name: len(x)
        for level in levels for name, pose in level.items() for x, axes in zip(pose, (2, 1), strict=True)
        if x is not None and x.ndim > axes
    }  # fmt: skip
    if len(set(lengths.values())) > 1:
        text = ", ".join(f"{name!r} {n}" for name, n in lengths.items())
        raise ShapeError(f"{CALL}: targets are batches of different lengths: {text}; one length is expected.")
    return next(iter(lengths.values()), None)


def _entry(x, axes: int, k: int):
    return x if x is None or x.ndim == axes else x[k]


def _weights(name, given) -> np.ndarray:
    w = np.asarray(given)
    if w.dtype.kind not in "fiu" or w.shape not in ((), (2,)) or not (np.isfinite(w) & (w > 0.0)).all():
        refuse(f"{CALL}: the weight of {name!r}", given, "a positive number, or two of them")
    return np.broadcast_to(w, 2).astype(float)


def _of(name) -> str:
    return f"{CALL}: the target of {name!r}"
