"""The system in maximal coordinates of a Model, and the maps of states between both kinds of coordinates."""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.kinematics import world_transforms
from kinetree.arguments import a_model, array, checked
from kinetree.constraints import LoopJoint
from kinetree.maximal_coordinates import free_bodies
from kinetree.maximal_coordinates.system import System
from kinetree.spatial.rotations import quaternion_from_rotation
from kinetree.state_kinematics import body_twists


class MaximalSystem(System):
    """A Model in maximal coordinates; see `kinetree.maximal`.

    Attributes
    ----------
    reduced : Model
        The model in joint coordinates. ``tau`` of all methods are its joint forces; ``wrenches`` are, for every body in
        order, those of its joint, and then those of loop joints.
    """

    _who = "maximal"

    def __init__(self, model) -> None:
        self.reduced = model
        system, inertias = free_bodies.freed(model)
        loops = dict(system.loop_joints())
        ends = {model.joint_name(i): i for i in model.outward()}
        self._prepare(system, inertias, _kept(model, system), free_bodies.coupled(model), ends, model.armature,
                      free_bodies.with_joint_forces(model))  # fmt: skip
        offsets = np.cumsum([0, *(loop.joint.nq for loop in loops.values())]).tolist()
        place = dict(zip(loops, offsets, strict=False))
        self._positions = np.array(
            [place[name] + k for name, i in ends.items() for k in range(model.joints[i].nq)], int
        )

    def state(self, q, v) -> tuple[np.ndarray, np.ndarray]:
        """Positions and twists of the bodies in a state of the reduced model.

        Parameters
        ----------
        q : (nq,) array
            Joint positions [rad or m].
        v : (nv,) array
            Joint velocities [rad/s or m/s].

        Returns
        -------
        q : (nq,) array
            Positions of ``model`` [m; unit quaternions].
        v : (nv,) array
            Twists [rad/s, m/s].
        """
        model = self.reduced
        q, v = array("state: q", q, shape=(model.nq,)).tolist(), array("state: v", v, shape=(model.nv,)).tolist()
        X_0, (_, V) = world_transforms(model, q), body_twists(model, q, v)
        poses = [[*X_0[i].r, *quaternion_from_rotation(X_0[i].E)] for i in model.outward()]
        return np.array(poses, float).ravel(), np.array([list(V[i]) for i in model.outward()], float).ravel()

    def reduced_state(self, q, v) -> tuple[np.ndarray, np.ndarray]:
        """Joint positions and velocities at the poses and twists of the bodies.

        Parameters
        ----------
        q : (nq,) array
            Positions of ``model`` [m; unit quaternions].
        v : (nv,) array
            Twists [rad/s, m/s].

        Returns
        -------
        q : (nq,) array
            Joint positions [rad or m]; angles between -pi and pi.
        v : (nv,) array
            Joint velocities [rad/s or m/s].

        Notes
        -----
        Where joints are open the nearest positions are taken (``Joint.loop_coordinates``).
        """
        _, _, _, coordinates, rows, *_ = self._terms(self._bodies, q, v)
        return self._joint_positions(coordinates), (self._E.matrix(rows) @ np.asarray(v, float))[self._of_tau]

    def reduced_accelerations(self, q, v, accelerations) -> np.ndarray:
        """Joint accelerations that belong to rates of the twists.

        Parameters
        ----------
        q : (nq,) array
            Positions of ``model`` [m; unit quaternions].
        v : (nv,) array
            Twists [rad/s, m/s].
        accelerations : (n, 6) array
            Rates of the twists [rad/s^2, m/s^2].

        Returns
        -------
        (nv,) array
            [rad/s^2 or m/s^2].
        """
        rates = array("accelerations", accelerations, shape=(self.n, 6)).ravel()
        *_, rows, bias, _ = self._terms(self._bodies, q, v)
        return (self._E.matrix(rows) @ rates + bias)[self._of_tau]

    def _joint_positions(self, coordinates) -> np.ndarray:
        return np.asarray(coordinates)[self._positions]


def _kept(model, system) -> list[int]:
    """Rows of the system: all of the joints of the tree, and of the others those that the model solves for."""
    independent, wanted = set(model.independent_rows()), []
    loops = iter([n for c, n in model.constraint_rows() if isinstance(c, LoopJoint)])
    frames = iter([n for c, n in model.constraint_rows() if not c.joints and not isinstance(c, LoopJoint)])
    tree = {id(loop) for name, loop in system.loop_joints() if name in model.joint_names}
    for c, numbers in system.constraint_rows():
        if id(c) in tree:
            wanted += numbers
        else:
            source = next(loops if isinstance(c, LoopJoint) else frames)
            wanted += [n for n, m in zip(numbers, source, strict=True) if m in independent]
    return sorted(wanted)


@checked(model=a_model)
def maximal(model) -> MaximalSystem:
    r"""A model in maximal coordinates: its bodies in SE(3), and the constraints of all its joints.

    Parameters
    ----------
    model : Model
        With loops, couplings of joints and force elements.

    Returns
    -------
    MaximalSystem
        Bodies keep their names and frames. ``state`` and ``reduced_state`` map states, ``accelerations`` and ``step``
        compute; see `kinetree.maximal_coordinates.System`.

    Raises
    ------
    UnsupportedError
        The model is planar, or has gears, joints that depend on time, or bounded forces.
    InertiaError
        A body has no inertia of its own.

    Notes
    -----
    Source: Sueda, chapter 1. Constraints between coordinates of joints act on ``v = E Phi``, the rates of the
    coordinates that the twists of the bodies give: ``G_m = G_r E``. Armatures are inertias along these rows.
    Springs, dampers and stops of joints act along these rows, too.
    Identities: the accelerations are those of `forward_dynamics`; the wrenches those of `dynamics.joint_wrenches`.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm = kt.models.double_pendulum()
    >>> system = kt.maximal(arm)
    >>> system.n, system.nc
    (2, 10)
    >>> q, v = system.state([0.3, -0.5], [1.0, 2.0])
    >>> found = system.accelerations(q, v, tau=[0.1, 0.2])
    >>> a = kt.forward_dynamics(arm, [0.3, -0.5], [1.0, 2.0], [0.1, 0.2])
    >>> bool(np.allclose(system.reduced_accelerations(q, v, found.accelerations), a))
    True
    """
    return MaximalSystem(model)
