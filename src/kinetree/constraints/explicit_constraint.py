"""Explicit constraints: positions of some joints as a function gamma(y) of those of others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kinetree.arguments import names, refuse
from kinetree.constraints.contract import Constraint
from kinetree.constraints.coupling import check_single
from kinetree.constraints.leaves import RATES, Leaves
from kinetree.constraints.polynomial_coupling import numbers_of
from kinetree.constraints.position_constraint import PositionConstraint, as_list
from kinetree.errors import ConstraintError, ModelError
from kinetree.joints.dual import rate_of, value_of
from kinetree.spatial.scalar import arctan2, cos, sin


@dataclass(frozen=True, slots=True, eq=False)
class ExplicitConstraint(PositionConstraint):
    """Joints follow others by a function: ``q_dependent = gamma(y)``, such as the closed form of a linkage, or a cam.

    Parameters
    ----------
    gamma : callable
        ``gamma(*y, *parameters)`` returns the positions of the dependent joints [rad or m]: a scalar, or a sequence of
        them. y are the positions of the independent joints, a tuple for those of several coordinates. It takes scalars
        of any kind: functions are those of `kinetree.spatial.scalar`.
    dependent : str or sequence of str
        Joints of one freedom.
    independent : str or sequence of str
        Any other joints.
    parameters : sequence of float
        Further arguments, which are run-time inputs of compiled functions: a batch may vary them.
    name : str

    Notes
    -----
    Source: Featherstone (2008), sections 3.2 and 8.11: ``q = gamma(y)``, ``v = G y'``, ``a = G y'' + g``. G and g are
    the first and second derivatives of gamma. The rows are ``q_dependent - gamma(y)``, with entry 1 at the dependent
    joint, whose multiplier is the force on it; so all quantities and methods exist. The methods "null_space",
    "partitioning" and "pseudovelocities" of `forward_dynamics` take G and g from gamma. Explicit steps are those of y:
    positions and velocities of the dependent joints are gamma and its rate at all stages and at the end.

    gamma chooses the assembly branch. It has to be smooth where the mechanism moves: an angle that makes full turns has
    to go on beyond pi, where ``arctan2`` jumps.

    Examples
    --------
    A slider-crank by its closed form, without a loop joint:

    >>> import kinetree as kt, numpy as np
    >>> from kinetree.spatial.scalar import arctan2, cos, sin, sqrt
    >>> def gamma(crank, r, l):
    ...     s = r * sin(crank) / l
    ...     c = sqrt(1.0 - s * s)
    ...     return -crank - arctan2(s, c), r * cos(crank) + l * c
    >>> implicit = kt.models.slider_crank()
    >>> closure = kt.constraints.ExplicitConstraint(gamma, ("rod", "slider"), "crank", (0.5, 2.0))
    >>> linkage = implicit.replace(constraints=()).with_constraints(closure)
    >>> q, v = kt.assemble(linkage, [1.0, 0.0, 0.0], "crank", v=[2.0, 0.0, 0.0])
    >>> a = kt.forward_dynamics(linkage, q, v, [1.0, 0.0, 0.0], method="null_space")
    >>> bool(abs(a - kt.forward_dynamics(implicit, q, v, [1.0, 0.0, 0.0])).max() < 1e-11)
    True
    """

    gamma: Callable
    dependent: tuple[str, ...]
    independent: tuple[str, ...]
    parameters: tuple[float, ...] = ()
    name: str = ""

    joint_fields = ("dependent", "independent")
    number_fields = ("parameters",)
    verb = "coupled"
    _stated = "gamma"

    def __post_init__(self) -> None:
        if not callable(self.gamma):
            refuse("explicit constraint: gamma", self.gamma, "a function of the positions of the independent joints")
        for what in ("dependent", "independent"):
            found = names(f"explicit constraint: {what}", getattr(self, what))
            if not found:
                refuse(f"explicit constraint: {what}", getattr(self, what), "one or more names of joints")
            object.__setattr__(self, what, found)
        if twice := [x for x in self.dependent if (*self.dependent, *self.independent).count(x) > 1]:
            refuse(f"{self}: dependent", self.dependent, f"each joint once, but {twice[0]!r} is there again")
        object.__setattr__(self, "parameters", numbers_of(f"{self}: parameters", self.parameters, least=0))

    @property
    def followers(self) -> tuple[str, ...]:
        """The dependent joints."""
        return self.dependent

    def count(self, model) -> int:
        """One for each dependent joint."""
        return len(self.dependent)

    def check(self, model) -> None:
        """Dependent joints have one freedom, and gamma can be differentiated and fits."""
        check_single(self, model, self.dependent)
        PositionConstraint.check(self, model)

    def phi(self, kin) -> list:
        """``q_dependent - gamma(y)``."""
        pairs = zip(self.dependent, self._values(kin), strict=True)
        return [kin.coordinate(joint) - x for joint, x in pairs]

    def followed(self, kin) -> list[tuple]:
        """gamma and its rate."""
        return [(value_of(value_of(x)), rate_of(value_of(x))) for x in self._values(Leaves(self, kin, RATES))]

    def _values(self, kin) -> list:
        y = []
        for joint in self.independent:
            nq = kin.model.joints[kin.model.joint(joint)].nq
            y.append(kin.coordinate(joint) if nq == 1 else tuple(kin.coordinate(joint, n) for n in range(nq)))
        found = as_list(self.gamma(*y, *self.parameters))
        if len(found) != len(self.dependent):
            raise ModelError(
                f"{self}: gamma has {len(found)} entries, expected {len(self.dependent)}, one for each dependent joint"
            )
        return found

    @property
    def code(self) -> tuple:
        """The class and gamma."""
        return type(self), self.gamma

    @classmethod
    def examples(cls, model, rng):
        """Two joints by one; a chain, whose second function has a parameter."""
        single = [model.joint_name(i) for i in model.outward() if model.joints[i].nq == model.joints[i].nv == 1]
        if len(single) > 2:
            yield (cls(_example_pair, single[1:3], single[0]),)
        if len(single) > 1:
            several = [model.joint_name(i) for i in model.outward() if model.joints[i].nq == 4]
            last = cls(_example_of_quaternion, single[0], several[0]) if several else None
            yield (cls(_example_cam, single[1], single[0], (0.3,)), *([last] if last else []))


def in_order(constraints: Sequence[Constraint]) -> tuple[tuple[int, Constraint], ...]:
    """The explicit ones with their places, each after those that give its independent joints.

    Raises
    ------
    ConstraintError
        Joints that follow each other in a circle, or one joint that follows twice.
    """
    left, found = [(n, c) for n, c in enumerate(constraints) if c.followers], []
    masters = {c.joint: c.master for c in constraints if c.kind == "coupling"}
    twice = [joint for _, c in left for joint in c.followers]
    for joint in twice:
        if joint in masters or twice.count(joint) > 1:
            raise ConstraintError(f"joint {joint!r} follows others by two constraints, expected one", joint=joint)
    while left:
        later = {joint for _, c in left for joint in c.followers}
        ready = [x for x in left if later.isdisjoint(masters.get(j, j) for j in x[1].joints if j not in x[1].dependent)]
        if not ready:
            shown = ", ".join(map(repr, sorted(later)))
            raise ConstraintError(f"joints follow each other in a circle by explicit constraints: {shown}")
        found += ready
        left = [x for x in left if x not in ready]
    return tuple(found)


def _example_pair(y):
    return 0.5 * sin(y) - 0.25 * y * y, arctan2(sin(y), 3.0 + cos(y))


def _example_cam(y, lift):
    return lift * (1.0 - cos(2.0 * y))


def _example_of_quaternion(quaternion):
    w, x, y, z = quaternion
    return 2.0 * x * w + y * z
