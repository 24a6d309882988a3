"""Constraints stated by their position error alone: rows and biases follow by differentiation.

The law ``phi(q, t)`` is written over leaves (`kinetree.constraints.leaves`): points and rotations of frames,
coordinates of joints, the time.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.constraints.contract import Constraint
from kinetree.constraints.leaves import PARTIALS, RATES, VALUES, Leaves
from kinetree.errors import ModelError
from kinetree.joints.dual import rate_of, value_of
from kinetree.spatial import Vector3
from kinetree.state_kinematics import Kinematics


class PositionConstraint(Constraint):
    """A constraint stated by its position error ``phi(q, t)``: rows and bias follow by differentiation.

    A subclass is a frozen dataclass with a method ``phi``. Its joints and frames are named by fields that are listed
    in ``joint_fields`` and ``frame_fields``; if phi uses the time, ``time_dependent = True``; if it has more rows than
    one, ``count(model)`` gives their number.

    Notes
    -----
    ``phi(kin)`` returns a scalar, or a sequence with one scalar for each row. ``kin`` gives ``point(frame, at,
    relative_to)``, ``rotation(frame, relative_to)``, ``coordinate(joint, n)``, ``center_of_mass(bodies)`` and the time
    ``t``; functions of scalars are those of `kinetree.spatial.scalar`. Positions relative to another frame than the
    world lead to rows without the joints that move both, which are cheaper and more accurate.

    Rows are ``dphi/dq`` along the velocity coordinates; the bias is the second rate of phi without accelerations, as
    a Taylor coefficient. Entries that are zero by structure do not occur in compiled code.

    Examples
    --------
    A point of a body slides on a parabola:

    >>> import kinetree as kt
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Parabola(kt.constraints.PositionConstraint):
    ...     frame: str
    ...     curvature: float
    ...     frame_fields, number_fields = ("frame",), ("curvature",)
    ...     def phi(self, kin):
    ...         p = kin.point(self.frame)
    ...         return p.z - 0.5 * self.curvature * p.x * p.x
    >>> b = kt.ModelBuilder("bead")
    >>> _ = b.add_body("bead", joint=kt.joints.Translational(), mass=1.0, inertia=[[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    >>> bead = b.build().with_constraints(Parabola("bead", 2.0))
    >>> a = kt.forward_dynamics(bead, [0, 0, 0], [3.0, 0, 0], [0, 0, 0])  # at the vertex it turns with v^2 / r
    >>> [float(x) for x in a]
    [0.0, 0.0, 18.0]
    """

    __slots__ = ()
    _stated = "phi"

    joint_fields: tuple[str, ...] = ()

    def phi(self, kin):
        """The position error over leaves of the kinematics: a scalar, or one for each row."""
        raise NotImplementedError

    def count(self, model) -> int:
        """One."""
        return 1

    def check(self, model) -> None:
        """phi can be differentiated, has as many entries as there are rows, and moves."""
        rng = np.random.default_rng(0)
        q = [x for i in model.outward() for x in model.joints[i].random(rng)]
        kin = Kinematics(model, q)
        kin.t = 0.375  # any time
        try:
            rows = [] if model.time_dependent else self.rows(kin)
        except (TypeError, AttributeError) as failure:
            raise ModelError(
                f"{self}: {self._stated} cannot be differentiated ({failure}). It takes points, rotations and "
                "coordinates from kin, and functions such as sin and sqrt from kinetree.spatial.scalar instead of math "
                "or numpy"
            ) from failure
        if rows and not any(rows):
            raise ModelError(
                f"{self}: {self._stated} does not depend on any coordinate of model {model.name!r}; does the "
                "constraint connect a body with itself, or with one that is fixed to it?"
            )

    def residual(self, kin) -> list:
        """phi."""
        return self._phi(kin, VALUES)[1]

    def rows(self, kin) -> list[dict]:
        """The derivatives of phi along the velocity coordinates."""
        leaves, found = self._phi(kin, PARTIALS)
        return [leaves.row(rate_of(x)) for x in found]

    def bias(self, kin) -> list:
        """The second rate of phi without accelerations."""
        return [rate_of(rate_of(x)) for x in self._phi(kin, RATES)[1]]

    def rate(self, kin) -> list:
        """The rate of phi."""
        return [rate_of(value_of(x)) for x in self._phi(kin, RATES)[1]]

    def _phi(self, kin, order: int):
        leaves = Leaves(self, kin, order)
        found = as_list(self.phi(leaves))
        self._check_count(kin.model, found)
        return leaves, found

    def _check_count(self, model, found: list) -> None:
        if len(found) != self.count(model):
            raise ModelError(
                f"{self}: {self._stated} has {len(found)} entries, expected {self.count(model)}, as count(model) of "
                f"class {type(self).__name__} states"
            )


def as_list(found) -> list:
    """One scalar or several."""
    return list(found) if isinstance(found, (Sequence, Vector3)) else [found]
