"""Two arms that hold an object of two bodies with a ball joint between them: its models in joints and pseudovelocities.

Symbols are those of M. A. Unseren, "A rigid body model and decoupled control architecture for two manipulators holding
a complex object", ORNL/TM-11752 (1991). The arms and the bodies that they hold are one tree, whose mass matrix is D and
whose other forces are c; the ball joint is the loop ``A v = 0``, A the difference of the velocities of its two halves:

    D a + c = tau - A^T f,      A a + A' v = 0,      nu = B v,      [A; B]^-1 = [Pi, Sigma].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import qr

from kinetree.arguments import (
    a_model,
    a_name,
    a_positive_number,
    an_instance,
    array,
    checked,
    choice,
    names,
    number,
    refuse,
)
from kinetree.compiler.function import compile
from kinetree.constraints import LoopJoint
from kinetree.errors import ArgumentError, ModelError, SingularityError
from kinetree.joints import Spherical
from kinetree.model import Model, ModelBuilder
from kinetree.spatial import IdentityRotation, Transform, Vector3
from kinetree.surgery import add_payload, attach

AXES = "local_world_aligned"
CHOICES = ("center_of_mass", "ball_joint", "joints")
CLOSED = 1e-12  # [m] at which steps of the reduced model end the projection on the loop
REGULAR = 1e-9  # least over largest singular value of [A; B]


@dataclass(frozen=True)
class Held:
    """One body of the object, with the frame by which an arm holds it.

    Parameters
    ----------
    grasp : str
        Frame of the arm to which the body is fixed.
    mass : float
        [kg].
    com, ball : (3,) array_like
        Center of mass, and center of the ball joint, in that frame [m].
    inertia : (3, 3) or (3,) array_like
        About the center of mass, in the axes of that frame [kg m^2].
    """

    grasp: str
    mass: float
    com: Sequence[float]
    ball: Sequence[float]
    inertia: object

    def __post_init__(self) -> None:
        a_name("Held: grasp", self.grasp)
        number("Held: mass", self.mass, "a number that is not negative", least=0.0)
        for what in ("com", "ball"):
            if not np.isfinite(array(f"Held: {what}", getattr(self, what), shape=(3,))).all():
                refuse(f"Held: {what}", getattr(self, what), "three finite numbers")


_a_body = an_instance(Held)


class Terms(NamedTuple):
    """Matrices of one state; rates are products with the velocities.

    Attributes
    ----------
    D : (nv, nv) array
        Mass matrix of the arms and the bodies that they hold, eq. 24 [kg m^2].
    c : (nv,) array
        All other forces without those of the ball joint, ``C + H_A + H_B v`` [N m or N].
    A, A_rate : (3, nv), (3,) array
        Eq. 28 [m], and ``A' v`` [m/s^2].
    B, B_rate : (nv - 3, nv), (nv - 3,) array
        Eq. 34 [1 or m], and ``B' v`` [rad/s^2 or m/s^2].
    Pi, Sigma : (nv, 3), (nv, nv - 3) array
        Eq. 35 [1/m; 1 or 1/m].
    """

    D: np.ndarray
    c: np.ndarray
    A: np.ndarray
    A_rate: np.ndarray
    B: np.ndarray
    B_rate: np.ndarray
    Pi: np.ndarray
    Sigma: np.ndarray


class TwoArms:
    """Dynamics of two arms that hold an object of two bodies, jointed by a ball: closed, reduced, and its torques.

    Parameters
    ----------
    model : Model
        Two arms with fixed bases and one loop joint, a `Spherical` one between frames of both; `hold` makes one.
    pseudovelocities : {"center_of_mass", "ball_joint", "joints"}
        The choice of ``nu = B v``: angular velocity of the second body, velocity of the first body's center of mass,
        angular velocity of the first body (appendix C, example 1); the same with the velocity of the ball joint
        (example 2); or the velocities of ``nv - 3`` joints. Arms with more than 12 joints in all, whose freedoms these
        nine do not describe, add velocities of joints.
    center : str
        Frame at the first body's center of mass; that of `hold` by default.
    joints : sequence of str, optional
        Joints whose velocities are pseudovelocities. By default those for which ``[A; B]`` is regular at ``q``, by
        elimination with column pivoting.
    q : (nq,) array_like, optional
        The configuration for that choice [rad]; neutral by default.

    Notes
    -----
    Source: Unseren (1991), eq. 23-41 and appendices B, C. World axes, forces at the ball joint: ``f`` is the force on
    the second body.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm = kt.surgery.lock(kt.load("arm7"), ["left_finger_slide", "right_finger_slide"])
    >>> part = kt.control.Held("tool", 1.0, (0, 0, 0.1), (0, 0, 0.2), (0.01, 0.01, 0.001))
    >>> both = kt.control.TwoArms.hold(arm, arm, part, part, placement=((1.0, 0, 0), (0, 0, np.pi)))
    >>> arms = kt.control.TwoArms(both, q=np.resize([0.3, 0.6, 0.2, 1.2, 0.4, 0.7, 0.1], 14))
    >>> arms.dof, both.constraint_labels
    (11, ('ball', 'ball', 'ball'))
    """

    def __init__(
        self,
        model: Model,
        pseudovelocities: str = "center_of_mass",
        *,
        center: str = "object_1.center",
        joints: Sequence[str] | None = None,
        q=None,
    ) -> None:
        a_model("TwoArms: model", model)
        self.model = model
        self.pseudovelocities = choice("pseudovelocities", pseudovelocities, CHOICES, "TwoArms")
        loop = _ball(model)
        self.balls = loop.predecessor, loop.successor
        a_name("TwoArms: center", center)
        self.center = model.frame(center).name if pseudovelocities == "center_of_mass" else self.balls[0]
        bodies = [model.frame(name).body for name in self.balls]
        self.arms = tuple(np.array(sorted(k for i in model.support(body) for k in _dofs(model, i))) for body in bodies)
        if model.nv != sum(map(len, self.arms)) or set(self.arms[0]) & set(self.arms[1]):
            raise ModelError(
                f"TwoArms: model {model.name!r} has {model.nv} velocities, {len(self.arms[0])} before one half of the "
                f"ball joint and {len(self.arms[1])} before the other; expected two arms and nothing else",
                model=model.name,
            )
        frames = (*dict.fromkeys((*self.balls, self.center)),)
        quantities = ["crba", "inverse_dynamics", *(f"pose:{name}" for name in frames)]
        quantities += [f"{what}:{name}:{AXES}" for what in ("jacobian", "jacobian_rate") for name in frames]
        self._frames, self._compiled = frames, compile(model.replace(constraints=()), quantities, checks=False)
        self.dof = model.nv - 3
        self.coordinates = self._selected(joints, self._vector("q", model.neutral() if q is None else q))

    @staticmethod
    @checked(arm_1=a_model, arm_2=a_model, body_1=_a_body, body_2=_a_body, prefix=a_name)
    def hold(
        arm_1: Model, arm_2: Model, body_1: Held, body_2: Held, *, placement=None, prefix: str = "second_"
    ) -> Model:
        """The model of two arms that hold the object, with the ball joint as a loop named "ball".

        Parameters
        ----------
        arm_1, arm_2 : Model
            Fixed bases.
        body_1, body_2 : Held
            The bodies; they are added to the links that hold them.
        placement : Transform, (xyz, rpy), (R, p) or (4, 4) array, optional
            Pose of the second arm's base in the world [m, rad].
        prefix : str
            Put before the names of the second arm.

        Returns
        -------
        Model
            With the frames "object_1.center", "object_1.ball", "object_2.center" and "object_2.ball", whose axes are
            those of the grasp frames. `kt.assemble` finds a position at which the loop is closed.
        """
        both = attach(arm_1, arm_2, at=arm_1.frames[0].name, placement=placement, prefix=prefix)
        for body, front in ((body_1, ""), (body_2, prefix)):
            both = add_payload(both, front + body.grasp, body.mass, body.com, body.inertia)
        builder = ModelBuilder.of(both)
        for n, (body, front) in enumerate(((body_1, ""), (body_2, prefix)), start=1):
            grasp = both.frame(front + body.grasp)
            for what, place in (("center", body.com), ("ball", body.ball)):
                X = Transform(IdentityRotation(), Vector3(*map(float, place))) @ grasp.X_FB
                builder.add_frame(f"object_{n}.{what}", both.body_names[grasp.body], X)
        made = builder.build()
        return made.with_constraints(LoopJoint("ball", Spherical(), "object_1.ball", "object_2.ball"))

    # Terms ---------------------------------------------------------------------------------------------------------

    def terms(self, q, v) -> Terms:
        """The matrices of one state.

        Parameters
        ----------
        q, v : (nv,) array
            [rad, rad/s]; the loop may be open.

        Raises
        ------
        SingularityError
            ``[A; B]`` is singular: an arm is, or the choice of pseudovelocities does not fit this configuration.
        """
        q, v = self._vector("q", q), self._vector("v", v)
        D, c, _, J, J_rate = self._evaluated(q, v)
        A, A_rate = (x[self.balls[0]][3:] - x[self.balls[1]][3:] for x in (J, J_rate))
        B, B_rate = self._pseudovelocity_rows(J), self._pseudovelocity_rows(J_rate, rate=True)
        Pi, Sigma = self._inverse(A, B, J) if self._analytic else self._numeric_inverse(A, B)
        return Terms(D, c, A, A_rate @ v, B, B_rate @ v, Pi, Sigma)

    def _vector(self, what: str, given, size: int | None = None) -> np.ndarray:
        """An array of finite numbers, one for each joint or so many."""
        x = array(f"TwoArms: {what}", given, shape=(self.model.nv if size is None else size,))
        if not np.isfinite(x).all():
            refuse(f"TwoArms: {what}", given, "finite numbers")
        return x

    def _evaluated(self, q, v):
        """D, c, and poses, Jacobians and their rates by frame."""
        D, c, *found = self._compiled(q, v, np.zeros(self.model.nv))
        n = len(self._frames)
        return D, c, *(dict(zip(self._frames, found[k * n : (k + 1) * n], strict=True)) for k in range(3))

    def _pseudovelocity_rows(self, J, rate: bool = False) -> np.ndarray:
        """B of Jacobians, or B' of their rates."""
        chosen = np.zeros((len(self.coordinates), self.model.nv))
        if not rate:
            chosen[np.arange(len(chosen)), self.coordinates] = 1.0
        if self.pseudovelocities == "joints":
            return chosen
        first = J[self.center]
        return np.vstack((J[self.balls[1]][:3], first[3:], first[:3], chosen))

    @property
    def _analytic(self) -> bool:
        return self.pseudovelocities != "joints" and all(len(arm) == 6 for arm in self.arms)

    def _inverse(self, A, B, J) -> tuple[np.ndarray, np.ndarray]:
        """Pi and Sigma in closed form, eq. C.9-C.10 and C.17-C.18, by the inverse Jacobians of both arms.

        The twist of the first body follows from ``nu``. The second body has its angular velocity from ``nu`` and, at
        the ball, the velocity of the first body less the residual ``A v``.
        """
        one, two = self.arms
        first = _inverted(J[self.center][:, one], "first")
        second = _inverted(J[self.balls[1]][:, two], "second")
        Pi, Sigma = np.zeros((self.model.nv, 3)), np.zeros((self.model.nv, 9))
        Pi[two] = -second[:, 3:]
        Sigma[one, 3:] = np.hstack((first[:, 3:], first[:, :3]))
        Sigma[two, :3] = second[:, :3]
        Sigma[two] += second[:, 3:] @ (J[self.balls[0]][3:, one] @ Sigma[one])
        return Pi, Sigma

    def _numeric_inverse(self, A, B) -> tuple[np.ndarray, np.ndarray]:
        inverse = _inverted(np.vstack((A, B)), "pair of")
        return inverse[:, :3], inverse[:, 3:]

    def _selected(self, joints, q) -> np.ndarray:
        """The joints among the pseudovelocities: given, or by elimination from ``[A; B]`` at a configuration."""
        self.coordinates = np.zeros(0, int)
        _, _, _, J, _ = self._evaluated(q, np.zeros(self.model.nv))
        rows = np.vstack((J[self.balls[0]][3:] - J[self.balls[1]][3:], self._pseudovelocity_rows(J)))
        count = self.model.nv - len(rows)
        if count < 0:
            raise ArgumentError(
                f"TwoArms: the choice {self.pseudovelocities!r} has 9 pseudovelocities, and {self.model.nv} joints "
                f"have {self.dof} freedoms. Take pseudovelocities='joints'.",
                argument="pseudovelocities",
            )
        if joints is None:
            null = np.linalg.svd(rows)[2][len(rows) :]  # motions that these rows do not determine
            return np.sort(qr(null, mode="economic", pivoting=True)[2][:count]) if count else self.coordinates
        found = [self.model.v_index(name).start for name in names("TwoArms: joints", joints)]
        if len(set(found)) != count or len(found) != count:
            refuse("TwoArms: joints", joints, f"the names of {count} different joints")
        return np.array(sorted(found), dtype=int)

    @property
    def joints(self) -> tuple[str, ...]:
        """Joints whose velocities are pseudovelocities."""
        chosen = (i for i in self.model.outward() if _dofs(self.model, i)[0] in self.coordinates)
        return tuple(map(self.model.joint_name, chosen))

    # Joint space ---------------------------------------------------------------------------------------------------

    def delta(self, q) -> np.ndarray:
        """The coefficient ``1 - A^T (A D^-1 A^T)^-1 A D^-1`` of the torques, eq. 33: of rank nv - 3.

        Returns
        -------
        (nv, nv) array
            [1]; ``Delta^2 = Delta``, ``Delta A^T = 0``.
        """
        x = self.terms(q, np.zeros(self.model.nv))
        AD = np.linalg.solve(x.D, x.A.T).T
        return np.eye(self.model.nv) - x.A.T @ np.linalg.solve(AD @ x.A.T, AD)

    def contact_force(self, q, v, tau) -> np.ndarray:
        """The force that the first body exerts on the second through the ball joint, eq. 31.

        Parameters
        ----------
        q, v, tau : (nv,) array
            [rad, rad/s, N m].

        Returns
        -------
        (3,) array
            World axes [N].
        """
        return self._contact_force(self.terms(q, v), self._vector("tau", tau))

    def _contact_force(self, x: Terms, tau) -> np.ndarray:
        AD = np.linalg.solve(x.D, x.A.T).T
        return np.linalg.solve(AD @ x.A.T, x.A_rate + AD @ (tau - x.c))

    def accelerations(self, q, v, tau) -> np.ndarray:
        """Accelerations under joint torques, eq. 32: those of `forward_dynamics` of the model with its loop.

        Returns
        -------
        (nv,) array
            [rad/s^2]
        """
        x, tau = self.terms(q, v), self._vector("tau", tau)
        return np.linalg.solve(x.D, tau - x.c - x.A.T @ self._contact_force(x, tau))

    def torques(self, q, v, a, force=None, weights=None) -> np.ndarray:
        """Torques for given accelerations that obey the loop: one for each contact force, section 5.2.

        Parameters
        ----------
        q, v, a : (nv,) array
            [rad, rad/s, rad/s^2]; ``A a + A' v = 0``.
        force : (3,) array_like, optional
            The force at the ball joint [N]; by default that for which the torques are least.
        weights : (nv,) array_like, optional
            Positive [1]: the sum of ``weights * tau^2`` is least; ones by default.

        Returns
        -------
        (nv,) array
            ``D a + c + A^T f`` [N m].
        """
        x = self.terms(q, v)
        tau = x.D @ self._vector("a", a) + x.c
        if force is None:
            w = np.ones(self.model.nv) if weights is None else self._vector("weights", weights)
            if not (w > 0.0).all():
                refuse("TwoArms: weights", weights, "positive numbers")
            force = -np.linalg.solve((x.A * w) @ x.A.T, x.A @ (w * tau))
        return tau + x.A.T @ self._vector("force", force, 3)

    # Reduced model -------------------------------------------------------------------------------------------------

    def pseudovelocity(self, q, v) -> np.ndarray:
        """``nu = B v``, eq. 34.

        Parameters
        ----------
        q, v : (nv,) array
            [rad, rad/s].

        Returns
        -------
        (nv - 3,) array
            [rad/s, m/s].
        """
        return self.terms(q, v).B @ self._vector("v", v)

    def velocity(self, q, nu) -> np.ndarray:
        """``v = Sigma nu``, eq. 37, which obeys the loop for every nu.

        Parameters
        ----------
        q : (nv,) array
            [rad]
        nu : (nv - 3,) array
            [rad/s, m/s].

        Returns
        -------
        (nv,) array
            [rad/s]
        """
        return self.terms(q, np.zeros(self.model.nv)).Sigma @ self._vector("nu", nu, self.dof)

    def pseudoacceleration(self, q, nu, tau) -> np.ndarray:
        """The rate of the pseudovelocities under torques, by the reduced equations of motion, eq. 40.

        Parameters
        ----------
        q : (nv,) array
            [rad]
        nu : (nv - 3,) array
            [rad/s, m/s].
        tau : (nv,) array
            [N m]

        Returns
        -------
        (nv - 3,) array
            [rad/s^2, m/s^2].
        """
        x, tau = self.terms(q, self.velocity(q, nu)), self._vector("tau", tau)
        bias = x.D @ (x.Pi @ x.A_rate + x.Sigma @ x.B_rate)
        return np.linalg.solve(x.Sigma.T @ x.D @ x.Sigma, x.Sigma.T @ (tau + bias - x.c))

    def step(self, q, nu, tau, dt: float) -> tuple[np.ndarray, np.ndarray]:
        """A step of the reduced model: the Runge-Kutta method for ``q' = Sigma nu`` and eq. 40, and a closed loop.

        Parameters
        ----------
        q : (nv,) array
            [rad]
        nu : (nv - 3,) array
            [rad/s, m/s].
        tau : (nv,) array
            Torques during the step [N m].
        dt : float
            [s].

        Returns
        -------
        q, nu : (nv,) array, (nv - 3,) array
            [rad, rad/s, m/s]. The position is projected along Pi, which changes no pseudovelocity.
        """

        def rate(y):
            q, nu = np.split(y, [self.model.nq])
            return np.concatenate((self.velocity(q, nu), self.pseudoacceleration(q, nu, tau)))

        a_positive_number("TwoArms.step: dt", dt)
        y = np.concatenate((self._vector("q", q), self._vector("nu", nu, self.dof)))
        k1 = rate(y)
        k2 = rate(y + 0.5 * dt * k1)
        k3 = rate(y + 0.5 * dt * k2)
        k4 = rate(y + dt * k3)
        q, nu = np.split(y + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4), [self.model.nq])
        for _ in range(5):
            gap = self.gap(q)
            if np.abs(gap).max() < CLOSED:
                break
            q = q - self.terms(q, np.zeros(self.model.nv)).Pi @ gap
        return q, nu

    def poses(self, q) -> dict:
        """Poses ``(R_WF, p_WF)`` of the frames at the ball joint and at the first center of mass, by name."""
        return self._evaluated(self._vector("q", q), np.zeros(self.model.nv))[2]

    def gap(self, q) -> np.ndarray:
        """Position of the ball joint on the first body less that on the second: (3,) array [m]."""
        poses = self.poses(q)
        return poses[self.balls[0]].p_WF - poses[self.balls[1]].p_WF


