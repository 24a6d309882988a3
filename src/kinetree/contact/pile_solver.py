"""The contacts of one step of a pile as arrays, and the sweeps over them.

Block Gauss-Seidel on the true cone: every visit solves one contact and changes the velocities of its two bodies at
once. Between sweeps impulses are moved further along the last steps, as conjugate gradients do, until the steps grow:
tall stacks need a tenth of the sweeps. Contacts stand in groups of `GROUP` that share no moving body, so that a group's
visits run in the lanes of vectors and the results depend on no machine. Impulses of the last step, kept in world axes,
are the first ones.
"""

from __future__ import annotations

import numpy as np

from kinetree.compiler.row_function import RowFunction, conflict_free
from kinetree.contact.pile_pairs import Candidates
from kinetree.contact.pile_rows import FRAME, ROW, contact_row, extrapolate, push, relative_velocity, visit
from kinetree.contact.residuals import natural_map
from kinetree.native.drivers import Sweeps

NORMAL_RESPONSE = 34
"""Place of B_nn in a row."""

NEVER = 1e300
"""Offset of rows that fill a group [m/s]."""

_Z = "za[6] zb[6]"


def _row(a, b, point, friction, softness):
    """`contact_row` of a point: gap, position, normal."""
    return contact_row(a, b, point[4:], point[1:4], friction, softness)


CONTACT_ROW = RowFunction(
    "rows of contacts", _row, f"a[{FRAME}] b[{FRAME}] point[7] friction softness", f"row[{ROW}]"
)
VELOCITY = RowFunction("velocities of contacts", relative_velocity, f"{_Z} row[{ROW}]", "w[3]")
PUSH = RowFunction("impulses of contacts", push, f"{_Z} row[{ROW}] impulse[3]", "za_next[6] zb_next[6]")
VISIT = RowFunction(
    "a visit of a contact",
    visit,
    f"{_Z} row[{ROW}] offset impulse[3]",
    "za_next[6] zb_next[6] impulse_next[3] step[3] energy change",
)
EXTRAPOLATE = RowFunction(
    "impulses between sweeps",
    extrapolate,
    f"{_Z} row[{ROW}] impulse[3] direction[3] step[3] factor",
    "za_next[6] zb_next[6] impulse_next[3] direction_next[3]",
)


class Contacts:
    """Contacts of one step.

    Parameters
    ----------
    frames : (n + 1, FRAME) array
        Of all bodies; the last one is that of rows that fill a group.
    z : (n + 1, 6) array
        Scaled velocities, which the sweeps change.
    candidates : Candidates
    which : (m,) array of int
        The candidates that are contacts.
    friction : (m,) array
    softness : float
        See `Pile`.
    """

    def __init__(self, frames, z, candidates: Candidates, which, friction, softness) -> None:
        color = np.unique(candidates.color[which], return_inverse=True)[1]
        order = conflict_free(color) if len(color) else np.empty(0, np.int64)
        self.there = np.flatnonzero(order >= 0)
        self.order = order[self.there]
        self.n, none = len(order), len(z) - 1
        self.first, self.second = (self._filled(x[which], none) for x in (candidates.first, candidates.second))
        self.friction = self._filled(friction, 0.0)
        self.offset, self.impulse = np.full(self.n, NEVER), np.zeros((self.n, 3))
        self.row, self._w = np.zeros((self.n, ROW)), np.empty((self.n, 3))
        self._softness = np.array(softness)
        point = candidates.points, self._filled(candidates.rows[which], len(candidates.points) - 1)
        given = {"a": (frames, self.first), "b": (frames, self.second), "point": point,
                 "friction": self.friction, "softness": self._softness}  # fmt: skip
        self._update = CONTACT_ROW.indexed(self.n, given, {"row": self.row})
        self._update()
        a, b = (z, self.first), (z, self.second)
        both, after = {"za": a, "zb": b, "row": self.row}, {"za_next": a, "zb_next": b}
        self._velocities = VELOCITY.indexed(self.n, both, {"w": self._w})
        self._push = PUSH.indexed(self.n, both | {"impulse": self.impulse}, after)
        self.solve = self._sweeps(both, after)

    def _sweeps(self, both, after) -> Sweeps:
        """Sweeps until no visit changes a velocity by more than a tolerance [m/s]; their number is the result.

        Source: M. Silcowitz, S. Niebe, K. Erleben, A nonsmooth nonlinear conjugate gradient method for interactive
        contact force problems (2010), with the energy of the steps as their size.
        """
        change, energy, factor = np.zeros(self.n), np.zeros(self.n), np.zeros(())
        step, direction = np.zeros((self.n, 3)), np.zeros((self.n, 3))
        visit = VISIT.indexed(
            self.n,
            both | {"offset": self.offset, "impulse": self.impulse},
            after | {"impulse_next": self.impulse, "step": step, "energy": energy, "change": change},
        )
        extrapolate = EXTRAPOLATE.indexed(
            self.n,
            both | {"impulse": self.impulse, "direction": direction, "step": step, "factor": factor},
            after | {"impulse_next": self.impulse, "direction_next": direction},
        )
        return Sweeps(visit, extrapolate, change, energy, step, direction, factor)

    def _filled(self, values: np.ndarray, fill) -> np.ndarray:
        """Values in the order of the groups."""
        found = np.empty((self.n, *values.shape[1:]), values.dtype)
        found[:] = fill
        found[self.there] = values[self.order]
        return found

    @property
    def axes(self) -> np.ndarray:
        """(n, 3, 3): t1, t2, n by rows."""
        return self.row[:, :9].reshape(-1, 3, 3)

    def gap_rates(self) -> np.ndarray:
        """Rates of the gaps at the present velocities, in the order of the contacts given."""
        self._velocities()
        return self.given(self._w[:, 2])

    def natural_map(self) -> np.ndarray:
        """Misfit of the laws of contact at the present velocities and impulses, in the order given [m/s]."""
        self._velocities()
        u = self._w[self.there]
        u[:, 2] += self.offset[self.there]
        found = np.empty(len(self.order))
        found[self.order] = natural_map(
            self.impulse[self.there], u, self.friction[self.there], 1.0 / self.row[self.there, NORMAL_RESPONSE]
        )
        return found

    def given(self, values: np.ndarray) -> np.ndarray:
        """Values of rows in the order of the contacts given."""
        found = np.empty((len(self.order), *values.shape[1:]), values.dtype)
        found[self.order] = values[self.there]
        return found

    def move(self) -> None:
        """The same contacts at the present poses, without impulses."""
        self._update()
        self.impulse[:] = 0.0

    def set_offset(self, offset: np.ndarray) -> None:
        """Offsets of the contacts, in the order given: the sweeps make ``w_n + offset >= 0`` [m/s]."""
        self.offset[self.there] = offset[self.order]

    def soften(self, softness: float) -> None:
        """Change the softness of all contacts."""
        self._softness[()] = softness
        self._update()

    def start(self, world_impulse: np.ndarray) -> None:
        """Begin with impulses in world axes, in the order given."""
        self.impulse[self.there] = np.einsum("nij,nj->ni", self.axes[self.there], world_impulse[self.order])
        np.maximum(self.impulse[:, 2], 0.0, out=self.impulse[:, 2])
        self._push()

    def world_impulses(self) -> np.ndarray:
        """Impulses on the second bodies in world axes, in the order of the contacts given [N s]."""
        return self.given(np.einsum("nij,ni->nj", self.axes, self.impulse))
