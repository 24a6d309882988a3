"""Names of parameters of a sweep, and the arrays of a batch that their values fill.

A parameter is a number of the model ("link.mass", "gravity.z", "spring.stiffness"), all of a vector ("q0") or one of
its entries ("q0.elbow"), a gain or target of the controller ("controller.kp"), or a factor of an inertia or a friction.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.errors import InertiaError, ShapeError, unknown_name

VECTORS = ("q0", "v0", "tau", "x0", "control")
MOMENTS = ("h.x", "h.y", "h.z", "I.xx", "I.xy", "I.yy", "I.xz", "I.yz", "I.zz")
ALL_FRICTION = "contact.friction"
LEAST = -1e-9  # of the sum of the principal moments: rounding of a point mass


@dataclass(frozen=True, eq=False)
class Parameter:
    """A parameter and its place.

    Attributes
    ----------
    name : str
    kind : str
        "number", "factor", one of ``VECTORS``, "gain", "target" or "argument" (of a factory of models).
    at : object
        Columns of the numbers or entries of the vector; of gains, their name and the entries of the diagonal.
    shape : tuple of int
        Of one value.
    """

    name: str
    kind: str
    at: object
    shape: tuple[int, ...] = ()


class Parameters:
    """The places of all parameters of a sweep.

    Parameters
    ----------
    names : sequence of str
    model : Model
        As it is simulated, with stops and contacts.
    law : Law or None
    arguments : sequence of str
        Names that go to a factory of models.

    Raises
    ------
    UnknownNameError
    """

    def __init__(self, names, model, law, arguments=()) -> None:
        self.model, self.law = model, law
        numbers = model.numbers()
        self._columns = {name: k for k, name in enumerate(numbers.names)}
        self._labels = {
            "q0": tuple(model.position_labels), "v0": tuple(model.velocity_labels),
            "tau": tuple(model.velocity_labels), "x0": tuple(model.state_names), "control": tuple(model.input_names),
        }  # fmt: skip
        self.places = [self._found(name, arguments) for name in names]

    def known(self) -> list[str]:
        """All names that this model has."""
        found = [name for name, x in self.model.numbers().as_dict().items() if np.isfinite(x)]
        found += [f"{body}.density" for body in self._bodies()]
        if self._friction():
            found.append(ALL_FRICTION)
        for vector, labels in self._labels.items():
            found += [vector, *(f"{vector}.{label}" for label in labels)] if labels else []
        if self.law is not None:
            joints = self._labels["v0"]
            for gain in (*self.law.gains, "target"):
                labels = self._labels["q0"] if gain == "target" else joints
                found += [f"controller.{gain}", *(f"controller.{gain}.{label}" for label in labels)]
        return found

    def _found(self, name: str, arguments) -> Parameter:
        if name in arguments:
            return Parameter(name, "argument", name)
        if name in self._columns:
            return Parameter(name, "number", (self._columns[name],))
        if name == ALL_FRICTION and self._friction():
            return Parameter(name, "number", self._friction())
        if name.endswith(".density") and name.removesuffix(".density") in self._bodies():
            body = name.removesuffix(".density")
            moments = (f"{body}.{what}" for what in ("mass", *MOMENTS))
            return Parameter(name, "factor", tuple(self._columns[key] for key in moments if key in self._columns))
        vector, _, label = name.partition(".")
        if vector in self._labels and self._labels[vector]:
            labels = self._labels[vector]
            if not label:
                return Parameter(name, vector, slice(None), (len(labels),))
            if label in labels:
                return Parameter(name, vector, labels.index(label))
        if vector == "controller" and self.law is not None:
            gain, _, joint = label.partition(".")
            labels = self._labels["q0" if gain == "target" else "v0"]
            kind = "target" if gain == "target" else "gain"
            if (gain in self.law.gains or kind == "target") and (not joint or joint in labels):
                whole = kind == "target" and not joint
                at = labels.index(joint) if joint else slice(None)
                return Parameter(name, kind, at if kind == "target" else (gain, at), (len(labels),) * whole)
        error = unknown_name("parameter", name, self.known(), f"the sweep over model {self.model.name!r}")
        if vector == "controller" and self.law is None:
            error.message += " simulate= has no controller."
            error.args = (error.message,)
        raise error

    def _bodies(self) -> list[str]:
        return [self.model.body_names[i] for i in self.model.outward()]

    def _friction(self) -> tuple[int, ...]:
        return tuple(self._columns[f"{pair.name}.friction"] for pair in self.model.contacts)

    def fitting(self, values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """The values with the shape that each parameter has; a gain or vector takes one number for all its entries.

        Raises
        ------
        ShapeError
        """
        found = {}
        for place in self.places:
            x = values[place.name]
            wanted = (len(x), *place.shape)
            if x.shape != wanted and place.kind not in ("argument",):
                raise ShapeError(
                    f"sweep: values of {place.name!r} have shape {x.shape[1:]}, expected {place.shape}: "
                    + ("one row for each value." if place.shape else "one number for each value."),
                    name=place.name,
                )
            found[place.name] = x
        return found

    def numbers(self, values: dict[str, np.ndarray], n: int, base: np.ndarray | None = None) -> np.ndarray | None:
        """Numbers of the model for each sample (n, numbers); None where none varies.

        Raises
        ------
        InertiaError
        """
        places = [place for place in self.places if place.kind in ("number", "factor")]
        if not places and base is None:
            return None
        found = np.empty((n, len(self._columns)))
        found[...] = self.model.number_values() if base is None else base
        for kind in ("number", "factor"):  # factors act on values that are set
            for place in places:
                if place.kind == kind:
                    x = values[place.name][:, None]
                    at = list(place.at)
                    found[:, at] = x if kind == "number" else found[:, at] * x
        if places:
            self._check_inertia(found, {c for place in places for c in place.at})
        return found

    def _check_inertia(self, numbers: np.ndarray, varied: set[int]) -> None:
        """Refuse inertias that no body can have: negative mass, principal moments that break the triangle rule."""
        for body in self._bodies():
            names = [f"{body}.{what}" for what in ("mass", *MOMENTS)]
            columns = [self._columns.get(name) for name in names]
            if None in columns or not varied.intersection(columns):  # planar models have other moments
                continue
            m, h, I = numbers[:, columns[0]], numbers[:, columns[1:4]], numbers[:, columns[4:]]
            bad = ~(m >= 0.0)
            with np.errstate(all="ignore"):
                c = np.where(m[:, None] > 0.0, h / m[:, None], 0.0)
            I_c = np.empty((len(m), 3, 3))
            for k, (i, j) in enumerate(((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))):
                I_c[:, i, j] = I_c[:, j, i] = I[:, k] + m * c[:, i] * c[:, j]
            for i in range(3):
                I_c[:, i, i] -= m * (c * c).sum(axis=1)
            moments = np.linalg.eigvalsh(np.nan_to_num(I_c))
            least = np.minimum(moments[:, 0], moments[:, 0] + moments[:, 1] - moments[:, 2])
            trace = I[:, 0] + I[:, 2] + I[:, 5]
            bad |= least < LEAST * np.maximum(np.abs(trace), 1e-300)
            if bad.any():
                k = int(np.argmax(bad))
                raise InertiaError(
                    f"sweep: body {body!r} has mass {m[k]:g} kg and principal moments {moments[k].tolist()} kg m^2, "
                    f"which no body can have. {body + '.mass'!r} alone moves the center of mass; "
                    f"{body + '.density'!r} scales mass and inertia together.",
                    body=body,
                    sample=k,
                )

    def vector(self, kind: str, values: dict[str, np.ndarray], nominal: np.ndarray) -> np.ndarray:
        """A vector of the run with the values of each sample (n, size); the nominal one (size,) where none varies."""
        places = [place for place in self.places if place.kind == kind]
        if not places:
            return nominal
        n = len(next(iter(values.values())))
        found = np.empty((n, len(nominal)))
        found[...] = nominal
        for place in sorted(places, key=lambda place: place.at != slice(None)):  # all of it, then single entries
            found[:, place.at] = values[place.name]
        return found

    def gains(self, values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Gains (n, 1, nv, nv) and targets (n, 1, nq) of the law that vary."""
        found: dict[str, np.ndarray] = {}
        if self.law is None:
            return found
        for place in sorted(self.places, key=lambda place: "." in place.name.partition(".")[2]):
            if place.kind == "target":
                x = values[place.name]
                if "q_d" not in found:
                    q_d = self.law.controller.reference(0.0)[0]
                    found["q_d"] = np.tile(q_d, (len(x), 1, 1))
                found["q_d"][:, 0, place.at] = x
            elif place.kind == "gain":
                name, at = place.at
                x = values[place.name]
                if name not in found:
                    found[name] = np.tile(self.law.gain(name), (len(x), 1, 1, 1))
                k = np.arange(self.model.nv)[at]
                if isinstance(at, slice):  # all joints have this gain
                    found[name][...] = 0.0
                    found[name][:, 0, k, k] = x[:, None]
                else:
                    found[name][:, 0, k, k] = x
        return found
