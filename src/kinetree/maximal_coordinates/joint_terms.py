r"""The parts of a system that a model has along the coordinates of its joints.

The twists of the bodies give the rates of these coordinates, ``v = E Phi + E_driven``, and ``v' = E Phi' + E_bias``.
What a model states over its joints acts along these rows:

==================================  ============================================================================
joint forces, springs, dampers      ``E^T tau``
ranges of actuators' forces         ``E^T (range(tau_a) - tau_a)``, tau_a those of all actuators on a joint
armatures A                         inertia ``E^T A E``, forces ``- E^T A E_bias``
couplings, prescribed motions       rows ``K E``, with the bias ``K E_bias + bias``
tendons with inertia                rows ``L E`` of the rates of their lengths, as armatures
limits, sticking friction           rows ``K E`` whose forces have bounds
gears                               `kinetree.algorithms.gears`: a row of E and the angular velocity of a stator
==================================  ============================================================================
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetree.algorithms.gears import gears_of
from kinetree.compiler.calls import public_call
from kinetree.compiler.time_argument import time_input
from kinetree.constraints.contract import BOX, dense
from kinetree.maximal_coordinates import free_bodies
from kinetree.maximal_coordinates.terms import actuator_cuts_of, coupled_terms_of, cut_slopes_of, tendon_terms_of
from kinetree.state_kinematics import Kinematics

ROUNDING = 1e-12  # of positions and velocities that the poses and twists of bodies give
_SLOPES = ("stiffness_matrix", "damping_matrix")


class JointState(NamedTuple):
    """Positions and velocities of a model's joints, the time where they depend on it, and given x and u."""

    q: np.ndarray
    v: np.ndarray
    t: float | None
    given: dict


class JointTerms:
    """What a model adds to the equation of its bodies along the coordinates of its joints.

    Parameters
    ----------
    model : Model
    rows : array of int
        The row of E that is the rate of each of its velocities.

    Attributes
    ----------
    coupled : Model or None
        Its couplings and prescribed motions alone.
    length_inertia : array
        Of its tendons [kg].
    bounded_names : tuple of str
        Of the rows whose forces have bounds.
    """

    def __init__(self, model, rows) -> None:
        self.model, self.rows, self.armature = model, rows, np.asarray(model.armature, float)
        self.coupled, self._sprung = free_bodies.coupled(model), free_bodies.with_joint_forces(model)
        self.length_inertia = np.array([each.armature for each in model.armatures])
        self._tendon_terms = tendon_terms_of(model) if model.armatures else None
        self._cuts = actuator_cuts_of(model) if model._force_ranges else None
        self._cut_slopes: dict = {}
        self._coupled_terms = None if self.coupled is None else coupled_terms_of(self.coupled)
        self._bounded = [c for c in model.constraints if c.row_kind == BOX]
        numbered = [n for c, numbers in model.constraint_rows() if c.row_kind == BOX for n in numbers]
        self.bounded_names = tuple(model.row_names[n] for n in numbered)

    @property
    def names(self) -> tuple[str, ...]:
        """Which of these parts there are, for messages."""
        found = {
            "armatures": self.armature.any(),
            "gears": gears_of(self.model),
            "tendons with inertia": self.model.armatures,
            "springs, dampers or stops": self._sprung is not None,
            "ranges of actuators' forces": self.has_ranges,
            "couplings": self.coupled is not None,
            "limits or sticking friction": self._bounded,
        }
        return tuple(name for name, there in found.items() if there)

    @property
    def has_ranges(self) -> bool:
        """Whether the sums of actuators' forces on some joints are bounded."""
        return self._cuts is not None

    def forces(self, at: JointState) -> np.ndarray:
        """Joint forces of the springs, dampers and stops of the joints, and what ranges take from actuators."""
        forces = np.zeros(self.model.nv)
        if self._sprung is not None:
            name, model = "passive_joint_forces", self._sprung
            forces = forces + public_call(name)(model, at.q, at.v, **time_input(name, model, at.t))
        if self.has_ranges:
            forces = forces + self._cuts(self.model, at.q, at.v, **at.given)
        return forces

    def slopes(self, at: JointState, method: str) -> list | None:
        """Stiffness and damping of these forces, None without any."""
        found = []
        if (model := self._sprung) is not None:
            found += [[public_call(x)(model, at.q, at.v, method=method, **time_input(x, model, at.t)) for x in _SLOPES]]
        if self.has_ranges:
            if method not in self._cut_slopes:
                self._cut_slopes[method] = cut_slopes_of(self.model, method)
            found += [self._cut_slopes[method](self.model, at.q, at.v, **at.given)]
        return [sum(parts) for parts in zip(*found, strict=True)] or None

    def couplings(self, at: JointState):
        """The `kinetree.maximal_coordinates.terms.CoupledTerms` of couplings and prescribed motions."""
        time = {"t": at.t} if self.coupled.time_dependent or self.coupled.has_given_motions else {}
        return self._coupled_terms(self.coupled, at.q, at.v, **time)

    def tendons(self, at: JointState) -> tuple[np.ndarray, np.ndarray]:
        """Rows of the rates of the lengths of tendons with inertia, and their bias."""
        time = {"t": at.t} if self.model.time_dependent else {}
        return self._tendon_terms(self.model, at.q, at.v, **time)

    def bounded_rows(self, at: JointState) -> tuple[np.ndarray, np.ndarray]:
        """K and bias of the rows whose forces have bounds."""
        kin = self._kinematics(at)
        rows = [row for c in self._bounded for row in c.rows(kin)]
        return dense(rows, self.model.nv), np.array([x for c in self._bounded for x in c.bias(kin)], float)

    def laws(self, at: JointState, dt=None, predicted=None) -> list:
        """The laws of these rows: of forces and accelerations, or of impulses and velocities at the end of a step."""
        kin = self._kinematics(at)
        return [law for c in self._bounded for law in c.laws(kin, dt, predicted)]

    def _kinematics(self, at: JointState) -> Kinematics:
        """The state of the joints, exactly at limits and at rest where nothing but rounding is between."""
        model = self.model if at.t is None else self.model.at(at.t)
        q, v = at.q.copy(), np.where(np.abs(at.v) > ROUNDING * (1.0 + np.abs(at.v).max(initial=0.0)), at.v, 0.0)
        for i in model.outward():
            n, k = model.q_slice[i], model.v_slice[i]
            for limit in (model.lower[k], model.upper[k]) if n.stop - n.start == k.stop - k.start else ():
                near = np.abs(q[n] - limit) < ROUNDING * (1.0 + np.abs(q[n]))
                q[n] = np.where(near, limit, q[n])
        return Kinematics(model, q.tolist(), v.tolist())


