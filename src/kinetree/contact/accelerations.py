r"""Contact at the level of accelerations: contact forces of a state, with Coulomb's cone.

Book                                                here
``zeta = T^T qdd + Tdot^T qd`` (eq. 11.33)          `AccelerationProblem.d`, rows (t1, t2, n) of each contact
``M = T^T H^-1 T`` (eq. 11.35)                      `AccelerationProblem.M`
``d = T^T H^-1 (tau - C) + Tdot^T qd`` (eq. 11.36)  `AccelerationProblem.d`
states 1, 2a, 2b, 3 (fig. 11.4)                     `contact_states`
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.arguments import a_model, a_positive_number, array, checked
from kinetree.compiler.calls import public_call
from kinetree.compiler.time_argument import time_input
from kinetree.contact.active_laws import ContactLaws, solve_laws
from kinetree.contact.kinematics import kinematics_function
from kinetree.contact.responses import response_matrix
from kinetree.errors import ContactError

APART, COLLIDING, SEPARATING, TOUCHING = "apart", "colliding", "separating", "touching"
LENGTH, SPEED = 1e-9, 1e-9  # [m], [m/s]


def contact_states(gaps, rates, *, length: float = LENGTH, speed: float = SPEED) -> tuple[str, ...]:
    """The states of contacts by their gaps and the rates of these (book, figure 11.4).

    Parameters
    ----------
    gaps : (n,) array
        [m]
    rates : (n,) array
        [m/s]
    length : float
        Surfaces at this distance or closer touch [m].
    speed : float
        Slower rates are none [m/s].

    Returns
    -------
    tuple of str
        "apart" (state 1), "colliding" (2a: an impulse follows at once), "separating" (2b, as after a bounce),
        "touching" (3: there may be a force).

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> import kinetree as kt
    >>> kt.contact.contact_states([0.1, 0.0, 0.0, 0.0], [-1.0, -1.0, 1.0, 0.0])
    ('apart', 'colliding', 'separating', 'touching')
    """
    gaps = array("contact_states: gaps", gaps, "gaps", shape=(None,))
    rates = array("contact_states: rates", rates, "a rate for each gap", shape=gaps.shape)
    length = a_positive_number("contact_states: length", length)
    speed = a_positive_number("contact_states: speed", speed)
    return tuple(
        APART if gap > length else COLLIDING if rate < -speed else SEPARATING if rate > speed else TOUCHING
        for gap, rate in zip(gaps.tolist(), rates.tolist(), strict=True)
    )


@dataclass(frozen=True, slots=True, eq=False)
class AccelerationProblem:
    """Accelerations of contacts that touch, by their forces: ``M forces + d``.

    Attributes
    ----------
    M : (3*n, 3*n) array
        [1/kg]
    d : (3*n,) array
        Without contact forces [m/s^2].
    laws : ContactLaws
        Coefficients of friction, and directions of slip of contacts that slide.
    """

    M: np.ndarray
    d: np.ndarray
    laws: ContactLaws

    @classmethod
    def of(cls, M, d, u, friction, speed: float = SPEED) -> AccelerationProblem:
        """Contacts with tangential velocities u (n, 2) above ``speed`` slide along them."""
        fast = np.hypot(u[:, 0], u[:, 1])
        slip = {i: u[i] / fast[i] for i in range(len(u)) if fast[i] > speed and friction[i] > 0.0}
        return cls(M, d, ContactLaws(np.asarray(friction, dtype=float), slip=slip))

    def solve(self, guess=None) -> tuple[np.ndarray, np.ndarray, bool]:
        """Forces and accelerations (n, 3), and whether they obey the laws: sliding contacts may allow no forces."""
        forces, misfit = solve_laws(self.M, self.d, self.laws, guess)
        return forces, (self.M @ forces.ravel() + self.d).reshape(-1, 3), bool(misfit < np.inf)


@dataclass(frozen=True, slots=True, eq=False)
class ContactAccelerations:
    """Accelerations and contact forces of a state.

    Attributes
    ----------
    a : (nv,) array
        Joint accelerations [rad/s^2 or m/s^2].
    forces : (n_contacts, 3) array
        On the second bodies, in contact axes (t1, t2, n) [N]; zero where nothing touches.
    accelerations : (n_contacts, 3) array
        Rates of the contact velocities [m/s^2]: of the second body relative to the first, in contact axes.
    states : tuple of str
        Of all candidate points: "apart", "colliding", "separating", "touching".
    problem : AccelerationProblem
        Of those that touch: M and d (book, eq. 11.35, 11.36).
    """

    a: np.ndarray
    forces: np.ndarray
    accelerations: np.ndarray
    states: tuple[str, ...]
    problem: AccelerationProblem


@checked(model=a_model)
def contact_accelerations(model, q, v, tau, *, f_ext=None, x=None, u=None, t=None, length=LENGTH, speed=SPEED):
    r"""Accelerations of a model with rigid contacts, and the contact forces.

    .. math:: \dot\zeta = M \lambda + d, \qquad \dot\zeta_n \ge 0 \perp \lambda_n \ge 0, \qquad
        |\lambda_t| \le \mu \lambda_n

    Parameters
    ----------
    model : Model
        With contact pairs, all of them rigid.
    q : (nq,) array
        Joint positions [rad or m].
    v : (nv,) array
        Joint velocities [rad/s or m/s].
    tau : (nv,) array
        Actuator forces [N m or N].
    f_ext : (nb, 6) array, optional
        External wrenches in world coordinates [N m, N].
    x : (nx,) array, optional
        Internal states of force elements [as the elements define them].
    u : (nu,) array, optional
        Inputs of force elements [as the elements define them].
    t : float, optional
        Time [s], for models that depend on it.
    length, speed : float
        As for `contact_states` [m], [m/s]; tangential velocities above ``speed`` are slip.

    Returns
    -------
    ContactAccelerations

    Raises
    ------
    ContactError
        A contact is colliding (an impact comes first), or no forces obey the laws: that happens where contacts wedge,
        and where sliding contacts jam (Painlevé).

    Notes
    -----
    Source: Featherstone (2008), section 11.3; friction as in C. Glocker, Set-valued force laws (2001): forces of
    contacts that slide oppose their slip, forces of others their tangential acceleration. Redundant contacts share
    forces by least norm; the accelerations are unique without slip.
    Identity: ``M a + c = tau + J^T forces`` with `kinetree.collision.contact_jacobian`.

    See Also
    --------
    impact, contact_states

    Examples
    --------
    A ball of 1 kg that rests on the ground, and one that is lifted by 4 N:

    >>> import kinetree as kt, numpy as np
    >>> b = kt.ModelBuilder("ball")
    >>> _ = b.add_body("ball", joint=kt.joints.Free(), mass=1.0, inertia=0.4 * np.eye(3))
    >>> sphere = kt.collision.Shape("ball", "sphere", (1.0,), name="sphere")
    >>> floor = kt.collision.Shape("world", "plane", name="floor")
    >>> ball = b.build().replace(contacts=[kt.collision.ContactPair("floor/ball", floor, sphere)])
    >>> q = ball.neutral(); q[2] = 1.0
    >>> for lift in (0.0, 4.0):
    ...     found = kt.contact.contact_accelerations(ball, q, np.zeros(6), [0, 0, 0, 0, 0, lift])
    ...     print(found.forces.round(9) + 0.0)
    [[0.   0.   9.81]]
    [[0.   0.   5.81]]
    """
    v = array("contact_accelerations: v", v, "velocities", shape=(model.nv,))
    given = {name: value for name, value in (("f_ext", f_ext), ("x", x), ("u", u)) if value is not None}
    free = public_call("forward_dynamics")(model, q, v, tau, **given, **time_input("forward_dynamics", model, t))
    J, bias, rates, gaps = kinematics_function(model)(q, v, *time_input("contact_gaps", model, t).values())
    w = rates.reshape(-1, 3)
    states = contact_states(gaps, w[:, 2], length=length, speed=speed)
    if COLLIDING in states:
        i = states.index(COLLIDING)
        raise ContactError(
            f"contact_accelerations: contact {model.contact_labels[i]!r} is colliding at {-w[i, 2]:.3g} m/s: an impact "
            "comes first, kt.contact.impact.",
            contact=model.contact_labels[i],
            status=COLLIDING,
        )
    some = [i for i, state in enumerate(states) if state == TOUCHING]
    rows = [3 * i + k for i in some for k in range(3)]
    friction = coefficients_of(model, "friction")[some]
    response = response_matrix(model, q, 0.0 if t is None else t) @ J[rows].T
    problem = AccelerationProblem.of(J[rows] @ response, J[rows] @ free + bias[rows], w[some, :2], friction, speed)
    found, _, solved = problem.solve()
    if not solved:
        raise unsolved("contact_accelerations", [model.contact_labels[i] for i in some], bool(problem.laws.slip))
    a, forces = free + response @ found.ravel(), np.zeros_like(w)
    forces[some] = found
    return ContactAccelerations(a, forces, (J @ a + bias).reshape(-1, 3), states, problem)


def coefficients_of(model, what: str) -> np.ndarray:
    """A coefficient of the pairs, for each candidate point: (n_contacts,)."""
    return np.array([float(getattr(pair, what)) for pair in model.contacts for _ in range(pair.count)])


def unsolved(where: str, labels, slides: bool) -> ContactError:
    """The error for a state without consistent contact forces."""
    cause = "sliding contacts jam (Painlevé's paradox)" if slides else "contacts wedge the bodies between them"
    return ContactError(
        f"{where}: no forces at contacts {', '.join(map(repr, labels[:6]))} obey the laws of rigid contact: {cause}. "
        "Take a smaller coefficient of friction, or integrator='time_stepping', which solves for impulses.",
        contact=labels[0],
        status="inconsistent",
    )
