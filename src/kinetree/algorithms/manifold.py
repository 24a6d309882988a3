"""The configuration manifold: steps, differences and rates of positions, joint by joint."""

from __future__ import annotations

from kinetree.algorithms.domain import QUATERNION_DIRECTIONS, unit_quaternions
from kinetree.algorithms.spec import algorithm
from kinetree.spatial.scalar import is_zero


def _each_joint(model, method, *arrays):
    """Concatenate ``joint.method(slices of the arrays)`` over the joints; each array is ("q"|"v", values)."""
    result = []
    for i in model.outward():
        parts = [(model.q_of if kind == "q" else model.v_of)(i, x) for kind, x in arrays]
        result.extend(getattr(model.joints[i], method)(*parts))
    return result


@algorithm(inputs="q v", outputs="q_dot", body_frames=None)
def q_dot(model, q, v):
    """Time derivative of the positions, which differs from v for quaternions and free bodies.

    Notes
    -----
    Source: Featherstone (2008), eq. 3.7 and 4.13.
    """
    return _each_joint(model, "q_dot", ("q", q), ("v", v))


@algorithm(inputs="q dv", outputs="q_next", body_frames=None)
def integrate(model, q, dv):
    """Positions after a finite step along the manifold, exact for a constant velocity ``dv / time``.

    Notes
    -----
    Source: the exponential map of each joint's group (Holzinger et al.). Identity: ``difference(q, integrate(q, dv))
    = dv`` for rotations below pi.
    """
    return _each_joint(model, "normalize", ("q", _each_joint(model, "integrate", ("q", q), ("v", dv))))


def straight_step(model, q, v, h):
    """The state after a time h in which velocities are constant in the axes of the start (`Joint.straight_step`)."""
    q_next, v_next = [], []
    for i in model.outward():
        q_i, v_i = model.joints[i].straight_step(model.q_of(i, q), model.v_of(i, v), h)
        q_next.extend(model.joints[i].normalize(q_i))
        v_next.extend(v_i)
    return q_next, v_next


def straight_rates(model, q, v) -> list:
    """dv/dt of velocities that are constant in the axes of the start (`Joint.straight_rate`)."""
    return _each_joint(model, "straight_rate", ("q", q), ("v", v))


@algorithm(inputs="q0 q1", outputs="dv", domains=(unit_quaternions("q0"), unit_quaternions("q1")), body_frames=None)
def difference(model, q0, q1):
    """The shortest step that leads from one position to another.

    Notes
    -----
    Source: the logarithm of each joint's group (Holzinger et al.).

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> body = kt.models.free_body()
    >>> turned = [0.0, 0.0, 0.0, np.cos(0.1), 0.0, 0.0, np.sin(0.1)]
    >>> with kt.interpreted():
    ...     dv = kt.difference(body, body.neutral(), turned)
    ...     again = kt.integrate(body, body.neutral(), dv)
    >>> dv.round(12).tolist(), np.allclose(again, turned)
    ([0.0, 0.0, 0.2, 0.0, 0.0, 0.0], True)
    """
    return _each_joint(model, "difference", ("q", q0), ("q", q1))


@algorithm(
    inputs="q",
    outputs="q_unit",
    domains=(QUATERNION_DIRECTIONS,),
    body_frames=None,
    symbols={"q": "Joint positions [rad or m; quaternions (w, x, y, z), longer than 1e-8]."},
)
def normalize(model, q):
    """The same positions with quaternions of unit length.

    Notes
    -----
    Source: Featherstone (2008), section 4.5: integration lets the length drift, which scales the whole supported
    subtree.
    """
    return _each_joint(model, "normalize", ("q", q))


@algorithm(inputs="q v", outputs="q_regular v_regular", body_frames=None)
def reparameterize(model, q, v):
    """The same state in joint coordinates far from their singularities.

    Only joints whose coordinates come in several charts change theirs (``SphericalExponential``, near a full turn), and
    of these only where nothing that stores energy depends on the chart: springs, position limits and armatures are
    stated in the coordinates themselves.

    Notes
    -----
    Source: Sueda, section 2.4.8: ``q' = (1 - 2 pi / |q|) q`` and ``v' = S(q')^-1 S(q) v``. The integrators do this
    after every step.
    """
    q_regular, v_regular = [], []
    for i in model.outward():
        joint, q_i, v_i = model.joints[i], model.q_of(i, q), model.v_of(i, v)
        if may_change_chart(model, i):
            q_i, v_i = joint.reparameterize(q_i, v_i)
        q_regular.extend(q_i)
        v_regular.extend(v_i)
    return q_regular, v_regular


def may_change_chart(model, i: int) -> bool:
    """Whether joint i has several charts, and no energy that depends on which one is taken."""
    slot = model.v_slice[i]
    return (
        model.joints[i].several_charts
        and not any(model.has_limit(k) or not is_zero(model.armature[k]) for k in range(slot.start, slot.stop))
        and not any(force.energy_channel for force in model.joint_forces[i])
    )


@algorithm(inputs="xi v", outputs="xi_dot")
def tangent_rate(model, xi, v):
    """Rate of the step xi while the position ``integrate(q0, xi)`` moves with velocity v.

    Notes
    -----
    Source: Munthe-Kaas' form of Runge-Kutta methods on Lie groups (Holzinger et al.). Equal to v for joints whose
    positions form a vector space.
    """
    return _each_joint(model, "tangent_rate", ("v", xi), ("v", v))


@algorithm(inputs="q v", outputs="q_coupled v_coupled", domains=(), body_frames=None)
def apply_couplings(model, q, v):
    """Positions and velocities in which every coupled joint follows its master.

    Notes
    -----
    Source: Featherstone (2008), section 9.6: ``q_joint = ratio q_master + offset``.
    """
    q, v = list(q), list(v)
    for c in model.couplings:
        q[model.q_index(c.joint).start] = q[model.q_index(c.master).start] * c.ratio + c.offset
        v[model.v_index(c.joint).start] = v[model.v_index(c.master).start] * c.ratio
    return q, v
