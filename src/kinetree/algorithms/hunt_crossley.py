"""Blocks of the sweeps for contacts that yield by the law of Hunt and Crossley, taken at the end of the step.

    lambda_n = dt K depth^exponent (1 - d u_n)     depth = -(gap + dt u_n), where both factors are positive, else 0

The impulse is a falling and convex function of the rate u_n. A visit replaces it by its tangent, at the rate where one
step of Newton's method for the normal alone ends, and solves the contact with this tangent, as one of a spring. The law
of normal impulse and rate without other contacts is solved by such steps from any start: after the first they approach
the solution from one side.
"""

from __future__ import annotations

from itertools import islice
from typing import NamedTuple

from kinetree.algorithms.contact_sweeps import TINY, Cone, added, larger, product
from kinetree.spatial.scalar import absolute, exp, log, where


class HuntCrossley(NamedTuple):
    """The normal impulse of a contact in a step.

    Attributes
    ----------
    gap : scalar
        At the start of the step [m].
    dt : scalar
        [s].
    stiffness : scalar
        K [N/m^exponent].
    dissipation : scalar
        d [s/m].
    exponent : scalar
        [1].
    """

    gap: object
    dt: object
    stiffness: object
    dissipation: object
    exponent: object

    def impulse(self, rate) -> tuple:
        """The impulse at a normal rate, and how much it falls for a unit of it."""
        depth = -(self.gap + self.dt * rate)
        push = 1.0 - self.dissipation * rate
        pressed = (depth > 0.0) & (push > 0.0)
        depth, push = where(pressed, depth, 1.0), where(pressed, push, 1.0)
        force = self.dt * self.stiffness * exp(self.exponent * log(depth))
        slope = force * (self.exponent * (self.dt * push) / depth + self.dissipation)
        return where(pressed, force * push, 0.0), where(pressed, slope, 0.0)

    def tangent(self, rate, impulse, response) -> tuple:
        """``(r, s)``: ``impulse + x = law(rate + y)`` is ``r + x + s y = 0`` on the tangent.

        The tangent is that where one step of Newton's method ends, of the normal with the given response of its rate.
        """
        force, slope = self.impulse(rate)
        y = response * ((force - impulse) / (1.0 + slope * response))
        force, slope = self.impulse(rate + y)
        return impulse - force - slope * y, slope


class YieldingCone(Cone):
    """A contact with friction whose normal impulse is that of Hunt and Crossley.

    The row of the normal is multiplied by the slope s of the tangent, so that it is finite where the impulse is zero:
    ``r + s (d x + e y) + (1 + s f) n = 0`` for changes (x, y, n).

    Parameters
    ----------
    w, friction, impulses
        As of `Cone`.
    offset : sequence of 3 scalars
        The parts of the rates without z.
    law : HuntCrossley
    """

    def __init__(self, w, offset, friction, impulses, law: HuntCrossley) -> None:
        super().__init__(w, offset, friction, impulses)
        self.law = law
        *rest, k = self.LD
        self.LD = *rest, 1.0 / k  # the last pivot itself

    def constants(self) -> list:
        """All that visits take."""
        return [*super().constants(), self.law.gap]

    def restored(self, values, impulses) -> YieldingCone:
        """The same with other scalars in the place of its `constants`, taken from an iterator."""
        cone = super().restored(values, impulses)
        cone.law = self.law._replace(gap=next(islice(values, 1)))
        return cone

    def rates(self, z) -> list:
        """Those of the tangents; r and s of the normal."""
        x, y, n = (o + product(w, z) for o, w in zip(self.offset, self.w, strict=True))
        return [x, y, *self.law.tangent(n, self.impulses[2], self.B[2][2])]

    def normal_row(self, rates) -> tuple:
        """How the changes (x, y, n) enter into the equation of the normal."""
        (_, _, d), (_, _, e), (_, _, f) = self.B
        s = rates[3]
        return s * d, s * e, 1.0 + s * f

    def stick(self, rates) -> tuple:
        """The changes of the impulses that end all rates, that of the normal on the tangent."""
        l1, l2, l3, i, j, pivot = self.LD
        x, y, r, s = rates
        y = y - l1 * x
        n = (r - s * (l2 * x + l3 * y)) / (1.0 + s * pivot)
        y = y * j - l3 * n
        return x * i - l1 * y - l2 * n, y, n


class YieldingContact:
    """A contact without friction whose normal impulse is that of Hunt and Crossley.

    Parameters
    ----------
    w : mapping
        Of `FactorSpace.row`, of the normal.
    offset : scalar
        The part of its rate without z.
    impulses : sequence of 1 scalar
        First guess.
    law : HuntCrossley
    """

    def __init__(self, w, offset, impulses, law: HuntCrossley) -> None:
        self.w, self.offset, self.impulses, self.law = w, offset, list(impulses), law
        self.response = product(w, w) + TINY

    @property
    def all_impulses(self) -> list:
        """The impulses that a step records."""
        return [0.0, 0.0, *self.impulses]

    def start(self, z) -> None:
        """Apply the first guess."""
        added(z, self.w, self.impulses[0])

    def begin(self, active) -> None:
        """A sweep begins, for the states that have not converged: all are visited."""

    def visit(self, z, worst=0.0):
        """Solve this contact, and change z by it; the change of its rate, or the worst so far."""
        (old,) = self.impulses
        r, s = self.law.tangent(self.offset + product(self.w, z), old, self.response)
        n = old - r / (1.0 + s * self.response)
        self.impulses = [where(n > 0.0, n, 0.0)]
        change = self.impulses[0] - old
        added(z, self.w, change)
        return larger(absolute(self.response * change), worst)
