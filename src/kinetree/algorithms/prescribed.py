"""The power of prescribed motions: joints that depend on time have a velocity of their own.

Book (eqs. 3.31-3.39)  here
``sigma``              ``sigma``: the part of a joint's velocity that needs no velocity variable
``f_J``                ``f[i]``: the force that joint i transmits to its body
"""

from __future__ import annotations

from kinetree.algorithms.rnea import transmitted_forces
from kinetree.algorithms.spec import algorithm


@algorithm(inputs="q v a", optional="f_ext", outputs="power")
def prescribed_power(model, q, v, a, f_ext=None):
    r"""Power that prescribed motions feed into the mechanism.

    .. math:: P = \sum_i f_i \cdot \sigma_i

    Notes
    -----
    Source: Featherstone (2008), section 3.5: the power of a joint is ``f_J . v_J``, of which ``f_J . sigma`` belongs to
    the prescribed motion and ``tau . v`` to the joint forces.
    Cost: O(nb). Identity: ``d(T + U)/dt = tau @ v + power`` for the kinetic energy T and the potential energy U,
    without external wrenches.

    See Also
    --------
    rnea, kinetic_energy, potential_energy

    Examples
    --------
    A load of 2 kg is hoisted at 0.5 m/s:

    >>> import kinetree as kt
    >>> b = kt.ModelBuilder("hoist")
    >>> hoist = kt.joints.MovingFrame((0.0, 0.0, kt.joints.Polynomial((0.0, 0.5))))
    >>> b.add_body("load", "world", hoist, "hoist", mass=2.0, com=(0.0, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
    >>> round(float(kt.dynamics.prescribed_power(b.build(), [], [], [], 0.0)), 12)
    9.81
    """
    f, power = transmitted_forces(model, q, v, a, f_ext), 0.0
    for i in model.outward():
        if model.joints[i].rheonomic:
            power = power + model.joints[i].sigma(model.q_of(i, q)).dot(f[i])
    return power
