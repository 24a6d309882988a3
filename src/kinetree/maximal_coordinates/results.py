"""What a system in maximal coordinates gives: accelerations, steps, and the terms of its equation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Solution(NamedTuple):
    """Accelerations of a system in maximal coordinates.

    Attributes
    ----------
    accelerations : (n, 6) array
        Rates of the twists of the bodies, [angular; linear] in body coordinates [rad/s^2, m/s^2].
    multipliers : (nc,) array
        Forces along the rows of the constraints [N m or N], in the order of ``row_names``; zero for rows left out.
    wrenches : (n_joints, 6) array
        Wrench [moment; force] that each joint exerts on ``joint_bodies``, in the coordinates of that body [N m, N]: of
        constraint and of actuator, and in systems of a model of the springs and dampers of its joints. Forces of
        other elements are not in it.
    """

    accelerations: np.ndarray
    multipliers: np.ndarray
    wrenches: np.ndarray


class Step(NamedTuple):
    """The end of a step, and the mean forces during it.

    Attributes
    ----------
    q : (nq,) array
        Positions of ``model`` [m; unit quaternions].
    v : (nv,) array
        Twists [rad/s, m/s].
    multipliers : (nc,) array
        Mean forces along the rows [N m or N].
    wrenches : (n_joints, 6) array
        Mean wrenches of the joints [N m, N], as those of `Solution`.
    x : (nx,) array
        Internal states of force elements [as the elements define them].
    """

    q: np.ndarray
    v: np.ndarray
    multipliers: np.ndarray
    wrenches: np.ndarray
    x: np.ndarray


class Equation(NamedTuple):
    """The terms of the equation of motion in one state.

    Attributes
    ----------
    M : (nv, nv) sparse array
        Inertias of the bodies, and armatures along the motions of joints [kg m^2, kg m and kg].
    f : (nv,) array
        Forces on the bodies in their coordinates [N m, N]: weight, gyroscopic forces, force elements, actuators.
    G : (nc, nv) sparse array
        Rows of the equality constraints [1 or m].
    bias : (nc,) array
        ``dG/dt Phi`` [m/s^2 or rad/s^2].
    phi : (nc,) array
        Errors of position [m or rad], zero for rows that hold velocities alone.
    E : (nj, nv) sparse array
        Rates of the coordinates of the joints are ``E Phi + E_driven``, where joints are closed [1, m or 1/m].
    E_bias : (nj,) array
        ``dE/dt Phi``, and the rate of ``E_driven`` [rad/s^2 or m/s^2].
    driven : (nc,) array
        ``G Phi`` of rows that depend on time, else zero [rad/s or m/s].
    E_driven : (nj,) array
        Of joints that a moving frame carries, else zero [rad/s or m/s].

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> system = kt.maximal(kt.models.double_pendulum())
    >>> q, v = system.state([0.3, -0.2], [1.0, 2.0])
    >>> terms = system.equation(q, v)
    >>> terms.M.shape, terms.G.shape
    ((12, 12), (10, 12))
    >>> bool(abs(terms.G @ v).max() < 1e-9 and abs(terms.phi).max() < 1e-9)  # closed
    True
    """

    M: object
    f: np.ndarray
    G: object
    bias: np.ndarray
    phi: np.ndarray
    E: object
    E_bias: np.ndarray
    driven: np.ndarray
    E_driven: np.ndarray
