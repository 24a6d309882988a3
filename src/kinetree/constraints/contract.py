"""The contract of constraints: all that the model and the algorithms use of a constraint.

A constraint is frozen data: it names joints and frames, and gives rows ``G v = ...`` over the velocities of a model,
of any joints. Its formulas are written over scalars of any kind, on *leaves* of the kinematics of a state,
given by name, so they run on floats, arrays, extended precision and traced expressions alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import fields, replace

import numpy as np

from kinetree.constraints.row_law import RowLaw
from kinetree.errors import ConstraintError, ModelError

EQUALITY, BOX, CONE = "equality", "box", "cone"
ROW_KINDS = (EQUALITY, BOX, CONE)


class Constraint:
    """Rows that constrain the velocities of a model: ``G v + g = 0``, or bounds of their impulses.

    A subclass is a frozen dataclass with the fields below that it needs; each field is a number, a string, a tuple, a
    transform, a joint or a function of time.

    Attributes
    ----------
    kind : str
        Name in the registry; by default the class name in snake case.
    name : str
        Of this constraint; "" takes the kind and the joints.
    row_kind : {"equality", "box", "cone"}
        Whether multipliers are free, between bounds, or in a friction cone.
    time_dependent : bool
        Whether the rows depend on time, ``kin.t``.
    joint_fields, frame_fields : tuple of str
        The fields that hold names of joints and of frames, or tuples of such.
    number_fields : tuple of str
        The fields that are run-time inputs of kernels; the others are baked into compiled code.
    followers : tuple of str
        Joints of one freedom whose positions it gives as functions of those of others: the first rows, one for each,
        have entry 1 at these joints. Explicit steps set them by ``followed``.
    replaces : str
        Of box rows, the parameter of joint forces whose law they take over.
    replaces_in_loops : str
        The same of forces in loop joints.
    verb : str
        The participle for joints whose velocities it determines: "locked".

    Examples
    --------
    Two joints move against each other; as rows by hand:

    >>> import kinetree as kt
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Opposite(kt.constraints.Constraint):
    ...     of: tuple[str, str]
    ...     joint_fields = ("of",)
    ...     def count(self, model):
    ...         return 1
    ...     def residual(self, kin):
    ...         return [kin.coordinate(self.of[0]) + kin.coordinate(self.of[1])]
    ...     def rows(self, kin):
    ...         return [{kin.dof(joint): 1.0 for joint in self.of}]
    ...     def bias(self, kin):
    ...         return [0.0]
    >>> pair = kt.models.double_pendulum().with_constraints(Opposite(("shoulder", "elbow")))
    >>> a = kt.forward_dynamics(pair, [0.3, -0.3], [1.0, -1.0], [0.0, 0.0])
    >>> bool(abs(a.sum()) < 1e-12)
    True

    Notes
    -----
    Signs: the constraint exerts the joint forces ``G^T lambda``, so a multiplier has the sign of the force along its
    row, and does the work ``lambda (G v)``.
    """

    __slots__ = ()

    kind: str = "constraint"
    row_kind: str = EQUALITY
    time_dependent: bool = False
    joint_fields: tuple[str, ...] = ("joint",)
    frame_fields: tuple[str, ...] = ()
    number_fields: tuple[str, ...] = ()
    followers: tuple[str, ...] = ()
    replaces: str = ""
    replaces_in_loops: str = ""
    verb: str = "constrained"

    def __init_subclass__(cls, **options) -> None:
        super().__init_subclass__(**options)
        if "kind" not in vars(cls):
            cls.kind = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", cls.__name__).lower()
        if cls.row_kind not in ROW_KINDS:
            raise ModelError(
                f"constraint class {cls.__name__}: row_kind is {cls.row_kind!r}, expected one of {ROW_KINDS}"
            )

    # Rows ----------------------------------------------------------------------------------------------------------

    def count(self, model) -> int:
        """Number of rows in a model."""
        raise NotImplementedError

    def residual(self, kin) -> Sequence | None:
        """phi(q, t), zero where the constraint holds, and of rows that hold velocities alone; None if all do."""
        return None

    def position_level(self, model) -> tuple[bool, ...]:
        """For each row whether it is the rate of its residual; the others hold velocities alone."""
        return (type(self).residual is not Constraint.residual,) * self.count(model)

    def rows(self, kin) -> list[dict]:
        """G: for each row the entries that are not zero, by velocity coordinate."""
        raise NotImplementedError

    def rate(self, kin) -> list:
        """``G v + g``: the velocity of each row, zero where the constraint holds."""
        given = {k: rate for k, (rate, _) in self.given_rates(kin).items()}
        v = [x - given[k] if k in given else x for k, x in enumerate(kin.v)] if given else kin.v
        return [sum((x * v[k] for k, x in row.items()), start=0.0) for row in self.rows(kin)]

    def bias(self, kin) -> Sequence:
        """The part of the rate of ``G v + g`` without accelerations: ``dG/dt v + dg/dt``."""
        raise NotImplementedError

    def velocity_map(self, kin) -> dict[int, list[tuple[int, float]]]:
        """``v = G y + g``: for each dependent velocity its pairs (coordinate, ratio); {} if nothing is eliminated.

        A constraint with a map has one row for each dependent velocity, in the same order, with entry 1 there.
        """
        return {}

    def natural_sizes(self, model, sizes):
        """For each row the size of entries that are not rounding, given the largest of each row over many positions."""
        return max(sizes, default=0.0)

    def laws(self, kin, dt=None, predicted=None) -> Sequence[RowLaw]:
        """For box rows: the force of each row as a function of its rate.

        Parameters
        ----------
        kin : Kinematics
        dt : scalar, optional
            Length of a step [s]: rates are velocities at its end and forces are impulses; without it rates are
            accelerations.
        predicted : sequence, optional
            Of a step, the velocities at its end without these impulses.
        """
        raise NotImplementedError

    def landed(self, model, q, q_next) -> dict[int, object]:
        """Of box rows, positions after a step that are set exactly to a limit, by entry of q."""
        return {}

    def followed(self, kin) -> Sequence[tuple]:
        """Positions and velocities of the ``followers`` from those of the others."""
        return ()

    def given_rates(self, kin) -> dict[int, tuple]:
        """``(g, dg/dt)`` of dependent velocities that move by themselves; {} if none do."""
        return {}

    def violation(self, at: str, n: int, residual: float) -> ConstraintError:
        """The error for a state that breaks row n by a residual.

        Parameters
        ----------
        at : {"q", "v"}
            Whether positions or velocities break it.
        n : int
        residual : float
            [m or rad, and per second].
        """
        unit, repair = {
            "q": (self.unit(n), "kt.assemble(model, q) finds positions that obey all constraints"),
            "v": (self.rate_unit(n, "/s"), "kt.closed_loops.project_velocity(model, q, v) gives velocities that do"),
        }[at]
        return ConstraintError(
            f"{at} breaks the {self} by {abs(residual):.3g} {unit} (row {n}), expected 0 within 1e-6; {repair}",
            row=n,
            residual=residual,
        )

    def unit(self, n: int) -> str:
        """The unit of the residual of row n, for messages."""
        return "m or rad"

    def rate_unit(self, n: int, per: str) -> str:
        """The unit of the velocity of row n, for messages; of its acceleration per "/s^2"."""
        return " or ".join(unit + per for unit in self.unit(n).split(" or "))

    # Names and numbers -----------------------------------------------------------------------------------------------

    def simplified(self) -> Constraint:
        """An equivalent constraint of another kind, which a model holds in place of this one; itself by default."""
        return self

    def check(self, model) -> None:
        """Raise an error for a model in which this constraint is invalid; its names exist."""

    @property
    def label(self) -> str:
        """The name, or kind and joints or frames."""
        named = ",".join(self.joints or self.frames)
        return getattr(self, "name", "") or ":".join(filter(None, (self.kind, named)))

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints that it refers to."""
        return tuple(self._named(self.joint_fields))

    @property
    def frames(self) -> tuple[str, ...]:
        """Names of the frames that it refers to."""
        return tuple(self._named(self.frame_fields))

    def renamed(self, joint: Callable[[str], str], frame: Callable[[str], str]) -> Constraint:
        """The same under other names of joints and frames."""
        changes = {what: _mapped(joint, getattr(self, what)) for what in self.joint_fields}
        changes |= {what: _mapped(frame, getattr(self, what)) for what in self.frame_fields}
        return replace(self, **changes)

    def where_locked(self, positions: Mapping[str, Sequence[float]]) -> Constraint | None:
        """What is left of it where joints stand still; None if nothing is.

        Parameters
        ----------
        positions : mapping
            Positions of the locked joints by name.

        Raises
        ------
        ConstraintError
            Joints that are not locked could then not move either.
        """
        going = [joint for joint in self.joints if joint in positions]
        if going and len(going) < len(self.joints):
            moving = next(joint for joint in self.joints if joint not in positions)
            raise ConstraintError(
                f"joint {going[0]!r} is in the {self}, so joint {moving!r} cannot be left to move; lock it, too, or "
                "leave the constraint out",
                joint=going[0],
            )
        return None if going else self

    def numbers(self) -> dict[str, object]:
        """Run-time inputs of kernels, by name; entries of tuples as "field.0", "field.1"."""
        found = {}
        for what in self.number_fields:
            value = getattr(self, what)
            found |= {f"{what}.{n}": x for n, x in enumerate(value)} if isinstance(value, tuple) else {what: value}
        return found

    def with_numbers(self, values: Sequence) -> Constraint:
        """The same with other numbers, of any scalar type, in the order of ``numbers``."""
        made, source = copy(self), iter(values)  # whose numbers may be of any type, so they are not checked again
        for what in self.number_fields:
            old = getattr(self, what)
            new = tuple(next(source) for _ in old) if isinstance(old, tuple) else next(source)
            object.__setattr__(made, what, new)
        return made

    @property
    def code(self) -> tuple:
        """The code that its formulas run: the class, then joints and functions among its fields."""
        return (type(self),)

    def structure(self, model) -> tuple:
        """All but names and numbers, hashable: models of equal structure share compiled functions."""
        number = {name: i for i, name in enumerate(model.joint_names, start=1)}
        names = {what: _mapped(number.get, getattr(self, what)) for what in self.joint_fields}
        number = {frame.name: k for k, frame in enumerate(model.frames)}
        names |= {what: _mapped(number.get, getattr(self, what)) for what in self.frame_fields}
        kept = [f.name for f in fields(self) if f.name not in ("name", *self.number_fields)]
        return self.kind, *((what, names.get(what, repr(getattr(self, what)))) for what in kept)

    def _named(self, names: Sequence[str]) -> Iterator[str]:
        for what in names:
            value = getattr(self, what)
            yield from (value,) if isinstance(value, str) else value or ()

    def __str__(self) -> str:
        return f"{self.kind.replace('_', ' ')} of {', '.join(map(repr, (*self.joints, *self.frames))) or 'all joints'}"

    @classmethod
    def examples(cls, model, rng) -> Iterator:
        """Tuples of constraints of this kind for the test battery that fit a model; none by default."""
        return iter(())


def dense(rows: Sequence[Mapping[int, object]], nv: int, dtype=float) -> np.ndarray:
    """Rows of entries by velocity coordinate as an array, (rows, nv)."""
    G = np.zeros((len(rows), nv), dtype)
    for row, entries in zip(G, rows, strict=True):
        for k, x in entries.items():
            row[k] = x
    return G


def _mapped(function: Callable, value):
    if value is None:
        return None
    return function(value) if isinstance(value, str) else tuple(map(function, value))
