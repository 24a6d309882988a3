"""Sliders for the coordinates of a model's joints."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

STEPS = 400  # of a slider from end to end


@dataclass(frozen=True)
class Slot:
    """One slider: a coordinate of a joint, or of its motion from the neutral position where that is no vector.

    Attributes
    ----------
    label : str
    body : int
    entry : int
        Among the velocity coordinates of the joint.
    lower, upper : float
        [rad or m]
    """

    label: str
    body: int
    entry: int
    lower: float
    upper: float


def slots(model, size: float) -> list[Slot]:
    """The sliders of a model; joints that follow others or move as prescribed have none.

    Parameters
    ----------
    model : Model
    size : float
        Of the mechanism [m]: how far joints without limits slide.
    """
    following = {coupling.joint for coupling in model.couplings}
    found = []
    for i in model.outward():
        joint, name = model.joints[i], model.joint_name(i)
        if name in following or joint.time_dependent:
            continue
        for k, (label, unit) in enumerate(zip(joint.velocity_names, joint.velocity_units, strict=True)):
            n = model.v_slice[i].start + k
            lower, upper = float(model.lower[n]), float(model.upper[n])
            reach = math.pi if unit.startswith("rad") else max(2.0 * size, 0.1)
            if joint.nq != joint.nv or not math.isfinite(lower + upper) or not lower < upper:
                middle = 0.0 if joint.nq != joint.nv else float(joint.neutral()[k])
                lower = middle - reach if not math.isfinite(lower) or joint.nq != joint.nv else lower
                upper = max(middle, lower) + reach if not math.isfinite(upper) or joint.nq != joint.nv else upper
            found.append(Slot(name if joint.nv == 1 else f"{name} {label}", i, k, lower, upper))
    return found


class Sliders:
    """Sliders of a panel, beside the positions that they show.

    Parameters
    ----------
    gui : viser.GuiApi
    model : Model
    size : float
        [m]
    moved : callable
        ``moved(joint)``: a user moved a slider of this joint.
    """

    def __init__(self, gui, model, size: float, moved: Callable[[str], None]) -> None:
        self._model, self._slots = model, slots(model, size)
        self._handles = []
        for slot in self._slots:
            middle = min(max(0.0, slot.lower), slot.upper)
            step = (slot.upper - slot.lower) / STEPS
            handle = gui.add_slider(slot.label, slot.lower, slot.upper, float(f"{step:.1g}"), middle)

            @handle.on_update
            def _(event, body=slot.body) -> None:
                if event.client is not None:  # not set by `write`
                    moved(model.joint_name(body))

            self._handles.append(handle)
        # The coordinates that were written: values of the page are rounded and end at the ends of the sliders.
        self._exact = self._written = [handle.value for handle in self._handles]

    def read(self, q: np.ndarray) -> np.ndarray:
        """The positions that the sliders show; those of joints without sliders are taken from q."""
        q = np.array(q, dtype=float)
        shown: dict[int, np.ndarray] = {}
        for slot, handle, exact, written in zip(self._slots, self._handles, self._exact, self._written, strict=True):
            value = exact if handle.value == written else handle.value
            shown.setdefault(slot.body, self._coordinates(slot.body, q))[slot.entry] = value
        for i, values in shown.items():
            joint, where = self._model.joints[i], self._model.q_slice[i]
            straight = joint.nq == joint.nv
            q[where] = values if straight else [*joint.integrate(joint.neutral(), values.tolist())]
        return q

    def write(self, q: np.ndarray) -> None:
        """Show a position."""
        shown = {i: self._coordinates(i, q) for i in {slot.body for slot in self._slots}}
        self._exact = [float(shown[slot.body][slot.entry]) for slot in self._slots]
        for slot, handle, exact in zip(self._slots, self._handles, self._exact, strict=True):
            value = float(f"{min(max(exact, slot.lower), slot.upper):.4g}")
            if abs(handle.value - value) > 0.6 * handle.step:  # less would move the slider under the pointer
                handle.value = value
        self._written = [handle.value for handle in self._handles]

    def _coordinates(self, i: int, q) -> np.ndarray:
        joint, own = self._model.joints[i], np.asarray(q)[self._model.q_slice[i]].tolist()
        return np.array(own if joint.nq == joint.nv else [*joint.difference(joint.neutral(), own)], dtype=float)
