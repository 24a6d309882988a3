"""The contact problem: impulses at contacts with friction, from a Delassus matrix and free velocities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from kinetree.arguments import array, choice, names, number, refuse, whole
from kinetree.contact.of_model import step_arguments
from kinetree.contact.residuals import Residuals
from kinetree.contact.solution import ContactSolution
from kinetree.contact.solvers import SOLVERS
from kinetree.contact.terms import Found, Terms
from kinetree.errors import NonFiniteError, ShapeError

WHAT = "ContactProblem"
SKEW = 1e-8  # of a Delassus matrix, relative


@dataclass(frozen=True, eq=False)
class ContactProblem:
    r"""Impulses at n contacts that obey Signorini's condition and Coulomb's law of friction.

    .. math:: u = G \lambda + b, \qquad 0 \le \lambda_n \perp u_n^* \ge 0, \qquad
       |\lambda_t| \le \mu \lambda_n, \quad \lambda_t = -\mu \lambda_n u_t / |u_t| \ \text{if}\ u_t \ne 0

    with ``u_n* = u_n + e min(b_n, 0) + bias + R lambda_n``. Contact axes are (t1, t2, n), n from the first body to the
    second; velocities are those of the second body relative to the first, impulses act on the second.

    Parameters
    ----------
    delassus : (3n + m, 3n + m) array, sparse matrix or LinearOperator
        G, symmetric and positive semidefinite [1/kg]: ``J M^-1 J^T`` of the contact Jacobian. Contacts may be
        redundant.
    free_velocity : (3n + m,) or (n, 3) array
        b: velocities at the end of the step without impulses, or before an impact [m/s].
    friction : float or (n,) array
        Coefficients mu [1].
    restitution : float or (n,) array, optional
        Newton's coefficients e in 0 to 1 [1], for problems of impact: approach at b_n leaves at ``-e b_n`` or faster.
    compliance : float or (n,) array, optional
        R of the normals [1/kg]: velocity per impulse, ``1 / (k dt (dt + tau))`` for a stiffness k.
    labels : sequence of str, optional
        Names of the contacts, and of the rows, for messages.
    bias : float or (n,) array, optional
        Added to the normal velocities in the condition [m/s]: ``gap / dt`` allows an approach that closes the gap.
    bounds : (m, 2) array, optional
        Lower and upper impulses of m further rows, the last ones of G and b [N s or N m s]: ``u = 0`` within them,
        ``u >= 0`` at the lower one, ``u <= 0`` at the upper one. (0, inf) is a joint limit, (-f dt, f dt) dry friction
        of a joint, (-inf, inf) an equation.

    Raises
    ------
    ArgumentError, ShapeError, NonFiniteError

    Notes
    -----
    Source: Featherstone (2008), sections 11.3-11.5, with friction as de Saxcé and Feng (1998). Solutions exist if
    velocities in the range of the Jacobian separate all contacts; with friction they need not be unique. Without
    friction the velocities are unique, the impulses only if contacts are independent.

    Examples
    --------
    A block of 2 kg on the ground, pushed sideways: the free velocity of a step of 0.1 s under gravity and 10 N.

    >>> import kinetree as kt, numpy as np
    >>> problem = kt.contact.ContactProblem(np.eye(3) / 2.0, [[0.5, 0.0, -0.981]], friction=0.4, labels=["block"])
    >>> impulses, velocities, status, *_ = problem.solve(method="block_gauss_seidel")
    >>> impulses.round(4), velocities[:, :2].round(4), status
    (array([[-0.7848,  0.    ,  1.962 ]]), array([[0.1076, 0.    ]]), 'solved')
    """

    delassus: object
    free_velocity: np.ndarray
    friction: object
    restitution: object = 0.0
    compliance: object = 0.0
    labels: Sequence[str] = ()
    bias: object = field(default=0.0, kw_only=True)
    bounds: object = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        G = _matrix(self.delassus)
        m, bounds = _bounds(self.bounds)
        n, rest = divmod(len(G) - m, 3)
        if rest or n < 0:
            raise ShapeError(
                f"{WHAT}: delassus has {len(G)} rows, expected 3 for each contact and {m} for bounds.", found=G.shape
            )
        b = array(f"{WHAT}: free_velocity", self.free_velocity, "velocities")
        if b.size != len(G) or b.shape not in ((len(G),), (n, 3)):
            raise ShapeError(f"{WHAT}: free_velocity has shape {b.shape}, expected ({len(G)},).", found=b.shape)
        for name, x in (("free_velocity", b), ("delassus", G)):
            if not np.isfinite(x).all():
                raise NonFiniteError(f"{WHAT}: {name} contains NaN or infinity.", argument=name)
        values = {
            "matrix": G, "free_velocity": b.ravel(), "bounds": bounds,
            "friction": _of_contacts("friction", self.friction, n),
            "restitution": _of_contacts("restitution", self.restitution, n, most=1.0),
            "compliance": _of_contacts("compliance", self.compliance, n),
            "bias": _of_contacts("bias", self.bias, n, least=-np.inf),
            "labels": _labels(self.labels, n, m),
        }  # fmt: skip
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, model, q, v, tau, dt, *, f_ext=None, x=None, u=None, t=None) -> StepProblem:
        """The contact problem of a time step of a model.

        Parameters
        ----------
        model : Model or MaximalSystem
            With contact pairs; trees, closed mechanisms, single bodies. All candidate points take part; open ones may
            close their gap. Sticking friction and hard limits of joints are rows with bounds, loops are eliminated.
        q : (nq,) array
            Positions [rad or m]; those of ``model`` for maximal coordinates.
        v : (nv,) array
            Velocities [rad/s or m/s].
        tau : (nv,) array
            Actuator forces during the step [N m or N].
        dt : float
            Length of the step [s].
        f_ext : (nb, 6) array, optional
            External wrenches in world coordinates [N m, N].
        x : (nx,) array, optional
            Internal states of force elements [as the elements define them].
        u : (nu,) array, optional
            Inputs of force elements [as the elements define them].
        t : float, optional
            Time [s], for models that depend on it.

        Returns
        -------
        StepProblem
            A ContactProblem with ``joint_velocities(solution)``; ``labels`` are ``model.contact_labels``.

        Raises
        ------
        ArgumentError, ShapeError, ModelError
            There is nothing to solve for.

        Notes
        -----
        Source: Featherstone (2008), eq. 11.23-11.36; the step of ``integrator="time_stepping"``, whose impulses
        `evaluate` checks.

        Examples
        --------
        >>> import kinetree as kt, numpy as np
        >>> ball = kt.collision.Shape("body", "sphere", (0.1,), name="ball")
        >>> ground = kt.collision.Shape("world", "plane", p=(0.0, 0.0, -0.1), name="ground")
        >>> model = kt.models.free_body(mass=2.0).replace(contacts=[kt.collision.ContactPair("ball", ground, ball)])
        >>> rest = np.zeros(6)
        >>> problem = kt.contact.ContactProblem.of(model, model.neutral(), rest, rest, 0.01)
        >>> problem.solve().impulses.round(6)  # the weight for 10 ms
        array([[0.    , 0.    , 0.1962]])
        """
        given = {name: value for name, value in (("f_ext", f_ext), ("x", x), ("u", u), ("t", t)) if value is not None}
        return StepProblem(**step_arguments(model, q, v, tau, dt, given))

    @property
    def count(self) -> int:
        """Number of contacts n."""
        return len(self.friction)

    def terms(self) -> Terms:
        """The arrays that solvers take: offsets of the law are in b, compliance in A."""
        A, b, normal = self.matrix.copy(), self.free_velocity.copy(), slice(2, 3 * self.count, 3)
        A[np.arange(2, 3 * self.count, 3), np.arange(2, 3 * self.count, 3)] += self.compliance
        b[normal] += self.bias + self.restitution * np.minimum(b[normal], 0.0)
        return Terms(A, b, self.friction, self.bounds)

    def solve(
        self, method: str = "exact", *, warm_start=None, tolerance: float = 1e-10, iterations: int | None = None
    ) -> ContactSolution:
        """Solve for the impulses.

        Parameters
        ----------
        method : str
            One of ``kinetree.contact.METHODS``; the page on contact solvers compares them.
        warm_start : ContactSolution or (3n + m,) or (n, 3) array, optional
            Impulses to start from [N s], those of the last step. Methods without a start do not use them.
        tolerance : float
            Of the natural map, relative to the largest free velocity [1].
        iterations : int, optional
            Most iterations; each method has its own default.

        Returns
        -------
        ContactSolution
            A solution that is not reached is reported by its status; ``solution.require()`` makes it an error.

        Raises
        ------
        ArgumentError, ShapeError

        Examples
        --------
        >>> import kinetree as kt, numpy as np
        >>> kt.contact.ContactProblem(np.eye(3), [0.0, 0.0, -1.0], 0.5).solve("projected_gauss_seidel").status
        'solved'
        """
        choice("solve: method", method, SOLVERS)
        solver, most = SOLVERS[method]
        tolerance = number("solve: tolerance", tolerance, "a positive number", above=0.0)
        most = most if iterations is None else whole("solve: iterations", iterations, "a positive number", least=1)
        terms = self.terms()
        found = solver(terms, self._start(warm_start), tolerance * (terms.speed or 1.0), most)
        return self._solution(found, terms)

    def evaluate(self, impulses) -> ContactSolution:
        """Velocities and residuals of given impulses.

        Parameters
        ----------
        impulses : (3n + m,) or (n, 3) array
            From any source [N s].

        Returns
        -------
        ContactSolution
            Its status is "given".

        Raises
        ------
        ArgumentError

        Examples
        --------
        >>> import kinetree as kt, numpy as np
        >>> kt.contact.ContactProblem(np.eye(3), [0.0, 0.0, -1.0], 0.5).evaluate([0, 0, 0.9]).residuals.natural_map
        0.09999999999999998
        """
        return self._solution(Found(self._start(impulses), "given", 0), self.terms())

    def _solution(self, found: Found, terms: Terms) -> ContactSolution:
        impulses, n = found.impulses, self.count
        misfits = terms.misfits(impulses)
        velocities = self.matrix @ impulses + self.free_velocity
        return ContactSolution(
            impulses[: 3 * n].reshape(n, 3),
            velocities[: 3 * n].reshape(n, 3),
            found.status,
            Residuals(*misfits.max(axis=1, initial=0.0).tolist()),
            found.iterations,
            impulses[3 * n :],
            velocities[3 * n :],
            self.labels[int(np.argmax(misfits[3]))] if misfits.size else "",
        )

    def _start(self, given) -> np.ndarray:
        if given is None:
            return np.zeros(len(self.matrix))
        if isinstance(given, ContactSolution):
            given = np.concatenate([given.impulses.ravel(), given.row_impulses])
        x = array("solve: warm_start", given, "impulses").ravel()
        if x.size == 3 * self.count:
            x = np.concatenate([x, np.zeros(len(self.bounds))])
        if x.size != len(self.matrix) or not np.isfinite(x).all():
            refuse("solve: warm_start", given, f"{len(self.matrix)} finite impulses")
        return x


@dataclass(frozen=True, eq=False)
class StepProblem(ContactProblem):
    """The contact problem of a time step of a model, by `ContactProblem.of`.

    Attributes
    ----------
    free_joint_velocities : (nv,) array
        At the end of the step without impulses [rad/s or m/s].
    responses : (3n + m, nv) array
        Change of the joint velocities by a unit of each impulse [1/kg, 1/(kg m)].

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> ball = kt.models.free_shape("sphere", 0.1).with_contacts(ground=True)
    >>> q, v = np.array([0, 0, 0.1, 1.0, 0, 0, 0]), np.array([0, 0, 0, 0, 0, -1.0])
    >>> problem = kt.contact.ContactProblem.of(ball, q, v, np.zeros(6), 0.01)
    >>> problem.free_joint_velocities.round(4).tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, -1.0981]
    >>> bool(abs(problem.joint_velocities(problem.solve())).max() < 1e-9)  # a plastic impact
    True
    """

    free_joint_velocities: np.ndarray = field(default=None, kw_only=True)
    responses: np.ndarray = field(default=None, kw_only=True)

    def joint_velocities(self, solution: ContactSolution) -> np.ndarray:
        """Joint velocities at the end of the step.

        Parameters
        ----------
        solution : ContactSolution
            Of this problem.

        Returns
        -------
        (nv,) array
            Positions follow by ``kt.integrate(model, q, dt * v)`` [rad/s or m/s].

        Raises
        ------
        ArgumentError
        """
        if not isinstance(solution, ContactSolution):
            refuse("joint_velocities: solution", solution, "a ContactSolution of this problem")
        impulses = np.concatenate([solution.impulses.ravel(), solution.row_impulses])
        if impulses.size != len(self.responses):
            refuse("joint_velocities: solution", impulses.shape, f"{len(self.responses)} impulses, of this problem")
        return self.free_joint_velocities + impulses @ self.responses


def _matrix(delassus) -> np.ndarray:
    if hasattr(delassus, "toarray"):
        G = delassus.toarray()
    elif hasattr(delassus, "matmat") and not isinstance(delassus, type):  # a LinearOperator
        G = delassus.matmat(np.eye(delassus.shape[1]))
    else:
        G = array(f"{WHAT}: delassus", delassus, "a square matrix, sparse matrix or LinearOperator")
    if G.ndim != 2 or G.shape[0] != G.shape[1]:
        raise ShapeError(f"{WHAT}: delassus has shape {G.shape}, expected a square matrix.", found=G.shape)
    if np.abs(G - G.T).max(initial=0.0) > SKEW * np.abs(G).max(initial=0.0):
        refuse(f"{WHAT}: delassus", delassus, "a symmetric matrix J M^-1 J^T")
    if (np.diag(G) < 0.0).any():
        refuse(f"{WHAT}: delassus", delassus, "a positive semidefinite matrix; a diagonal entry is negative")
    return 0.5 * (G + G.T)


def _bounds(bounds) -> tuple[int, np.ndarray]:
    x = np.zeros((0, 2)) if bounds is None else array(f"{WHAT}: bounds", bounds, "bounds", shape=(None, 2))
    if not (x[:, 0] <= x[:, 1]).all():
        refuse(f"{WHAT}: bounds", bounds, "lower impulses that are not above the upper ones")
    return len(x), x


def _of_contacts(name: str, value, n: int, least: float = 0.0, most: float = np.inf) -> np.ndarray:
    x = array(f"{WHAT}: {name}", value, "a number, or one for each contact")
    if x.shape not in ((), (n,)):
        raise ShapeError(f"{WHAT}: {name} has shape {x.shape}, expected a number or ({n},).", found=x.shape)
    if not (np.isfinite(x).all() and (x >= least).all() and (x <= most).all()):
        bounds = "finite values" if least < 0.0 else f"values from {least:g} to {most:g}, finite"
        refuse(f"{WHAT}: {name}", value, bounds)
    return np.broadcast_to(x, n).copy()


def _labels(labels, n: int, m: int) -> tuple[str, ...]:
    default = (*(f"contact {i}" for i in range(n)), *(f"row {j}" for j in range(m)))
    found = names(f"{WHAT}: labels", labels, "names of the contacts")
    if len(found) not in (0, n, n + m):
        refuse(f"{WHAT}: labels", labels, f"{n} names of contacts" + (f" and {m} of rows" if m else ""))
    return found + default[len(found) :]