def _ball(model: Model) -> LoopJoint:
    """The loop joint of the object."""
    loops = [c for c in model.constraints if isinstance(c, LoopJoint)]
    plain = [c for c in loops if isinstance(c.joint, Spherical) and _is_identity(c.X_P) and _is_identity(c.X_S)]
    if len(plain) != 1 or len(model.constraints) != 1:
        raise ModelError(
            f"TwoArms: model {model.name!r} has the constraints {', '.join(map(str, model.constraints)) or 'none'}; "
            "expected one loop joint of kind Spherical between two frames, as TwoArms.hold makes it",
            model=model.name,
        )
    return plain[0]


def _is_identity(X: Transform) -> bool:
    return np.array_equal(X.homogeneous(), np.eye(4))


def _dofs(model: Model, body: int) -> range:
    return range(*model.v_slice[body].indices(model.nv))


def _inverted(matrix: np.ndarray, which: str) -> np.ndarray:
    """The inverse; an error where the arm is singular."""
    size = np.linalg.svd(matrix, compute_uv=False)
    if not size[-1] > REGULAR * size[0]:
        raise SingularityError(
            f"TwoArms: the {which} arm{'s' * (which == 'pair of')} is singular here (least over largest singular value "
            f"{size[-1] / size[0] if size[0] else 0.0:.2g}), so pseudovelocities do not determine the joints. Choose "
            "another configuration, or pseudovelocities='joints'."
        )
    return np.linalg.inv(matrix)