class Gears:
    """The inertia of what gears turn, besides that of the same locked in its stator.

    Parameters
    ----------
    gears : sequence of Gear
    rows : array of int
        The row of E that is the rate of each velocity of the joints.
    nv : int
        Of the twists.

    Notes
    -----
    Over the rates of the twists the couples and joint forces of `kinetree.algorithms.gears` are the inertia ``J rho
    (e^T s + s^T e + rho e^T e)``, e the row of the joint and ``s Phi`` the angular velocity of the stator along the
    axis, and the forces ``- J rho (s^T e_b + rho e^T e_b + w x a v)``, v and e_b the rate and the bias of the row.
    """

    def __init__(self, gears, rows, nv: int) -> None:
        from scipy.sparse import csr_array

        self._rows = rows[[gear.velocity for gear in gears]]
        self._momentum, self._ratio, self._axes = (
            np.array([getattr(gear, what) for gear in gears]) for what in ("momentum", "ratio", "axis")
        )
        bodies = {n: gear.stator - 1 for n, gear in enumerate(gears) if gear.stator}
        self._angular = {n: slice(6 * body, 6 * body + 3) for n, body in bodies.items()}
        S = np.zeros((len(gears), nv))
        for n, place in self._angular.items():
            S[n, place] = self._axes[n]
        self._S = csr_array(S)

    def inertia(self, E):
        """What they add to the matrix of inertia."""
        from scipy.sparse import diags_array

        e, J, reflected = E[self._rows], diags_array(self._momentum), diags_array(self._momentum * self._ratio)
        coupled = e.T @ J @ self._S
        return coupled + coupled.T + e.T @ reflected @ e

    def forces(self, E, E_bias, E_driven, v) -> np.ndarray:
        """Their forces on the bodies at zero rates of the twists."""
        e, bias = E[self._rows], self._momentum * E_bias[self._rows]
        f = -(self._S.T @ bias) - e.T @ (self._ratio * bias)
        spins = self._momentum * (e @ v + E_driven[self._rows])
        for n, place in self._angular.items():
            f[place] -= np.cross(v[place], self._axes[n]) * spins[n]
        return f

    def joint_forces(self, E, E_bias, rates) -> np.ndarray:
        """The part of the forces of all joint coordinates that they take at rates of the twists."""
        found = np.zeros(len(E_bias))
        e = E[self._rows] @ rates + E_bias[self._rows]
        np.add.at(found, self._rows, self._momentum * (self._S @ rates + self._ratio * e))
        return found
