"""Names and units of the entries of q and v, for labels, files and error messages."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_FORCE_UNITS = {"rad/s": "N m", "m/s": "N"}


@dataclass(frozen=True, slots=True)
class Coordinates:
    """Labels and units of the joint coordinates.

    Attributes
    ----------
    position_labels, position_units : tuple of str
        One per entry of q: "knee" for a joint with one coordinate, "base.x" for one with more; "rad", "m", "1".
    velocity_labels, velocity_units : tuple of str
        One per entry of v: "knee", "base.wx"; "rad/s", "m/s".
    position_joints, velocity_joints : tuple of str
        The joint that each entry of q and v belongs to.
    state_labels : tuple of str
        Internal states of force elements: "biceps.activation".
    """

    position_labels: tuple[str, ...]
    position_units: tuple[str, ...]
    velocity_labels: tuple[str, ...]
    velocity_units: tuple[str, ...]
    position_joints: tuple[str, ...]
    velocity_joints: tuple[str, ...]
    state_labels: tuple[str, ...] = ()

    @classmethod
    def of(cls, model) -> Coordinates:
        """The coordinates of a model."""
        joints = [(model.joints[i], model.joint_name(i)) for i in model.outward()]
        return cls(
            position_labels=tuple(model.position_labels),
            position_units=tuple(model.position_units),
            velocity_labels=tuple(model.velocity_labels),
            velocity_units=tuple(model.velocity_units),
            position_joints=tuple(name for joint, name in joints for _ in range(joint.nq)),
            velocity_joints=tuple(name for joint, name in joints for _ in range(joint.nv)),
            state_labels=model.state_names,
        )

    @property
    def acceleration_units(self) -> tuple[str, ...]:
        """Units of the entries of a: "rad/s^2", "m/s^2"."""
        return tuple(f"{unit}^2" for unit in self.velocity_units)

    @property
    def force_units(self) -> tuple[str, ...]:
        """Units of the entries of tau: "N m", "N"; joules per unit of motion for coordinates of another kind."""
        return tuple(_FORCE_UNITS.get(unit, "J") for unit in self.velocity_units)

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints that move, in the order of the model."""
        return tuple(dict.fromkeys(self.position_joints + self.velocity_joints))

    def first_bad(self, q: np.ndarray, v: np.ndarray) -> str | None:
        """Name the first entry of (q, v) that is NaN or infinite; internal states follow v. None if all are finite."""
        bad = np.flatnonzero(~np.isfinite(np.concatenate((q, v))))
        return self.named(int(bad[0])) if len(bad) else None

    def named(self, entry: int) -> str:
        """An entry of q, v and the internal states, counted through, as "velocity 'knee'"."""
        groups = (
            ("position", self.position_labels),
            ("velocity", self.velocity_labels),
            ("internal state", self.state_labels),
        )
        return [f"{what} {label!r}" for what, labels in groups for label in labels][entry]
