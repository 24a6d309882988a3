"""Conditions on states besides shape and finiteness: unit quaternions, position limits, constraints.

Each condition is traced into the compiled function, which reports that one is violated; the error is then explained
here, from the floats of the first state that violates it. Comparisons are written so that NaN never counts as a
violation: NaN is its own error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from kinetree.constraints.row_law import infinite
from kinetree.errors import ConstraintError, InertiaError, LimitError, QuaternionError
from kinetree.spatial import Inertia, Symmetric3
from kinetree.spatial.scalar import absolute, is_zero
from kinetree.state_kinematics import Kinematics

# A quaternion whose squared norm is off by more than this is not taken for a rotation: the error would reach the
# results.
QUATERNION_TOLERANCE = 1e-6
# Tolerance of constraints [rad or m, and per second], well above the errors of integrators.
CONSTRAINT_TOLERANCE = 1e-6
# A rotational inertia about the center of mass with a pivot below this part of its trace has no usable inverse: a rod,
# a point, no body at all.
ROD = 1e-9


@dataclass(frozen=True)
class Domain:
    """A condition that the inputs of an algorithm must meet.

    ``violations(model, inputs)`` gives one boolean scalar per condition (true: violated); it is traced into the
    compiled function. ``explain(model, inputs, index)`` builds the error for the condition of that number, from one
    state's floats; docstrings name it, and its cause.
    """

    name: str
    needs: tuple[str, ...]
    violations: Callable = field(repr=False)
    explain: Callable = field(repr=False)
    error: str = ""
    meaning: str = ""


def _quaternion_defects(model, q):
    return [(i, defect) for i in model.outward() for defect in model.joints[i].defect(model.q_of(i, q))]


def unit_quaternions(name: str) -> Domain:
    """The condition that the positions of this input have quaternions of unit length."""

    def violations(model, inputs):
        return [absolute(defect) > QUATERNION_TOLERANCE for _, defect in _quaternion_defects(model, inputs[name])]

    def explain(model, inputs, index):
        i, defect = _quaternion_defects(model, inputs[name])[index]
        values = [float(x) for x in model.q_of(i, inputs[name])]
        norm = (1.0 + float(defect)) ** 0.5
        return QuaternionError(
            f"the quaternion of joint {model.joint_name(i)!r} in {name} has length {norm:.9g}, expected 1 within "
            f"{QUATERNION_TOLERANCE / 2:g} (this joint's {name}: {values}). Quaternions are (w, x, y, z); "
            "kt.normalize(model, q) gives them unit length, model.neutral() has valid ones.",
            joint=model.joint_name(i),
            norm=norm,
        )

    meaning = f"A quaternion in {name} does not have unit length."
    return Domain("unit quaternions", (name,), violations, explain, "QuaternionError", meaning)


UNIT_QUATERNIONS = unit_quaternions("q")


def _direction_violations(model, inputs):
    # A squared length that vanishes beside 1, or overflows.
    return [(defect <= -1.0) | (defect >= 1e300) for _, defect in _quaternion_defects(model, inputs["q"])]


def _direction_error(model, inputs, index):
    i, defect = _quaternion_defects(model, inputs["q"])[index]
    values = [float(x) for x in model.q_of(i, inputs["q"])]
    return QuaternionError(
        f"the quaternion of joint {model.joint_name(i)!r} in q is {'zero' if defect < 0.0 else 'too long'} (this "
        f"joint's q: {values}): it has no direction to keep. Quaternions are (w, x, y, z); model.neutral() has valid "
        "ones.",
        joint=model.joint_name(i),
    )


QUATERNION_DIRECTIONS = Domain(
    "quaternions with a direction",
    ("q",),
    _direction_violations,
    _direction_error,
    "QuaternionError",
    "A quaternion is zero, or too long for its length to be a number.",
)


def _unforced_limits(model, q):
    """Coordinates with limits but no stop to give the force outside them: (joint, coordinate, lower, upper)."""
    found = []
    for i in model.outward():
        q_i = model.q_of(i, q)
        for m, k in enumerate(range(model.v_slice[i].start, model.v_slice[i].stop)):
            if model.has_limit(k) and not model.has_stop(k):
                found.append((model.joint_name(i), q_i[m], model.lower[k], model.upper[k]))
    kin = Kinematics(model, q)
    for name, loop in model.loop_joints():
        if loop.has_limits and not model.loop_has_stop(name):
            found += [(name, *each) for _, *each in loop.counted(kin.loop_position(name))]
    return found


def _limit_violations(model, inputs):
    found = _unforced_limits(model, inputs["q"])
    return [flag for _, x, lower, upper in found for flag in (lower - x > 0.0, x - upper > 0.0)]


def _limit_error(model, inputs, index):
    name, value, lower, upper = _unforced_limits(model, inputs["q"])[index // 2]
    return LimitError(
        f"joint {name!r} is at {float(value):.6g}, outside its limits [{float(lower):.6g}, {float(upper):.6g}], and "
        "the model has no stop that determines the force there. "
        "kt.simulation.Rollout(model).model is the model with the soft stops that simulate and rollout add; or give "
        "limit_stiffness and limit_damping, or use model.without_limits().",
        joint=name,
        value=float(value),
    )


LIMITS = Domain(
    "position limits",
    ("q",),
    _limit_violations,
    _limit_error,
    "LimitError",
    "A joint is outside a limit for which the model has no stop.",
)


def _satisfied(name: str, chosen, meaning: str) -> Domain:
    """The condition that positions and velocities obey some of the equalities."""

    def residuals(model, inputs):
        """(constraint, "q" or "v", row, residual), positions first."""
        now = model.at(inputs["t"]) if "t" in inputs else model
        kin, left_out = Kinematics(now, inputs["q"], inputs["v"]), model.loop_rows().inexact
        equalities = [
            (c, [n - numbers.start for n in numbers if n not in left_out])
            for c, numbers in now.constraint_rows()
            if c.row_kind == "equality" and chosen(c)
        ]
        errors = [(c, held, c.residual(kin)) for c, held in equalities]
        found = [(c, "q", n, x[n]) for c, held, x in errors if x is not None for n in held]
        rates = [(c, held, c.rate(kin)) for c, held in equalities]
        return found + [(c, "v", n, x[n]) for c, held, x in rates for n in held]

    def violations(model, inputs):
        return [absolute(residual) > CONSTRAINT_TOLERANCE for *_, residual in residuals(model, inputs)]

    def explain(model, inputs, index):
        c, at, n, residual = residuals(model, inputs)[index]
        return c.violation(at, n, float(residual))

    return Domain(name, ("q", "v", "t"), violations, explain, "ConstraintError", meaning)


CONSTRAINTS = _satisfied("constraints of joints", lambda c: not c.frames, "q or v breaks a constraint.")
CLOSED_LOOPS = _satisfied("closed loops", lambda c: bool(c.frames), "q or v breaks a constraint.")


GIVEN_MOTIONS = Domain("time of constraints", (), lambda model, inputs: [], None)
"""No condition: marks functions that solve for constraints, so that they take the time on which these depend."""


def _rates_of_rows(model, inputs):
    """(constraint, row, residual of ``G a = k``, size of its terms) of all rows that hold loops closed.

    Of those that others imply but for rounding nothing is required, as of positions and velocities.
    """
    now, a = model.at(inputs["t"]) if "t" in inputs else model, inputs["a"]
    kin, left_out = Kinematics(now, inputs["q"], inputs["v"]), model.loop_rows().inexact
    for c, numbers in model.constraint_rows():
        if c.row_kind == "equality" and c.frames and not c.velocity_map(kin):
            for n, row, bias in zip(numbers, c.rows(kin), c.bias(kin), strict=True):
                if n not in left_out:
                    terms = [bias, *(x * a[k] for k, x in row.items())]
                    yield c, n - numbers.start, sum(terms), sum((absolute(x) for x in terms), start=1.0)


def _leaving(model, inputs):
    return [absolute(x) > CONSTRAINT_TOLERANCE * size for _, _, x, size in _rates_of_rows(model, inputs)]


def _leaving_error(model, inputs, index):
    c, n, residual, _ = list(_rates_of_rows(model, inputs))[index]
    return ConstraintError(
        f"a breaks the {c} by {abs(float(residual)):.3g} {c.rate_unit(n, '/s^2')} (row {n}), so no forces cause it. "
        "kt.closed_loops.accelerations(model, q, v, a_independent) gives those of all joints from independent ones",
        row=n,
        residual=float(residual),
    )


IN_LOOPS = Domain(
    "accelerations of loops",
    ("q", "v", "a", "t"),
    _leaving,
    _leaving_error,
    "ConstraintError",
    "a does not keep a loop closed.",
)


def _bounded_rates(model, inputs):
    """(constraint, velocity coordinate, whether the lower limit, excess of the acceleration) of all bounded rows."""
    now = model.at(inputs["t"]) if "t" in inputs else model
    kin, found = Kinematics(now, inputs["q"], inputs["v"]), []
    for c in model.constraints:
        if c.row_kind == "box":
            for n, (row, bias, law) in enumerate(zip(c.rows(kin), c.bias(kin), c.laws(kin), strict=True)):
                a = sum((x * inputs["a"][k] for k, x in row.items()), start=bias)
                sides = ((True, law.lower, law.lower - a), (False, law.upper, a - law.upper))
                found += [(c, n, below, a, excess) for below, bound, excess in sides if not infinite(bound)]
    return found


def _passing(model, inputs):
    return [excess > CONSTRAINT_TOLERANCE for *_, excess in _bounded_rates(model, inputs)]


def _passing_error(model, inputs, index):
    c, n, below, a, _ = _bounded_rates(model, inputs)[index]
    side, sign = ("lower", "negative") if below else ("upper", "positive")
    name = c.joint_of(model, n)
    return ConstraintError(
        f"joint {name!r} is at its {side} limit and does not move away from it, so no forces give it the {sign} "
        f"acceleration {float(a):.6g} ({c}). Start inside the limit, or leave the constraint out.",
        joint=name,
    )


NOT_PASSING = Domain(
    "accelerations at limits",
    ("q", "v", "a", "t"),
    _passing,
    _passing_error,
    "ConstraintError",
    "a passes a hard limit.",
)


def _central_pivots(model):
    """``(i, mass, trace, pivots)`` of the rotational inertia of each body about its center of mass.

    The list of pivots ends with the first structural zero.
    """
    for i in model.outward():
        m, h, I = model.I[i].m, model.I[i].h, model.I[i].I
        if is_zero(m):
            yield i, m, 0.0, [0.0]
            continue
        if not hasattr(h, "z"):  # a planar body has one moment of inertia
            yield i, m, I, [I - h.dot(h) / m]
            continue
        J = (model.I[i] - Inertia.from_com(m, h / m, Symmetric3.zero())).I
        rows, pivots = [[J.xx], [J.xy, J.yy], [J.xz, J.yz, J.zz]], []
        for k in range(3):
            pivots.append(rows[k][k])
            if _vanishes(pivots[-1]):
                break
            for r in range(k + 1, 3):
                for c in range(k + 1, r + 1):
                    rows[r][c] = rows[r][c] - rows[r][k] * rows[c][k] / pivots[-1]
        yield i, m, J.trace, pivots


def _vanishes(x):
    """Whether x is zero for all numbers: a structural zero, or traced and folded to one."""
    return is_zero(x) or is_zero(getattr(x, "constant", None))


def _inertia_violations(model, inputs):
    return [pivot <= trace * ROD for _, _, trace, pivots in _central_pivots(model) for pivot in pivots]


def _inertia_error(model, inputs, index):
    i, m = [(i, m) for i, m, _, pivots in _central_pivots(model) for _ in pivots][index]
    what = "is massless" if is_zero(m) else "is a point or a rod, without inertia about some axis"
    return InertiaError(
        f"body {model.body_names[i]!r} {what}: it has no inverse inertia, which this formulation of forward dynamics "
        "needs. Use aba or divide_and_conquer.",
        body=model.body_names[i],
    )


def refuse_rods(model):
    """Raise InertiaError where, by the structure alone, a body has no inverse inertia."""
    flat = [pivot for *_, pivots in _central_pivots(model) for pivot in pivots]
    for index, pivot in enumerate(flat):
        if _vanishes(pivot):
            raise _inertia_error(model, {}, index)


INVERTIBLE_INERTIAS = Domain(
    "invertible inertias",
    (),
    _inertia_violations,
    _inertia_error,
    "InertiaError",
    "A body is massless, a point or a rod: it has no inverse inertia.",
)
