"""Mobility of mechanisms with loops: freedoms, rank and redundancy of the rows, singularity, and actuation."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from kinetree.algorithms.joint_sets import velocity_coordinates
from kinetree.analysis.loop_rows import SINGULAR, LoopRows, equalities, require_closed
from kinetree.analysis.overconstraint import Replacement, replacements
from kinetree.arguments import a_model, array, checked
from kinetree.errors import ModelError, NonFiniteError
from kinetree.forces import Motor
from kinetree.model import Model

DECIMALS = 1e-3  # of the largest part of a combination: texts leave smaller ones out
NEAR = 1e-3  # of the typical size: closer to a singular position is worth a note


@dataclass(frozen=True, slots=True, eq=False)
class Mobility:
    """Freedoms and constraints of a mechanism at a position.

    ``str(report)`` is a table.

    Attributes
    ----------
    model : str
        Its name.
    q : (nq,) array
        The position [rad or m].
    freedoms : int
        n: velocities of the tree.
    rows : int
        n^c: rows of equality constraints.
    rank, generic_rank : int
        r: of the rows at q, and at positions about it.
    planar : bool
        Whether all bodies move in one plane.
    row_names : tuple of str
        Of all rows of ``model.constraints``.
    redundant : tuple of str
        Rows that others imply at generic positions: their multipliers are zero.
    inexact : tuple of str
        Those of them that errors of placements, or the decimals of a file, set off from the others.
    misfit : float
        The largest part by which these are off, relative to the size of the row.
    motions : (nv, mobility) array
        Orthonormal velocities that the rows allow at q.
    force_null_space : (nc, redundancy) array
        Multipliers that exert no joint forces at q: the constraint forces are unique but for these.
    regularity : float
        The least singular value that is not zero at generic positions, over its median about q: 0 at a singular
        position, about 1 at a typical one.
    lost : tuple of str
        At a singular position, rows that others imply here alone, in combinations as of `undetermined_forces`.
    actuated : tuple of str
        Velocities with motors.
    actuation : str
        "properly actuated", "underactuated", "redundantly actuated", or the last two; "" without motors.
    internal_forces : int
        Of the motors: torques that cause no motion.
    uncontrolled : int
        Motions without influence of a motor.
    replacements : tuple of Replacement
        Loop joints with fewer rows with which the mechanism moves alike.
    """

    model: str
    q: np.ndarray
    freedoms: int
    rows: int
    rank: int
    generic_rank: int
    planar: bool
    row_names: tuple[str, ...]
    redundant: tuple[str, ...]
    inexact: tuple[str, ...]
    misfit: float
    motions: np.ndarray = field(repr=False)
    force_null_space: np.ndarray = field(repr=False)
    regularity: float
    lost: tuple[str, ...]
    actuated: tuple[str, ...]
    actuation: str
    internal_forces: int
    uncontrolled: int
    replacements: tuple[Replacement, ...]

    @property
    def mobility(self) -> int:
        """n - r, the degrees of freedom at q."""
        return self.freedoms - self.rank

    @property
    def generic_mobility(self) -> int:
        """The degrees of freedom at positions about q."""
        return self.freedoms - self.generic_rank

    @property
    def gruebler(self) -> int:
        """n - n^c, the degrees of freedom if all rows were independent (Gruebler and Kutzbach); it may be negative."""
        return self.freedoms - self.rows

    @property
    def redundancy(self) -> int:
        """n^c - r, the number of constraint forces that the motion does not determine."""
        return self.rows - self.rank

    @property
    def singular(self) -> bool:
        """Whether the rank at q is lower than about it."""
        return self.rank < self.generic_rank

    def undetermined_forces(self) -> tuple[str, ...]:
        """The null space of constraint forces by name: combinations of rows without effect on the motion."""
        return tuple(_combination(column, self.row_names) for column in self.force_null_space.T)

    def table(self) -> Iterator[tuple[str, str]]:
        """Label and text of each line of the table."""
        yield "mobility of", self.model
        yield "freedoms n", f"{self.freedoms} of the tree"
        yield "rows n^c", f"{self.rows} of constraints; counting gives n - n^c = {self.gruebler}"
        generic = "" if not self.singular else f" here, {self.generic_rank} at positions about it"
        yield "rank r", f"{self.rank}{generic}"
        generic = "" if not self.singular else f" here, {self.generic_mobility} at positions about it"
        yield "mobility", f"{self.mobility}{generic}{', in a plane' if self.planar else ''}"
        if self.rows:
            yield "position", self._position()
        yield "redundancy", f"{self.redundancy} constraint force{'s' * (self.redundancy != 1)} undetermined"
        for text in _by_constraint(self.redundant):
            yield "left out", text
        for text in _by_constraint(self.inexact):
            yield "inexact", f"{text}, held but for {self.misfit:.2g} of their size"
        for text in _by_constraint(self.undetermined_forces()):
            yield "without effect", text
        for each in self.replacements:
            yield "replace", str(each)
        if self.actuation:
            yield (
                "actuation",
                (
                    f"{self.actuation} by {', '.join(self.actuated)}: {self.internal_forces} internal forces, "
                    f"{self.uncontrolled} motions without a motor"
                ),
            )

    def _position(self) -> str:
        if self.singular:
            more = self.mobility - self.generic_mobility
            rows = "; ".join(_by_constraint(self.lost))
            return f"singular, with {more} more motion{'s' * (more != 1)}: no hold by {rows}"
        word = "near a singular one" if self.regularity < NEAR else "regular"
        return f"{word}: the least singular value is {self.regularity:.3g} of its typical size"

    def as_data(self) -> dict:
        """The report as dicts, lists, strings and numbers."""
        plain = (
            "model", "freedoms", "rows", "rank", "generic_rank", "mobility", "generic_mobility", "gruebler",
            "redundancy", "misfit", "planar", "singular", "regularity", "actuation", "internal_forces", "uncontrolled",
        )  # fmt: skip
        texts = ("row_names", "redundant", "inexact", "lost", "actuated")
        found = {name: getattr(self, name) for name in plain} | {name: list(getattr(self, name)) for name in texts}
        found |= {name: getattr(self, name).tolist() for name in ("q", "motions", "force_null_space")}
        return found | {"replacements": [str(each) for each in self.replacements]}

    def to_json(self, indent: int | None = None) -> str:
        """The report as JSON.

        Parameters
        ----------
        indent : int, optional
            As for ``json.dumps``.
        """
        return json.dumps(self.as_data(), indent=indent, allow_nan=False)

    def __str__(self) -> str:
        lines = list(self.table())
        width = max(len(label) for label, _ in lines)
        return "\n".join(f"{label:{width}}  {text}" for label, text in lines)


@checked(model=a_model)
def mobility(model: Model, q=None, *, actuated: Sequence[str] | None = None) -> Mobility:
    """Mobility, redundant constraints, singularity and actuation of a mechanism at a position.

    Parameters
    ----------
    model : Model
    q : (nq,) array, optional
        A closed position [rad or m; quaternions unit, (w, x, y, z)]. Default: the keyframe "initial", or a closed
        position near the neutral one.
    actuated : sequence of str, optional
        Joints with motors, or labels of velocities. Default: the joints of the model's motors (`kinetree.forces.Motor`)
        and actuators.

    Returns
    -------
    Mobility

    Raises
    ------
    ConstraintError
        q breaks a constraint.
    AssemblyError
        No closed position was found.
    ModelError
        Nothing can move.
    ShapeError, NonFiniteError, UnknownNameError, DuplicateNameError, ArgumentError

    Notes
    -----
    Source: Featherstone (2008), section 8.10 (eqs. 8.52-8.55) and eq. 8.63 for actuation. Ranks are those of rows
    divided by their typical size, in the metric of the mass matrix. Rows of less than 1e-6 of the others of their
    joint do not count, nor do rows that others imply to three digits: they are the decimals of a file. Typical values
    are medians over closed positions about q. A replacement of a loop joint exerts no force which the joint does not
    exert, and leaves the rank at all these positions as it is. Constraints that depend on time are those at t = 0.

    Examples
    --------
    >>> import kinetree as kt
    >>> print(kt.closed_loops.mobility(kt.models.four_bar(), actuated=["crank"]))
    mobility of     four_bar
    freedoms n      3 of the tree
    rows n^c        5 of constraints; counting gives n - n^c = -2
    rank r          2
    mobility        1, in a plane
    position        regular: the least singular value is 0.973 of its typical size
    redundancy      3 constraint forces undetermined
    left out        closure: moment x, moment y, force z
    without effect  closure: moment x, moment y, force z
    replace         closure: SphereInCylinder(), 2 rows instead of 5
    actuation       properly actuated by crank: 0 internal forces, 0 motions without a motor
    """
    if model.nv == 0:
        raise ModelError(f"mobility: nothing can move in model {model.name!r}")
    if q is not None:
        q = array("mobility: q", q, "finite positions", shape=(model.nq,))
        _check_finite(q)
    chosen = _motors(model) if actuated is None else velocity_coordinates(model, "actuated", actuated)
    q = require_closed(model, q)
    loops = LoopRows(model, q)
    at = loops.model
    names, numbers = at.row_names, [n for _, of in equalities(at) for n in of]
    rank, generic = int(loops.ranks[0]), loops.generic_rank
    U, s, V = _svd(loops.scaled[0])
    motions = np.linalg.qr(loops.roots[0] @ V[rank:].T)[0]
    typical = np.median(loops.singular_values[1:], axis=0) if len(loops.places) > 1 else s
    kept, inexact = set(at.independent_rows()), [row for row in at.redundant_rows() if row.inexact]
    forces = np.zeros((at.nc, len(numbers) - rank))
    size = loops.typical_size[:, None]
    forces[numbers] = U[:, rank:] / np.where(np.isfinite(size), size, 1.0)
    influence = motions[list(chosen)]
    controlled = int((np.linalg.svd(influence, compute_uv=False) > SINGULAR).sum()) if len(chosen) else 0
    internal, lacking = len(chosen) - controlled, motions.shape[1] - controlled
    return Mobility(
        model=model.name, q=q, freedoms=at.nv, rows=len(numbers), rank=rank, generic_rank=generic,
        planar=_is_planar(model), row_names=names, redundant=tuple(names[n] for n in numbers if n not in kept),
        inexact=tuple(row.name for row in inexact), misfit=max((row.misfit for row in inexact), default=0.0),
        motions=motions, force_null_space=_sparse_basis(forces),
        regularity=float(s[generic - 1] / typical[generic - 1]) if generic else 1.0,
        lost=_lost(loops, names, numbers, kept) if rank < generic else (),
        actuated=tuple(at.velocity_labels[k] for k in chosen),
        actuation=_class(internal, lacking) if len(chosen) else "", internal_forces=internal, uncontrolled=lacking,
        replacements=replacements(loops) if at.algebra.dimension == 6 else (),
    )  # fmt: skip


def _svd(K):
    """All singular vectors, also without rows."""
    if len(K) == 0:
        return np.zeros((0, 0)), np.zeros(0), np.eye(K.shape[1])
    return np.linalg.svd(K)


def _check_finite(q) -> None:
    """Raise NonFiniteError for positions that are not numbers."""
    if not np.isfinite(q).all():
        raise NonFiniteError(f"mobility: q[{int(np.flatnonzero(~np.isfinite(q))[0])}] is not finite")


def _motors(model) -> tuple[int, ...]:
    """Velocities of the model's motors and of the joints of its actuators."""
    names = {joint for force in model.forces if isinstance(force, Motor) for joint in force.joints}
    names |= {actuator.target for actuator in model.actuators if actuator.target in model.joint_names}
    return velocity_coordinates(model, "actuated", sorted(names)) if names else ()


