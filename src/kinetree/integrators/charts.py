"""Coordinates of a step: how positions follow from xi, and how fast xi changes.

Within a step from q the unknowns are (xi, v), which live in a vector space; a chart defines the position ``q (+) xi``
of xi, and its rate. `EXACT_TANGENT` is the exponential of the joints' groups with the exact inverse of its tangent map.
The classical methods of Munthe-Kaas truncate the series of that inverse, as far as their order allows:
`TRUNCATED_TANGENTS`, by number of brackets. Terze's step is taken in the `PRODUCT_GROUP` of a free body's positions and
orientations.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kinetree.algorithms.manifold import integrate, tangent_rate
from kinetree.algorithms.spec import ALGORITHMS, Spec
from kinetree.integrators.kernels import part
from kinetree.joints import Free
from kinetree.joints.dual import Dual
from kinetree.joints.spherical import turned
from kinetree.liegroup.so3 import right_jacobian_solve
from kinetree.spatial import Vector3
from kinetree.spatial.rotations import quaternion_to_rotation


@dataclass(frozen=True, slots=True, eq=False)
class Chart:
    """Coordinates of a step on the manifold of positions.

    Attributes
    ----------
    name : str
    move : callable
        ``move(model, q, xi)``: the position reached from q by xi.
    rate : callable
        ``rate(model, q, xi, w)``: the rate of xi where the position is q and the velocity w.
    first : callable
        ``first(model, q, v)``: the rate of xi where the step begins, that is at xi = 0.
    position : Spec
        ``move`` as a function of q and dv that can be compiled.
    """

    name: str
    move: Callable
    rate: Callable
    first: Callable
    position: Spec


def _velocity(model, q, v):
    return list(v)


def _exact(model, q, xi, w):
    return tangent_rate(model, xi, w)


def truncated(brackets: int) -> Callable:
    """The rate of xi by the series of the inverse tangent map up to so many brackets.

    ``xi' = v + [xi, v] / 2 + [xi, [xi, v]] / 12``, the sign being that of the body's side; the term with three brackets
    is zero. The terms are the Taylor polynomial in xi of the joint's own exact rate.
    """

    def rate(model, q, xi, w):
        result = []
        for i in model.outward():
            result += _polynomial(model.joints[i], model.v_of(i, xi), model.v_of(i, w), min(brackets, 2))
        return result

    return rate


def _polynomial(joint, xi, w, degree: int) -> list:
    """Taylor polynomial of ``tangent_rate(s xi, w)`` at s = 1 about s = 0, by duals within duals."""
    if degree == 0:
        return list(w)
    if degree == 1:
        moving = [Dual(0.0, x) for x in xi]
        return [_value(y) + _rate(y) for y in joint.tangent_rate(moving, w)]
    moving = [Dual(Dual(0.0, x), Dual(x, 0.0)) for x in xi]
    rates = []
    for y in joint.tangent_rate(moving, w):
        value, first = _value(y), _rate(y)
        rates.append(_value(value) + _rate(value) + 0.5 * _rate(first))
    return rates


def _value(y):
    return y.value if isinstance(y, Dual) else y


def _rate(y):
    return y.rate if isinstance(y, Dual) else 0.0


def _product(model, q, dv):
    """Positions of free bodies in a straight line, orientations by the exponential of unit quaternions."""
    result = []
    for i in model.outward():
        joint, q_i, dv_i = model.joints[i], model.q_of(i, q), model.v_of(i, dv)
        if isinstance(joint, Free):
            result += [*(x + dx for x, dx in zip(q_i[:3], dv_i[3:], strict=True)), *turned(q_i[3:7], dv_i[:3])]
        else:
            result += joint.integrate(q_i, dv_i)
    return result


def _product_rate(model, q, xi, w):
    result = []
    for i in model.outward():
        joint, xi_i, w_i = model.joints[i], model.v_of(i, xi), model.v_of(i, w)
        if isinstance(joint, Free):
            turning = right_jacobian_solve(Vector3(*xi_i[:3]), Vector3(*w_i[:3]))
            result += [*turning, *_velocity_of_origin(model.q_of(i, q), w_i)]
        else:
            result += joint.tangent_rate(xi_i, w_i)
    return result


def _product_first(model, q, v):
    result = []
    for i in model.outward():
        v_i = model.v_of(i, v)
        free = isinstance(model.joints[i], Free)
        result += [*v_i[:3], *_velocity_of_origin(model.q_of(i, q), v_i)] if free else v_i
    return result


def _velocity_of_origin(q, v):
    """Rate of a free joint's position in predecessor coordinates."""
    return quaternion_to_rotation(q[3:7]).inverse_apply(Vector3(*v[3:]))


_PRODUCT = part("product_position", _product, "q[nq] dv[nv]", "q_next[nq]", domains=(), body_frames=None)
_POSITION = ALGORITHMS["integrate"]

EXACT_TANGENT = Chart("exact", integrate, _exact, _velocity, _POSITION)
TRUNCATED_TANGENTS = tuple(Chart(f"truncated_{m}", integrate, truncated(m), _velocity, _POSITION) for m in range(3))
PRODUCT_GROUP = Chart("product_group", _product, _product_rate, _product_first, _PRODUCT)
