"""Linearization of a model about a state: A and B of its independent positions and velocities, and the trim torque."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.algorithms.joint_sets import independent_coordinates
from kinetree.analysis.torque_family import torque_family
from kinetree.arguments import a_model, array, checked
from kinetree.compiler.calls import public_call
from kinetree.compiler.time_argument import time_input
from kinetree.errors import ConstraintError

TRIM = 1e-6  # of the forces at a trim point: less is rounding, and errors of positions


@dataclass(frozen=True)
class Linearization:
    """``dz/dt = A z + B (tau - tau_0)`` of small changes z of independent positions and velocities.

    Attributes
    ----------
    A : (2*ny, 2*ny) array
        [1/s, and 1 or 1/s^2].
    B : (2*ny, p) array
        By the torques of the motors [1/(kg m^2), 1/(kg m) or 1/kg].
    tau : (nv,) array
        Torques at the state, ``tau_0`` [N m or N].
    a : (nv,) array
        Accelerations there, zero at a trim point [rad/s^2 or m/s^2].
    G : (nv, ny) array
        Changes of all positions by those of independent ones [1, m or 1/m].
    states : tuple of str
        Velocity coordinates along which z is measured, first for positions.
    inputs : tuple of str
        Velocities with motors.
    """

    A: np.ndarray
    B: np.ndarray
    tau: np.ndarray
    a: np.ndarray
    G: np.ndarray
    states: tuple[str, ...]
    inputs: tuple[str, ...]


@checked(model=a_model)
def linearize(model, q, v=None, tau=None, *, actuated=None, independent=None, f_ext=None, t=None) -> Linearization:
    """Linearize a model, with or without loops, about a state.

    Parameters
    ----------
    model : Model
    q : (nq,) array
        Joint positions with closed loops [rad or m; quaternions unit, (w, x, y, z)].
    v : (nv,) array, optional
        Joint velocities [rad/s or m/s]. Default: at rest.
    tau : (nv,) array, optional
        Torques at the state [N m or N]. Default: the trim torques, those of least norm over the motors at which the
        independent velocities do not change.
    actuated : sequence of str, optional
        Names of the joints with motors, or labels of velocities. Default: all.
    independent : sequence of str, optional
        Names of joints, or labels of velocities, that determine all others. Default:
        ``model.independent_velocities()``.
    f_ext : (nb, 6) array, optional
        External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin; constant.
    t : float, optional
        Time [s], for models that depend on it; constant.

    Returns
    -------
    Linearization

    Raises
    ------
    ConstraintError
        q or v breaks a loop, or no torques of the motors hold this state.
    UnsupportedError
        The model has constraints on velocities alone, or bounded forces.
    ShapeError, NonFiniteError, UnknownNameError, DuplicateNameError, ArgumentError

    Notes
    -----
    Source: `closed_loops_linearization`, whose compiled code gives A and B of many states. Stable and unstable modes
    are the eigenvalues of A; `scipy.linalg.solve_continuous_are` takes A and B.

    See Also
    --------
    kinetree.dynamics.forward_dynamics_derivatives, torque_family

    Examples
    --------
    A pendulum that stands on its head: small angles grow with the rate sqrt(g / l).

    >>> import kinetree as kt, numpy as np
    >>> found = kt.closed_loops.linearize(kt.models.pendulum(length=2.0), [np.pi])
    >>> found.A.round(6).tolist(), bool(np.isclose(np.linalg.eigvals(found.A).max() ** 2, 9.81 / 2.0))
    ([[0.0, 1.0], [4.905, 0.0]], True)
    """
    q = array("linearize: q", q, shape=(model.nq,))
    v = np.zeros(model.nv) if v is None else array("linearize: v", v, shape=(model.nv,))
    free = independent_coordinates(model, independent)

    def call(name, *arrays, **options):
        return public_call(name)(model, q, *arrays, **time_input(name, model, t), **options)

    still = call("closed_loops_accelerations", v, np.zeros(len(free)), independent=independent)
    family = torque_family(model, q, v, still, actuated=actuated, f_ext=f_ext, t=t)
    if tau is None:
        tau = family.tau
        needed, missing = np.abs(tau).max(initial=0.0), np.abs(family.missing).max(initial=0.0)
        if missing > TRIM * max(1.0, needed):
            raise ConstraintError(
                f"linearize: no torques at {', '.join(family.labels) or 'no joint'} hold this state of model "
                f"{model.name!r}; joint forces of up to {missing:.3g} are missing. Give tau, or a state in equilibrium",
                model=model.name,
            )
    else:
        tau = array("linearize: tau", tau, shape=(model.nv,))
    A, B = call("closed_loops_linearization", v, tau, f_ext=f_ext, independent=independent)
    a = call("forward_dynamics", v, tau, f_ext=f_ext)
    G = call("closed_loops_null_space", independent=independent)
    motors = [model.velocity_labels.index(name) for name in family.labels]
    states = tuple(model.velocity_labels[k] for k in free)
    return Linearization(A, B[:, motors], tau, a, G, states, family.labels)