def _class(internal: int, lacking: int) -> str:
    found = ["underactuated"] * bool(lacking) + ["redundantly actuated"] * bool(internal)
    return " and ".join(found) or "properly actuated"


def _is_planar(model) -> bool:
    if model.algebra.dimension != 6:
        return True
    try:
        model.replace(forces=()).planar()
    except ModelError:
        return False
    return True


def _lost(loops: LoopRows, names: Sequence[str], numbers: Sequence[int], kept: set[int]) -> tuple[str, ...]:
    """Combinations of the rows that are solved for whose velocities vanish at q."""
    own = [k for k, n in enumerate(numbers) if n in kept]
    U, s, _ = _svd(loops.scaled[0][own])
    free = U[:, int((s > SINGULAR * max(1.0, s.max(initial=0.0))).sum()) :] / loops.typical_size[own, None]
    return tuple(_combination(column, [names[numbers[k]] for k in own]) for column in _sparse_basis(free).T)


def _sparse_basis(columns: np.ndarray) -> np.ndarray:
    """Another basis of the same columns, each with entry 1 in a row where the others have 0 (Gauss-Jordan)."""
    B = columns.T.copy()
    for n in range(len(B)):
        k = int(np.argmax(np.abs(B[n:]).max(axis=0) > 0.999 * np.abs(B[n:]).max()))
        m = n + int(np.argmax(np.abs(B[n:, k])))
        B[[n, m]] = B[[m, n]]
        B[n] /= B[n, k]
        for j in range(len(B)):
            if j != n:
                B[j] -= B[j, k] * B[n]
    B[np.abs(B) < 1e-9 * np.abs(B).max(initial=1.0)] = 0.0
    return B[np.argsort([int(np.flatnonzero(row)[0]) for row in B])].T if len(B) else B.T


def _by_constraint(names: Sequence[str]) -> list[str]:
    """Names of rows with those of one constraint in one text; combinations of rows by themselves."""
    rows: dict[str, list[str]] = {}
    for name in names:
        label, _, row = (name, "", "") if " * " in name or " + " in name else name.partition(": ")
        rows.setdefault(label, []).append(row)
    return [f"{label}: {', '.join(found)}" if any(found) else label for label, found in rows.items()]


def _combination(column: np.ndarray, names: Sequence[str]) -> str:
    shown = np.flatnonzero(np.abs(column) > DECIMALS * np.abs(column).max(initial=0.0))
    parts = [(column[k], names[k]) for k in shown]
    return " + ".join(name if x == 1.0 else f"{x:.4g} * {name}" for x, name in parts).replace("+ -", "- ")
