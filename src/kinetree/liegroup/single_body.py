"""Lie-group Runge-Kutta steps of order 4 for one free body: in unified velocities, and Terze's on unit quaternions.

Both solve the equation of the incremental motion vector in R^n by the classical method, from zero in every step, and
move the pose by its exponential; so nothing drifts off the group. For whole models the same methods are integrators of
``kt.simulate``, and :class:`~kinetree.joints.FreeUnified` brings the unified velocities into any tree.

Source: Holzinger et al., eqs. 79 to 87; Z. Terze, A. Mueller, D. Zlatar, "Singularity-free time integration of
rotational quaternions using non-redundant ordinary differential equations", Multibody System Dynamics 38 (2016).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kinetree.arguments import a_callable, a_scalar, an_instance, checked, scalars
from kinetree.errors import NonFiniteError
from kinetree.liegroup.se3 import exp_se3
from kinetree.liegroup.so3 import quaternion_exp, right_jacobian_solve
from kinetree.liegroup.unified import Projection
from kinetree.spatial.inertia import Inertia
from kinetree.spatial.motion import Motion
from kinetree.spatial.rotations import quaternion_product
from kinetree.spatial.transform import Transform
from kinetree.spatial.vectors import Symmetric3, Vector3

NO_FORCE = (0.0,) * 6


@checked(
    projection=an_instance(Projection),
    inertia=an_instance(Inertia),
    h=a_scalar,
    X=an_instance(Transform),
    w=scalars(6),
    t=a_scalar,
    force=a_callable,
)
def unified_rk4_step(
    projection: Projection,
    inertia: Inertia,
    h,
    X: Transform,
    w: Sequence,
    *,
    t=0.0,
    force: Callable | None = None,
) -> tuple[Transform, list]:
    """One step of the Lie-group Runge-Kutta method on SE(3) in unified velocities (eqs. 82 to 87).

    Parameters
    ----------
    projection : Projection
        The six velocities.
    inertia : Inertia
        About the body's origin [kg, kg m, kg m^2].
    h : scalar
        Step [s].
    X : Transform
        Pose: coordinate transform from the world to the body; H = ``[[X.E^T, X.r], [0, 1]]``.
    w : sequence of six scalars
        Unified velocities [m/s].
    t : scalar
        Time [s].
    force : callable, optional
        ``force(t, X, w)``: six generalized forces Q [N]; none by default.

    Returns
    -------
    X : Transform
    w : list of six scalars

    Notes
    -----
    *Differs* K_1 = h D^-1 w in every step, since the incremental motion vector starts from zero in each; and forces are
    evaluated at the poses H exp(K/2), H exp(K) of the stages, without which the order falls to 1.

    Examples
    --------
    A body that turns steadily about its axis turns by h times its rate:

    >>> from kinetree.spatial import Symmetric3
    >>> cube, body = Projection.hexahedral(), Inertia.from_com(1.0, Vector3.zero(), Symmetric3.diagonal(1.0, 2.0, 3.0))
    >>> w = cube.coordinates(Motion.of([0.0, 0.0, 2.0, 0.0, 0.0, 0.0]))
    >>> X, w = unified_rk4_step(cube, body, 0.1, Transform.identity(), w)
    >>> round(float(X.E.matrix[0, 1]), 12)  # sin(0.2)
    0.198669330795
    """

    def rates(time, n, w):
        """(K, k) / h at the incremental motion vector n."""
        Q = NO_FORCE if force is None else force(time, exp_se3(n) @ X, tuple(w))
        try:
            return projection.incremental_rate(n, w), projection.acceleration(inertia, w, Q)
        except ZeroDivisionError as error:  # of coefficients that floats round to zero
            raise NonFiniteError(
                f"unified_rk4_step: within the step h = {h!r} s the numbers leave the range of floats; "
                "take a shorter one.",
                h=h,
            ) from error

    n, w = _rk4(rates, t, h, Motion.zero(), w)
    return exp_se3(n) @ X, w


@checked(
    J=an_instance(Symmetric3),
    h=a_scalar,
    quaternion=scalars(4),
    omega=an_instance(Vector3),
    t=a_scalar,
    torque=a_callable,
)
def terze_rk4_step(
    J: Symmetric3, h, quaternion: Sequence, omega: Vector3, *, t=0.0, torque: Callable | None = None
) -> tuple[tuple, Vector3]:
    """One step of Terze's method for the rotation of a body: the unit quaternion is never normalized, and stays one.

    Parameters
    ----------
    J : Symmetric3
        Rotational inertia about the center of mass, or the fixed point [kg m^2].
    h : scalar
        Step [s].
    quaternion : sequence of four scalars
        Orientation (w, x, y, z), from body to world.
    omega : Vector3
        Angular velocity in body coordinates [rad/s].
    t : scalar
        Time [s].
    torque : callable, optional
        ``torque(t, quaternion, omega)``: Vector3 in body coordinates [N m]; none by default.

    Returns
    -------
    quaternion : tuple of four scalars
    omega : Vector3

    Examples
    --------
    >>> q, omega = terze_rk4_step(Symmetric3.diagonal(1.0, 2.0, 3.0), 0.1, (1.0, 0.0, 0.0, 0.0), Vector3(0.0, 0.0, 2.0))
    >>> round(q[3], 12)  # sin(0.1)
    0.099833416647
    """
    J_inverse = J.inverse

    def rates(time, u, omega):
        """Rates of the incremental rotation vector u and of the angular velocity."""
        omega = Vector3(*omega)
        moment = (J @ omega).cross(omega)
        if torque is not None:
            moment = moment + torque(time, quaternion_product(quaternion, quaternion_exp(u)), omega)
        return right_jacobian_solve(u, omega), list(J_inverse @ moment)

    u, omega = _rk4(rates, t, h, Vector3.zero(), list(omega))
    return quaternion_product(quaternion, quaternion_exp(u)), Vector3(*omega)


def _rk4(rates: Callable, t, h, zero, w: list) -> tuple:
    """The incremental motion from zero and the velocities after a step of the classical method."""
    half = 0.5 * h
    K1, k1 = rates(t, zero, w)
    K2, k2 = rates(t + half, K1 * half, _moved(w, k1, half))
    K3, k3 = rates(t + half, K2 * half, _moved(w, k2, half))
    K4, k4 = rates(t + h, K3 * h, _moved(w, k3, h))
    n = (K1 + (K2 + K3) * 2.0 + K4) * (h / 6.0)
    k = [a + 2.0 * (b + c) + d for a, b, c, d in zip(k1, k2, k3, k4, strict=True)]
    return n, _moved(w, k, h / 6.0)


def _moved(w, rate, h):
    return [x + h * dx for x, dx in zip(w, rate, strict=True)]
