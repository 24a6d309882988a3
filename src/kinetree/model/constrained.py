"""Sizes and choices of a tree that follow from its constraints: rows, redundant rows, independent velocities."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from kinetree.constraints import Constraint, Coupling
from kinetree.constraints.independence import independent_velocities
from kinetree.constraints.redundancy import LoopRows, loop_rows
from kinetree.constraints.row_names import RedundantRow, row_names
from kinetree.errors import UnsupportedError
from kinetree.model.clusters import Cluster, minimal_clusters
from kinetree.state_kinematics import Kinematics

LOOP_REPAIR = (
    "Motions of a loop joint have to be independent, and may not depend on time where it has freedoms; take another "
    "joint, or make it one of the tree, where another one closes the loop (kt.surgery.retree)"
)


class Constrained:
    """Properties of a tree by its constraints, a base of `Tree`."""

    __slots__ = ()

    @property
    def couplings(self) -> tuple[Coupling, ...]:
        """Joints that follow others, among ``constraints``."""
        return tuple(c for c in self.constraints if isinstance(c, Coupling))

    @property
    def nc(self) -> int:
        """Number of rows of all constraints."""
        return sum(c.count(self) for c in self.constraints)

    @property
    def n_loops(self) -> int:
        """Number of loop joints that are held."""
        return len(self.loop_joints())

    def constrained_velocities(self, v):
        """Velocities or accelerations with those of couplings and locks put in, (..., nv), changed in place."""
        kin = Kinematics(self, ())
        for c in self.constraints:
            for k, pairs in c.velocity_map(kin).items():
                v[..., k] = sum(ratio * v[..., m] for m, ratio in pairs)
        for c in self.couplings:  # of masters that are locked
            v[..., self.v_index(c.joint)] = c.ratio * v[..., self.v_index(c.master)]
        return v

    def check_held(self, what: str) -> None:
        """Raise UnsupportedError where positions are restricted by loop joints or equalities that make no rows."""
        if self.unheld:
            raise UnsupportedError(
                f"{what}: model {self.name!r} has parts without rows, which would stay open: {'; '.join(self.unheld)}. "
                f"{LOOP_REPAIR}; model.without_unsupported() is a copy without them"
            )

    @property
    def has_given_motions(self) -> bool:
        """Whether constraints depend on time, also by joints: then the complete dynamics take it as last input."""
        return any(c.time_dependent or (self.time_dependent and c.frames) for c in self.constraints)

    @property
    def constraint_labels(self) -> tuple[str, ...]:
        """The constraint of each row, in the order of the multipliers."""
        return tuple(c.label for c in self.constraints for _ in range(c.count(self)))

    def constraint_rows(self) -> list[tuple[Constraint, range]]:
        """The constraints, each with the numbers of its rows."""
        ends = accumulate((c.count(self) for c in self.constraints), initial=0)
        return [(c, range(*span)) for c, span in zip(self.constraints, pairwise(ends), strict=True)]

    def independent_rows(self) -> tuple[int, ...]:
        """Numbers of the rows that are solved for: of redundant loops a subset, independent at generic positions."""
        return self.loop_rows().kept

    @property
    def row_names(self) -> tuple[str, ...]:
        """A name for each row: "closure: force x", the direction in coordinates of the successor."""
        return row_names(self)

    def redundant_rows(self) -> tuple[RedundantRow, ...]:
        """The rows of loops that others imply, so that they are left out and have no multipliers.

        Examples
        --------
        >>> import kinetree as kt
        >>> [str(row) for row in kt.models.four_bar().redundant_rows()]
        ['closure: moment x', 'closure: moment y', 'closure: force z']
        """
        choice, names = self.loop_rows(), self.row_names
        return tuple(RedundantRow(n, names[n], x, n in choice.inexact) for n, x in choice.misfits.items())

    def loop_rows(self) -> LoopRows:
        """The choice among the rows of loops, made once; see `kinetree.constraints.redundancy`."""
        if self._loop_rows is None:
            self._set(_loop_rows=loop_rows(self))
        return self._loop_rows

    def with_rows_of(self, other):
        """This model, which has the tree and the equalities of another, with its choice of rows if it was made."""
        if all(c.row_kind == "equality" for c in self.constraints):
            self._set(_loop_rows=other._loop_rows)
        return self

    def clusters(self) -> Sequence[Cluster]:
        """Groups of joints that loops, or constraints that are eliminated, connect; from the root outward."""
        if self._clusters is None:
            joint = [i for i in range(1, self.nb) for _ in range(self.joints[i].nv)]
            maps = [c.velocity_map(Kinematics(self, ())) for c in self.constraints]
            ties = [(k, *(m for m, _ in pairs)) for found in maps for k, pairs in found.items()]
            rows = {n: tuple(dict.fromkeys(joint[k] for k in of)) for n, of in self.loop_rows().coordinates.items()}
            self._set(_clusters=minimal_clusters(self.parent, rows, [[joint[k] for k in of] for of in ties]))
        return self._clusters

    def visits(self, parts: Sequence) -> Sequence:
        """The same parts; large models note in a trace where each begins."""
        return parts

    @property
    def ny(self) -> int:
        """Number of independent velocities: nv less the independent rows of equality constraints."""
        kept = set(self.independent_rows())
        return self.nv - sum(len(kept & {*rows}) for c, rows in self.constraint_rows() if c.row_kind == "equality")

    @property
    def n_reduced(self) -> int:
        """Number of independent positions and velocities, ``2 ny``."""
        return 2 * self.ny

    def independent_velocities(self) -> tuple[int, ...]:
        """Velocity coordinates that determine all others at generic positions, ``ny`` of them."""
        found = self._independent_velocities
        if found is None:
            found = independent_velocities(self)
        elif callable(found):  # of the model that this one has the structure of
            found = found()
        self._set(_independent_velocities=found)
        return found

    def stabilization(self, n: int) -> tuple[float, float] | None:
        """Gains of errors of rate and position in the accelerations of constraint n; None where steps are projected."""
        return self._stabilization[n] if self._stabilization else None

    def stabilized(self, gains: tuple):
        """The same with these gains of each constraint; None leaves it to projection."""
        made = self.replace(name=self.name)
        made._set(_stabilization=gains, _loop_rows=self.loop_rows())
        return made

    def passing(self):
        """The same, whose steps go through singular positions; see `kinetree.algorithms.singular_positions`."""
        made = self.replace(name=self.name)
        made._set(_stabilization=self._stabilization, _is_passing=True, _loop_rows=self.loop_rows())
        return made

    def is_loop(self, joint: str | int) -> bool:
        """Whether a name is that of a loop joint that is held."""
        return isinstance(joint, str) and joint in self._loop_numbers and joint not in self._joint_numbers

    def loop_joint(self, name: str):
        """The loop joint of this name, over the numbers of this tree."""
        return self.constraints[self._loop_numbers[name]]

    def loop_joints(self) -> list[tuple]:
        """The loop joints that are held, by name."""
        return [(name, self.constraints[k]) for name, k in self._loop_numbers.items()]
