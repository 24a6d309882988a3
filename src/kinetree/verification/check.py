"""One comparison: a quantity, its method, the reference, and the tolerance by rounding."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kinetree.errors import InertiaError, UnsupportedError
from kinetree.verification.report import Row


class LeftOut(Exception):
    """A check does not apply to this model; the message has the reason."""


class Changed(Exception):
    """The model is another one than its file describes; the message has the difference."""


@dataclass(frozen=True)
class Compared:
    """Two arrays that should agree.

    Attributes
    ----------
    found, expected, tolerance : (n, ...) array
        One entry for each state first; the tolerance broadcasts.
    axes : tuple of str
        Indices of the other axes: "v" (velocity coordinates), "q", "body", "frame", "joint", "number" (of the model),
        "row" (of the constraints), "force" (of the elements with laws), or "" for components.
    note : str
        A remark on the comparison, for any verdict.
    """

    found: np.ndarray
    expected: np.ndarray
    tolerance: np.ndarray
    axes: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True)
class Check:
    """A line of the table.

    Attributes
    ----------
    quantity, method, against : str
    compare : callable
        ``compare(states) -> Compared``; raises `LeftOut` where it does not apply.
    means : str
        Interpretation of a deviation; empty where there is none beyond the disagreement.
    cause : int
        Rank as a likely cause: quantities of higher rank depend on those of lower rank.
    inverts_bodies : bool
        Whether the method inverts the inertias of single bodies, which rods and points do not have.
    by_velocities : bool
        Whether it holds only where nothing moves without velocities, as joints that depend on time do.
    """

    quantity: str
    method: str
    against: str
    compare: Callable
    means: str = ""
    cause: int = 9
    inverts_bodies: bool = False
    by_velocities: bool = False

    def row(self, states) -> Row:
        """Run the check."""
        head = self.quantity, self.method, self.against
        if self.by_velocities and states.t is not None:
            return Row(*head, "left out", note="joints move without velocities")
        try:
            with np.errstate(all="ignore"):
                compared = self.compare(states)
        except LeftOut as reason:
            return Row(*head, "left out", note=str(reason))
        except Changed as reason:
            return Row(*head, "changed", note=str(reason))
        except Exception as error:
            text = " ".join(str(error).split())
            if isinstance(error, UnsupportedError) or self.inverts_bodies and isinstance(error, InertiaError):
                return Row(*head, "left out", note=text)  # the method itself does not apply
            # A method that fails is a finding, not the end of the others.
            return Row(*head, "off", np.inf, 0.0, np.inf, note=f"it fails: {type(error).__name__}: {text}")
        return self._judged(states.model, compared)

    def _judged(self, model, compared: Compared) -> Row:
        head = self.quantity, self.method, self.against
        found, expected = np.asarray(compared.found), np.asarray(compared.expected)
        if found.size == 0:
            return Row(*head, "left out", note="the model has nothing of the kind")
        found, expected = np.broadcast_arrays(found, expected)
        with np.errstate(invalid="ignore"):
            deviation = np.abs(found - expected).astype(float)
        tolerance = np.broadcast_to(np.asarray(compared.tolerance, float), deviation.shape)
        with np.errstate(all="ignore"):
            ratio = np.where(deviation == 0.0, 0.0, deviation / tolerance)
        ratio = np.where(np.isfinite(deviation) & np.isfinite(tolerance), ratio, np.inf)  # NaN is no agreement
        worst = np.unravel_index(int(np.argmax(ratio)), ratio.shape)
        axes = (*compared.axes, *[""] * (ratio.ndim - 1 - len(compared.axes)))
        also = ()
        if ratio[worst] > 1.0:
            places = np.argwhere((ratio > 1.0).any(axis=0)) if ratio.ndim > 1 else []
            also = tuple(dict.fromkeys(place(model, axes, index) for index in places))
        return Row(
            *head,
            "off" if ratio[worst] > 1.0 else "ok",
            float(deviation[worst]),
            float(tolerance[worst]),
            float(ratio[worst]),
            int(worst[0]),
            place(model, axes, worst[1:]) if deviation[worst] else "",
            also,
            "; ".join(filter(None, (self.means if ratio[worst] > 1.0 else "", compared.note))),
        )


def place(model, axes, index) -> str:
    """The part that an entry belongs to: "joint 'elbow'", "joints 'elbow' and 'wrist'", "body 'hand'"."""
    joints, others = [], []
    for axis, k in zip(axes, index, strict=True):
        if axis in ("v", "q"):
            k = k % (model.nv if axis == "v" else model.nq)  # accelerations, then forces, side by side
            slices = model.v_slice if axis == "v" else model.q_slice
            joints.append(model.joint_name(next(i for i in model.outward() if slices[i].start <= k < slices[i].stop)))
        elif axis == "joint":
            joints.append(model.joint_name(k) if k else "")
        elif axis == "body":
            others.append(f"body {model.body_names[k]!r}")
        elif axis == "number":
            others.append(model.numbers().names[k])
        elif axis == "row":
            others.append(f"row {k} of {model.constraint_labels[k]!r}")
        elif axis == "force":
            others.append(f"force element {model.laws[k].name!r}")
        elif axis == "frame":
            others.append(f"frame {model.frames[k].name!r}")
    if joints:
        distinct = list(dict.fromkeys(joints))
        others.append(f"joint{'s' if len(distinct) > 1 else ''} {' and '.join(map(repr, distinct))}")
    return ", ".join(others)
