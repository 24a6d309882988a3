"""The system in maximal coordinates of a Model, and the maps of states between both kinds of coordinates."""

from __future__ import annotations

import numpy as np

from kinetree.algorithms.kinematics import world_transforms
from kinetree.arguments import a_model, array, checked
from kinetree.constraints import LoopJoint
from kinetree.constraints.contract import EQUALITY
from kinetree.maximal_coordinates import free_bodies
from kinetree.maximal_coordinates.searched_positions import require_positions
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
        self.reduced = model = getattr(model, "spatial", model)
        system, inertias = free_bodies.freed(model)
        loops = dict(system.loop_joints())
        ends = {model.joint_name(i): i for i in model.outward()}
        offsets = np.cumsum([0, *(loop.joint.nq for loop in loops.values())]).tolist()
        place = dict(zip(loops, offsets, strict=False))
        self._positions = np.array(
            [place[name] + k for name, i in ends.items() for k in range(model.joints[i].nq)], int
        )
        self._turning, self._middles = _limited_angles(model)
        self._prepare(system, inertias, _kept(model, system), ends, model)

    @property
    def along_joints(self) -> tuple[str, ...]:
        """What acts along the coordinates of joints, "armatures", "couplings", ..., and is no part of ``model``."""
        return self._joints.names

    def state(self, q, v, *, t=None) -> tuple[np.ndarray, np.ndarray]:
        """Positions and twists of the bodies in a state of the reduced model.

        Parameters
        ----------
        q : (nq,) array
            Joint positions [rad or m].
        v : (nv,) array
            Joint velocities [rad/s or m/s].
        t : float, optional
            The time [s], where joints or constraints depend on it.

        Returns
        -------
        q : (nq,) array
            Positions of ``model`` [m; unit quaternions].
        v : (nv,) array
            Twists [rad/s, m/s].

        Raises
        ------
        ConstraintError
            Positions of a joint that has no closed form of them are not found from the poses.
        """
        model = self.reduced.at(t) if self._clock("state", t) else self.reduced
        q, v = array("state: q", q, shape=(model.nq,)).tolist(), array("state: v", v, shape=(model.nv,)).tolist()
        X_0, (_, V) = world_transforms(model, q), body_twists(model, q, v)
        poses = [[*X_0[i].r, *quaternion_from_rotation(X_0[i].E)] for i in model.outward()]
        state = np.array(poses, float).ravel(), np.array([list(V[i]) for i in model.outward()], float).ravel()
        require_positions("state", self._bodies, self._evaluated("state", *state, t=t).terms.gaps, model.joint_names)
        return state

    def reduced_state(self, q, v, *, t=None) -> tuple[np.ndarray, np.ndarray]:
        """Joint positions and velocities at the poses and twists of the bodies.

        Parameters
        ----------
        q : (nq,) array
            Positions of ``model`` [m; unit quaternions].
        v : (nv,) array
            Twists [rad/s, m/s].
        t : float, optional
            The time [s], where joints or constraints depend on it.

        Returns
        -------
        q : (nq,) array
            Joint positions [rad or m]; angles between -pi and pi, or within half a turn of the middle of two limits
            that are less than a turn apart.
        v : (nv,) array
            Joint velocities [rad/s or m/s].

        Notes
        -----
        Where joints are open the nearest positions are taken (``Joint.loop_coordinates``). Composite joints may have
        several positions of one pose, such as those of a screw that slides; that next to the neutral one is taken.
        """
        joints = self._evaluated("reduced_state", q, v, t=t).joints
        return joints.q, joints.v

    def reduced_accelerations(self, q, v, accelerations, *, t=None) -> np.ndarray:
        """Joint accelerations that belong to rates of the twists.

        Parameters
        ----------
        q : (nq,) array
            Positions of ``model`` [m; unit quaternions].
        v : (nv,) array
            Twists [rad/s, m/s].
        accelerations : (n, 6) array
            Rates of the twists [rad/s^2, m/s^2].
        t : float, optional
            The time [s], where joints or constraints depend on it.

        Returns
        -------
        (nv,) array
            [rad/s^2 or m/s^2].
        """
        rates = array("accelerations", accelerations, shape=(self.n, 6)).ravel()
        terms, E, *_ = self._evaluated("reduced_accelerations", q, v, t=t)
        return (E @ rates + terms.rates)[self._of_tau]

    def _joint_positions(self, coordinates) -> np.ndarray:
        q = np.asarray(coordinates)[self._positions]
        beyond = q[self._turning] - self._middles
        q[self._turning] -= 2.0 * np.pi * np.round(beyond / (2.0 * np.pi))
        return q


def _limited_angles(model) -> tuple[np.ndarray, np.ndarray]:
    """The positions that are angles between two limits less than a turn apart, and the middles of these."""
    found = []
    for i in model.outward():
        joint, n, k = model.joints[i].at(0.0), model.q_slice[i], model.v_slice[i]
        if joint.nq == joint.nv:
            limits = zip(model.lower[k], model.upper[k], strict=True)
            found += [(n.start + m, 0.5 * sum(pair)) for m, pair in enumerate(limits)
                      if joint.wraps[m] and pair[1] - pair[0] < 2.0 * np.pi]  # fmt: skip
    places, middles = zip(*found, strict=True) if found else ((), ())
    return np.array(places, int), np.array(middles, float)


def _kept(model, system) -> list[int]:
    """Rows of the system: all of the joints of the tree, and of the others those that the model solves for."""
    independent, wanted = set(model.independent_rows()), []
    loops = iter([n for c, n in model.constraint_rows() if isinstance(c, LoopJoint)])
    others = [(c, n) for c, n in model.constraint_rows() if not (isinstance(c, LoopJoint) or c.joints)]
    frames = iter([n for c, n in others if c.row_kind == EQUALITY])
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
        With loops, couplings of joints, gears, limits and force elements. Of a planar model its spatial one is
        taken, ``reduced``.

    Returns
    -------
    MaximalSystem
        Bodies keep their names and frames. ``state`` and ``reduced_state`` map states, ``accelerations`` and ``step``
        compute; see `kinetree.maximal_coordinates.System`.

    Raises
    ------
    UnsupportedError
        The model has joints without an implicit form, such as a moving frame between two hinges in one joint, or
        constraints with friction cones.

    Notes
    -----
    Source: Sueda, chapter 1. Constraints between coordinates of joints act on ``v = E Phi``, the rates of the
    coordinates that the twists of the bodies give: ``G_m = G_r E``. Armatures and tendons with inertia are inertias
    along these rows, gears along them and the axes in their stators. Springs, dampers and stops of joints act
    along these rows, too; hard limits and sticking friction are rows whose forces have bounds.
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
