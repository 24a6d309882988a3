"""Contact with Coulomb friction by projected block Gauss-Seidel in the space of the LTDL factor.

With ``H = L^T D L`` and rows J of contacts, each has the row ``w = D^-1/2 L^-T J^T``, as sparse as J. Impulses lambda
are one vector ``z = D^-1/2 L^-T f + sum w lambda`` of as many entries as velocities; the rate of a row is ``w z``, the
velocities are ``L^-1 D^-1/2 z``. So a visit of a contact costs some operations for each entry of its rows, and the
Delassus matrix ``J H^-1 J^T`` is not formed. Rows of equalities (loops) are eliminated: with theirs, U, vectors lose
``U (U^T U)^-1 U^T w``.

A visit solves one contact while all others stay: sticking by the 3 x 3 system, exactly; none where it parts without
an impulse; else it slides, with its impulse on the cone's edge, ``|t| = mu n``, and a step of Newton's method finds the
direction of the friction. The cone is the true one.

Symbols: rows in the order (t1, t2, n); impulses act on the second body of a pair.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from copy import copy
from itertools import islice

from kinetree.algorithms.couplings import expanded, weighted_row
from kinetree.algorithms.sparse import ltdl_factors, solve_lower, solve_lower_transpose, solve_ltdl
from kinetree.constraints.row_law import RowLaw
from kinetree.spatial.scalar import absolute, guarded, is_zero, repeated, sqrt, unconverged, where

SWEEPS = 8  # of ANYmal's feet: 99 % of the residuals of walking states are below 3e-3 m/s
LEAST = 0.1  # of the response across the slip, in the slope of a step of Newton's method
JAMMED = 0.01  # of a contact's own response; friction that pushes it into the ground may take away the rest
SHIFT = 1e-10, 1e-5  # of the mean of B's diagonal, in double and in single precision: B of few freedoms is singular
STILL = 1e-12, 1e-6  # in both: change of rates in a sweep [m/s or rad/s], below which a step has converged
TINY = 1e-30  # squared impulses or responses that count as zero


class FactorSpace:
    """The space of ``z = D^1/2 L y`` over the independent velocities y of a system.

    Parameters
    ----------
    system : ConstrainedSystem
        Its factors of H, and the rows of equalities.
    """

    def __init__(self, system) -> None:
        self.system, (L, D) = system, system.factors
        self.scale = [sqrt(1.0 / d) for d in D]
        self._L, self._above = L, system.above
        self._U = [self._scaled(row) for row in system.K]
        below = [tuple(reversed(range(m))) for m in range(len(self._U))]
        gram = [[product(w, u) for w in self._U] for u in self._U]
        self._gram = (*ltdl_factors(gram, below), below) if gram else None

    def _scaled(self, f: Sequence) -> dict:
        """``D^-1/2 L^-T f`` without its zeros."""
        x = solve_lower_transpose(self._L, f, self._above, unit=True)
        return {m: x_m * s for m, (x_m, s) in enumerate(zip(x, self.scale, strict=True)) if not is_zero(x_m)}

    def row(self, row: Mapping) -> dict:
        """The row of this space for one over the velocity coordinates, without the part that equalities take."""
        w = self._scaled([weighted_row(row, column) for column in self.system.columns])
        return self._corrected(w, [-product(u, w) for u in self._U])

    def places(self, coordinates: Container[int]) -> list[int]:
        """Where the row of this space may have entries, by structure, for one over these velocity coordinates."""
        reached = [m for m, column in enumerate(self.system.columns) if any(k in coordinates for k, _ in column)]
        if self._U and reached:
            return list(range(len(self.scale)))
        return sorted({*reached, *(n for m in reached for n in self._above[m])})

    def momentum(self, f) -> list:
        """z of joint impulses f (nv), with those of equalities that keep the rates of their rows."""
        return self._dense(self.row(dict(enumerate(f))))

    def closing(self, target: Sequence) -> list:
        """The least velocities (nv) with these rates of the rows of equalities."""
        return self.velocities(self._dense(self._corrected({}, list(target))))

    def _dense(self, w: Mapping) -> list:
        return [w.get(m, 0.0) for m in range(len(self.scale))]

    def _corrected(self, w: dict, right: list) -> dict:
        if not self._U:
            return w
        w = dict(w)
        for u, x in zip(self._U, solve_ltdl(*self._gram[:2], right, self._gram[2]), strict=True):
            for m, u_m in u.items():
                w[m] = w.get(m, 0.0) + u_m * x
        return w

    def velocities(self, z) -> list:
        """Velocities of all coordinates (nv)."""
        y = [z_m * s for z_m, s in zip(z, self.scale, strict=True)]
        return expanded(self.system.model, self.system.columns, solve_lower(self._L, y, self._above, unit=True))


def product(w: Mapping, z):
    """The product of a sparse row and a vector, a list or another row."""
    entries = ((x, z[m]) for m, x in w.items() if not isinstance(z, Mapping) or m in z)
    return sum((x * z_m for x, z_m in entries if not is_zero(z_m)), start=0.0)


def added(z, w: Mapping, x) -> None:
    """``z <- z + w x``, in place."""
    for m, w_m in w.items():
        z[m] = z[m] + w_m * x


class BoundedRow:
    """A row with a law between its impulse and its rate: joint limits, dry friction, contacts without friction.

    Parameters
    ----------
    w : mapping
        Of `FactorSpace.row`.
    offset : scalar
        The part of its rate without z.
    law : RowLaw
    impulses : sequence of 1 scalar
        First guess.
    column : sequence of (int, float)
        The velocity coordinates that have this rate, with their ratios; of a row over several velocities none.
    compliance : scalar
        Of soft rows, the rate that their own impulse takes away.

    Attributes
    ----------
    held : condition
        Whether the last visit held the rate at a known value.
    """

    def __init__(self, w: Mapping, offset, law: RowLaw, impulses, column=(), compliance=0.0) -> None:
        # Rates are divided by the root of the response, so that it is 1: a visit has no division.
        response = product(w, w) + compliance + TINY
        self._root = sqrt(response)
        scale = 1.0 / self._root
        self.w, self._offset = {m: w_m * scale for m, w_m in w.items()}, offset * scale
        self._law, self._impulse = law.scaled(self._root), impulses[0] * self._root
        self.column, self.held, self._rate = column, False, 0.0
        self._yielding = compliance if is_zero(compliance) else compliance / response

    @property
    def rate(self):
        """The rate at which the last visit held it."""
        return self._rate * self._root

    @property
    def impulses(self) -> list:
        """The impulse."""
        return [self._impulse / self._root]

    @property
    def all_impulses(self) -> list:
        """The impulses that a step records."""
        return self.impulses

    def start(self, z) -> None:
        """Apply the first guess."""
        added(z, self.w, self._impulse)

    def begin(self, active) -> None:
        """A sweep begins, for the states that have not converged: of one row all are visited."""

    def visit(self, z, worst=0.0):
        """Solve this row, and change z by it; the change of its rate, or the worst so far if that is larger."""
        old = self._impulse
        rate = self._offset + product(self.w, z) + self._yielding * old
        self._impulse, self.held, self._rate = self._law.projected(rate - old, 1.0)
        change = self._impulse - old
        added(z, self.w, change)
        return larger(absolute(self._root * change), worst)


class Frictionless(BoundedRow):
    """A contact without friction: its normal row."""

    @property
    def all_impulses(self) -> list:
        """None along the tangents."""
        return [0.0, 0.0, *self.impulses]


class Cone:
    """A contact with friction.

    Parameters
    ----------
    w : sequence of 3 mappings
        Of `FactorSpace.row`, for (t1, t2, n).
    offset : sequence of 3 scalars
        The parts of the rates without z; that of the normal with its target, so that it is not to be negative.
    friction : scalar
    impulses : sequence of 3 scalars
        First guess.
    compliance : scalar
        Normal rate by its own impulse that yields: ``1 / (k dt (dt + tau_d))`` of soft contact.
    """

    def __init__(self, w, offset, friction, impulses, compliance=0.0) -> None:
        self.w, self.offset, self.mu, self.impulses = tuple(w), offset, friction, list(impulses)
        self.compliance = compliance
        B = [[product(a, b) for b in self.w[: n + 1]] for n, a in enumerate(self.w)]
        B[2][2] = B[2][2] + compliance
        (a,), (b, c), (d, e, f) = B
        self.B = [[a, b, d], [b, c, e], [d, e, f]]
        self._factors(a + c + f)

    def _factors(self, trace) -> None:
        """L and D of B, slightly shifted: repeated visits make up for it."""
        (a, b, d), (_, c, e), (_, _, f) = self.B
        shift = trace * where(trace * (1.0 + 1e-9) > trace, SHIFT[0], SHIFT[1]) + TINY
        i = 1.0 / (a + shift)
        l1, l2 = b * i, d * i
        j = 1.0 / (c + shift - l1 * b)
        g = e - l2 * b
        l3 = g * j
        k = 1.0 / (f + shift - l2 * d - l3 * g)
        self.LD = l1, l2, l3, i, j, k

    def constants(self) -> list:
        """All that visits take."""
        (a, b, d), (_, c, e), (_, _, f) = self.B
        rows = [x for w in self.w for x in w.values()]
        return [*rows, a, b, c, d, e, f, *self.LD, *self.offset, self.compliance]

    def restored(self, values, impulses) -> Cone:
        """The same with other scalars in the place of its `constants`, taken from an iterator."""
        cone = copy(self)
        cone.w = tuple({m: next(values) for m in w} for w in self.w)
        a, b, c, d, e, f, *LD = islice(values, 12)
        cone.B, cone.LD = [[a, b, d], [b, c, e], [d, e, f]], LD
        *cone.offset, cone.compliance = islice(values, 4)
        cone.impulses = list(impulses)
        return cone

    def rates(self, z) -> list:
        """Those of the old impulses; of the normal with its target and compliance."""
        rates = [o + product(w, z) for o, w in zip(self.offset, self.w, strict=True)]
        if not is_zero(self.compliance):
            rates[2] = rates[2] + self.compliance * self.impulses[2]
        return rates

    def normal_row(self, rates) -> tuple:
        """How the changes (x, y, n) of the impulses enter into the equation of the normal."""
        return self.B[2]

    def stick(self, rates) -> tuple:
        """``B^-1 w``: the changes of the impulses that end all rates."""
        l1, l2, l3, i, j, k = self.LD
        x, y, n = rates
        y = y - l1 * x
        n = (n - l2 * x - l3 * y) * k
        y = y * j - l3 * n
        return x * i - l1 * y - l2 * n, y, n

    @property
    def all_impulses(self) -> list:
        """The impulses that a step records."""
        return self.impulses

    def start(self, z) -> None:
        """Apply the first guess."""
        for w, x in zip(self.w, self.impulses, strict=True):
            added(z, w, x)

    def begin(self, active) -> None:
        """A sweep begins, for the states that have not converged: all are visited."""

    def visit(self, z, worst=0.0):
        """Solve this contact, and change z by it; a bound of the change of its rates, or the worst so far."""
        rates, stick, base, slips = self.tried(z)
        slip = self.slipped(rates, stick)
        return self.moved(z, [where(slips, x, y) for x, y in zip(slip, base, strict=True)], worst)

    def tried(self, z) -> tuple:
        """Rates of the old impulses, those that stick, those if it does not slip, and whether it does.

        It sticks by the impulses that end its motion, if these are in the cone; it parts where it would without any.
        """
        x, y, n = self.impulses
        rates = self.rates(z)
        d, e, f = self.normal_row(rates)
        stick = [a - da for a, da in zip((x, y, n), self.stick(rates), strict=True)]
        limit = self.mu * stick[2]
        sticks = (stick[2] > 0.0) & (stick[0] * stick[0] + stick[1] * stick[1] <= limit * limit)
        parts = rates[2] - (d * x + e * y + f * n) >= 0.0
        return rates, stick, [where(sticks, a, 0.0) for a in stick], ~(sticks | parts)

    def slipped(self, rates, stick) -> list:
        """The impulses where it slips: a step of Newton's method for the angle of the friction, on the cone's edge.

        For a direction T of the friction, of any length, with M = |T|, the normal impulse ends the approach. The step
        begins at the friction so far, or at the one that would stick, and turns by less than 90 degrees.
        """
        (a, b, d), (_, c, e), _ = self.B
        nd, ne, nf = self.normal_row(rates)
        (x, y, n), (sx, sy), mu = self.impulses, stick[:2], self.mu
        limit = mu * n
        slid = (n > 0.0) & (x * x + y * y > 0.99 * limit * limit) & (x * sx + y * sy > 0.0)
        tx, ty, M = (where(slid, old, new) for old, new in ((x, sx), (y, sy), (limit, sqrt(sx * sx + sy * sy + TINY))))
        # Rates without this contact, and those that the impulses (mu T, M) add; then those of the impulses along T.
        free = rates[2] - (nd * x + ne * y + nf * n)
        u, w = rates[0] - (a * x + b * y + d * n), rates[1] - (b * x + c * y + e * n)
        vx, vy = mu * (a * tx + b * ty) + d * M, mu * (b * tx + c * ty) + e * M
        q = 1.0 / pushing(nf * M, mu * (nd * tx + ne * ty))
        scaled = free * q
        u, w = u - scaled * vx, w - scaled * vy
        # The slip across T over its slope; all in units of |T|, about.
        curved = mu * (tx * (c * tx - b * ty) - ty * (b * tx - a * ty))
        bent = mu * (ne * tx - nd * ty) * (tx * vy - ty * vx) * q
        unit = nf * q
        tx, ty, scaled = tx * unit, ty * unit, scaled * unit
        across, slope = tx * w - ty * u, -(tx * u + ty * w) - scaled * (curved - bent)
        least = -scaled * (LEAST * curved)
        slope = where(slope > least, slope, least)
        tx, ty = tx * slope + ty * across, ty * slope - tx * across
        M = sqrt(tx * tx + ty * ty + TINY)
        n = -free / pushing(nf * M, mu * (nd * tx + ne * ty))
        part = mu * n
        return [part * tx, part * ty, n * M]

    def moved(self, z, impulses, worst):
        """Change z to these impulses; a bound of the change of the rates, or the worst so far."""
        change = [x - x0 for x, x0 in zip(impulses, self.impulses, strict=True)]
        self.impulses = impulses
        for w, x in zip(self.w, change, strict=True):
            added(z, w, x)
        return larger(sum((self.B[n][n] * absolute(x) for n, x in enumerate(change)), start=0.0), worst)


def pushing(response, coupled):
    """The normal rate under the impulses of a contact that slips, bounded from below for contacts that jam."""
    rate, least = response + coupled, JAMMED * response + TINY
    return where(rate > least, rate, least)


class NearCone:
    """A contact that machine code skips where it is far away.

    Parameters
    ----------
    near : condition
        Whether it may touch within the step, `settled`.
    places : sequence of int
        The entries of z on which its rows may act.
    make : callable
        Gives the `Cone`, with its first guess.
    split : bool
        Whether a visit is in three parts, of which that for sliding is skipped where no state slips.
    """

    def __init__(self, near, places, make, split: bool = False) -> None:
        self._split, self._near, self._places, self._make = split, near, places, make
        self._needed, self._cone = near, None

    @property
    def all_impulses(self) -> list:
        """The impulses that a step records."""
        return self._cone.impulses

    def start(self, z) -> None:
        """Make the contact and apply its first guess, where it is near; elsewhere its impulses are zero."""

        def computed():
            self._cone, after = self._make(), list(z)
            self._cone.start(after)
            return *self._cone.impulses, *(after[m] for m in self._places), *self._cone.constants()

        found = iter(guarded(self._near, [0.0] * 3 + [z[m] for m in self._places], computed))
        impulses = list(islice(found, 3))
        self._replace(z, found)
        self._cone = self._cone.restored(found, impulses)

    def begin(self, active) -> None:
        """A sweep begins, for the states that have not converged."""
        self._needed = self._near if active is True else self._near & active

    def visit(self, z, worst=0.0):
        """Solve this contact where it is near; a bound of the change of its rates, or the worst so far."""

        cone = self._cone

        def tried():
            rates, stick, base, slips = cone.tried(z)
            return where(slips, 1.0, 0.0), *base, *rates, *stick[:2]

        def solved():
            after = list(z)
            change = cone.visit(after, worst) if not self._split else cone.moved(after, base, worst)
            return change, *cone.impulses, *(after[m] for m in self._places)

        old = worst, *cone.impulses, *(z[m] for m in self._places)
        if self._split:
            slips, *found = guarded(self._needed, [0.0], tried)
            base = guarded(slips > 0.5, found[:3], lambda: cone.slipped(found[3:-2], found[-2:]))
        change, *found = guarded(self._needed, old, solved)
        cone.impulses = found[:3]
        self._replace(z, iter(found[3:]))
        return change

    def _replace(self, z, found: Iterator) -> None:
        for m in self._places:
            z[m] = next(found)


def larger(a, b):
    """The larger one of two numbers that are not negative; NaN is not carried over."""
    return a if is_zero(b) else b if is_zero(a) else where(a > b, a, b)


def swept(blocks, z, sweeps: int = SWEEPS, still: float | None = None):
    """Visit all blocks in so many sweeps from their first guesses, or until none changes.

    Parameters
    ----------
    blocks : sequence
        Of `BoundedRow`, `Cone` and `NearCone`.
    z : sequence of scalars
    sweeps : int
    still : float
        Change of rates in a sweep, below which a step has converged [m/s or rad/s]; by default a little more than
        rounding.

    Returns
    -------
    z : list
    residual : scalar
        A bound of the largest change of a rate in the last sweep.
    """
    z = list(z)
    for block in blocks:
        block.start(z)
    residual, active = 0.0, True
    for _ in range(sweeps):
        for block in blocks:
            block.begin(active)
        residual = 0.0
        for block in repeated(blocks, z):
            residual = block.visit(z, residual)
        rounding = where(residual * (1.0 + 1e-9) > residual, *STILL) if still is None else still
        active = unconverged(residual > rounding)
    return z, residual
