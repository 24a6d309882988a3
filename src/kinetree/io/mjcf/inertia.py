"""Bodies that MuJoCo's compiler refuses for their inertia, and that are loaded anyway on request.

Such a body gets a harmless inertia in the specification, so that the rest compiles, and its own afterwards.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from kinetree.errors import ModelError
from kinetree.io.inertia_rules import settle
from kinetree.io.mjcf.messages import parsed_message
from kinetree.io.mjcf.notes import Notes
from kinetree.model.builder import rotation_of_quaternion

_IMPOSSIBLE = re.compile(r"inertia must satisfy|must have positive eigenvalues|must be positive definite")
_TOO_LIGHT = re.compile(r"mass and inertia of moving bodies must be larger")
_SMALL = 1e-9  # [kg, kg m^2] above MuJoCo's least, negligible beside any other inertia


@dataclass(slots=True)
class InertiaRepairs:
    """Repairs a specification as far as the user's choices allow.

    Parameters
    ----------
    spec : mujoco.MjSpec
    inertia, massless : str
        The options of `load_mjcf`.
    notes : Notes
    """

    spec: object
    inertia: str
    massless: str
    notes: Notes
    _own: dict[int, tuple[float, np.ndarray, bool]] = field(default_factory=dict)  # mass, tensor, if in the body's axes

    def repair(self, text: str) -> bool:
        """Change the specification so that the compiler's message no longer applies; False if it is not about mass.

        Raises
        ------
        InertiaError, ModelError
            If the user's choice does not repair it.
        """
        found = parsed_message(text)
        k, impossible, bodies = found.number, _IMPOSSIBLE.search(text), self.spec.bodies
        if k not in range(len(bodies)) or k in self._own or not (impossible or _TOO_LIGHT.search(text)):
            return False
        body = bodies[k]  # in the order of the compiled model
        name = body.name or f"body_{k}"
        if not body.name and found.line:
            self.notes.sources.remember("body", name, found.line)
        mass, I, full = _given(body)
        if impossible:
            I = self._settled(name, mass, I, text)
            self._own[k] = mass, I, full
            largest = float(np.abs(I).max()) or _SMALL
            _set_moments(body, full, [largest] * 3)
            return True
        if not (np.isfinite(mass) and np.isfinite(I).all()):
            if infinite := self.notes.sources.number_error("inf", "this number must be finite"):
                raise infinite
            return False
        if mass < 0.0 or (self.inertia == "raise" and np.diag(I).min() < 0.0):
            self._settled(name, mass, I, text)  # no choice repairs a negative mass
        if self.massless == "raise":
            raise self._fail(
                name,
                f"body '{name}' moves with mass {mass:g} kg and a moment of inertia of {np.abs(np.diag(I)).min():g} "
                "kg m^2, which MuJoCo refuses",
                ModelError,
                code="massless-leaf",
                repair="give it mass, or choose massless='lock', which takes the body as it is and makes joints fixed "
                "that move no inertia",
            )
        self._own[k] = mass, I, full
        message = f"body '{name}' moves with mass {mass:g} kg, which MuJoCo refuses (massless='lock')"
        self.notes.warning(("body", name), message)
        body.explicitinertial = True
        body.mass = max(mass, _SMALL)
        _set_moments(body, full, [_SMALL] * 3 if full else [max(float(x), _SMALL) for x in np.diag(I)])
        return True

    def _settled(self, name: str, mass: float, I: np.ndarray, text: str) -> np.ndarray:
        fail = partial(self._fail, name)
        I, change = settle(mass, I, self.inertia, f"body '{name}'", fail)
        if self.inertia == "raise":  # it breaks no rule of ours
            rule = text.partition("\n")[0].removeprefix("Error: ")
            message = f"body '{name}': MuJoCo: {rule}"
            raise fail(message, ModelError, code="impossible-inertia", repair="inertia='accept' takes it")
        message = f"body '{name}': {change or 'inertia beyond the rule by rounding, taken as it is'}"
        self.notes.warning(("body", name), message, "impossible-inertia")
        return I

    def _fail(self, name: str, message: str, error: type, **values: object) -> Exception:
        """The error about a body, with the line of its ``<inertial>`` if it has one."""
        sources = self.notes.sources
        body = sources.find("body", name)
        inertial = None if body is None else next((c for c in body.all_children() if c.tag == "inertial"), None)
        return sources.fail(inertial or ("body", name), message, error, body=name, **values)

    def own(self, mj) -> dict[int, tuple[float, np.ndarray, np.ndarray]]:
        """Mass, center of mass and inertia about it, by the compiled number of each body that was repaired."""
        found = {}
        for k, (mass, I, full) in self._own.items():
            R = np.eye(3) if full else rotation_of_quaternion(mj.body_iquat[k])
            found[k] = mass, np.array(mj.body_ipos[k]), R @ I @ R.T
        return found


def _set_moments(body, full: bool, moments: list[float]) -> None:
    if full:
        body.fullinertia = [*moments, 0.0, 0.0, 0.0]
    else:
        body.inertia = moments


def _given(body) -> tuple[float, np.ndarray, bool]:
    """Mass and tensor of an <inertial>, and whether the tensor is full, which means in the body's own axes."""
    if not body.explicitinertial:
        return 0.0, np.zeros((3, 3)), False
    xx, yy, zz, xy, xz, yz = map(float, body.fullinertia)
    if not np.isnan(xx):
        return float(body.mass), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), True
    return float(body.mass), np.diag(np.array(body.inertia, dtype=float)), False
