"""The contract of force elements: the only face of an element that models and algorithms see.

A force element is frozen data that a model holds in ``model.forces``. It names joints and frames by name and states its
law over scalars of any kind, so that the law runs on floats, arrays and expressions and is differentiated exactly.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Parameter:
    """A number that a kind of joint force has for each coordinate of its joint.

    Attributes
    ----------
    name : str
        The field of the element, the array of the model and the argument of ``ModelBuilder.add_body``: "stiffness".
    unit : str
        Over the joint's units, "force" and "position": "force s/position".
    position : bool
        One for each position instead of one for each velocity; it may have either sign, and is neutral by default.
    """

    name: str
    unit: str
    position: bool = False


class ForceElement:
    """A force law on a model.

    Attributes
    ----------
    kind : str
        Name in the registry; by default the name of the class in snake case.
    """

    __slots__ = ()

    kind: str = "force_element"

    def __init_subclass__(cls, **options) -> None:
        super().__init_subclass__(**options)
        if "kind" not in vars(cls):
            cls.kind = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()


class JointForce(ForceElement):
    """A law along the velocity coordinates of one joint, with parameters for each of them.

    Fields are the joint's name and the ``parameters``: tuples with one scalar for each coordinate, or one number for
    all.

    Attributes
    ----------
    parameters : tuple of Parameter
        The first ones, up to the first per position, are zero where the law does not act.
    energy_channel, power_channel : str
        Names in the energy balance of the stored energy and of the dissipated power; empty for none.
    kinked : bool
        Whether slopes of the force jump, so that Newton's method needs further corrections.
    stiff_at_rest : bool
        Whether the law is stiff near rest at any step.
    beyond_limits : bool
        Whether it acts beyond the position limits of the joint alone.

    Notes
    -----
    The methods take ``at``, the joint in a state: ``at.q``, ``at.v``, ``at.lower``, ``at.upper`` (lists of scalars),
    ``at.deflection(reference)``, along the velocities, and ``at.tangent_inverse(deflection)``, its rate as the joint
    moves. They return lists with one entry for each velocity coordinate. The force is ``elastic(at) - dissipative(at)
    v``.
    """

    __slots__ = ()

    parameters: tuple[Parameter, ...] = ()
    energy_channel: str = ""
    power_channel: str = ""
    kinked: bool = False
    stiff_at_rest: bool = False
    beyond_limits: bool = False

    @property
    def is_spring(self) -> bool:
        """Whether it stores energy and its slope does not jump."""
        return bool(self.energy_channel) and not self.kinked

    def energy(self, at):
        """Stored energy [J]."""
        return 0.0

    def elastic(self, at) -> Sequence:
        """Conservative forces [N m or N]."""
        return [0.0] * len(at.v)

    def dissipative(self, at) -> Sequence:
        """Coefficients d of the dissipative forces ``-d v`` [N m s/rad or N s/m]."""
        return [0.0] * len(at.v)

    def dissipative_slope(self, at) -> Sequence:
        """``-d force / dv`` [N m s/rad or N s/m]; by default d, which does not depend on v."""
        return self.dissipative(at)

    def dissipative_at_rest(self, at) -> Sequence:
        """d where the velocities are zero [N m s/rad or N s/m]; by default as at any other velocity."""
        return self.dissipative(at)

    def stiffness_diagonal(self, at) -> Sequence:
        """``k`` with ``d elastic / dt = -k v`` to leading order [N m/rad or N/m]."""
        return [0.0] * len(at.v)

    def stiffness_rows(self, at) -> Sequence[Sequence]:
        """``-d elastic / dq`` along the manifold, rows of forces; by default the diagonal."""
        k = self.stiffness_diagonal(at)
        return [[x if m == n else 0.0 for n in range(len(k))] for m, x in enumerate(k)]

    def largest_slopes(self, at) -> tuple[Sequence, Sequence]:
        """Stiffness and damping where they are largest; by default those at this position."""
        return self.stiffness_diagonal(at), self.dissipative(at)

    def depth(self, at) -> Sequence:
        """How far each coordinate is beyond the point where the force begins, signed; zeros for one without such."""
        return [0.0] * len(at.v)


def present(x) -> bool:
    """Whether a parameter is other than a structural zero."""
    return not (isinstance(x, float) and x == 0.0)


def of_coordinates(values, n: int) -> Iterator[tuple[int, object]]:
    """Number and parameter of each coordinate of a joint at which the parameter is present."""
    return ((m, values[m]) for m in range(n) if present(values[m]))
