"""Conjugate gradients for the linear equations of implicit steps, without their matrix."""

from __future__ import annotations

import functools

import numpy as np

from kinetree.algorithms.complete import COMPLETE, refuse_unsupported
from kinetree.algorithms.implicit_products import implicit_factors, implicit_product, implicit_right_side
from kinetree.algorithms.manifold import integrate
from kinetree.errors import SimulationError, UnsupportedError
from kinetree.integrators.kernels import END, FORCES, finished, implicit_states, part

TOLERANCE = 1e-10  # of the residual relative to the right-hand side, both in the metric of the preconditioner
MOST = 20  # iterations for each velocity


def _right_side(model, q, v, tau, h, f_ext=None, u=None):
    refuse_unsupported(model, "aba")
    return implicit_right_side(model, q, v[: model.nv], tau, h, f_ext, v[model.nv :], u)


def _product(model, q, v, y, h, u=None):
    return implicit_product(model, q, v[: model.nv], y, h, v[model.nv :], u)


def _factors(model, q, v, h, u=None):
    return implicit_factors(model, q, v[: model.nv], h, v[model.nv :], u)


def _end(model, q, v, a, h, u=None):
    v_next = [v_k + h * a_k for v_k, a_k in zip(v, a, strict=False)]
    x_next = implicit_states(model, q, v[: model.nv], v[model.nv :], u, h, v_next)
    return finished(model, integrate(model, q, [h * v_k for v_k in v_next]), [*v_next, *x_next])


RIGHT_SIDE = part("implicit_right_side", _right_side, "q[nq] v[nw] tau[nv] h", "b[nv]", FORCES, domains=COMPLETE)
PRODUCT = part("implicit_product", _product, "q[nq] v[nw] y[nv] h", "z[nv]", "u[nu]")
FACTORS = part(
    "implicit_factors", _factors, "q[nq] v[nw] h", "r[nb,3] S[nv,6] K[nv,6] D_inv[nv]", "u[nu]", body_frames=True
)
LINEARLY_IMPLICIT_END = part("linearly_implicit_end", _end, "q[nq] v[nw] a[nv] h", END, "u[nu]")


class Equations:
    """``(M + h D + h^2 K) x = b`` of a tree, with Gauss-Newton slopes, by preconditioned conjugate gradients.

    Parameters
    ----------
    system : System
        The dynamics of a tree without constraints.
    preconditioned : bool
        Whether the articulated-body factorization is the preconditioner; otherwise none.

    Attributes
    ----------
    iterations : list of int
        Of every solution.

    Raises
    ------
    UnsupportedError
        The model has constraints.
    """

    def __init__(self, system, preconditioned: bool = True) -> None:
        model = system.model
        if model.constraints:
            raise UnsupportedError(
                f"implicit steps: conjugate gradients solve for trees, and model {model.name!r} has "
                f"constraints ({model.constraints[0]}). Use solver='direct'.",
                constraint=str(model.constraints[0]),
            )
        self._product = system.function(PRODUCT, checks=False)
        names = (FACTORS, "articulated_solve") if preconditioned else ()
        self._preconditioner = [system.function(spec, checks=False) for spec in names]
        self._first_input, self.iterations = int(system.wrenches), []

    def solve(self, q, v, h, b, given: tuple, tolerance: float, guess, t: float) -> tuple[np.ndarray, int]:
        """x and the number of iterations; ``given`` are wrenches and inputs of forces, t [s] is for messages."""
        inputs = given[self._first_input :]
        precondition = self.preconditioner(q, v, h, given)
        found = conjugate_gradients(
            lambda y: self._product(q, v, y, h, *inputs), b, precondition, guess, tolerance, MOST * len(b), t
        )
        self.iterations.append(found[1])
        return found

    def preconditioner(self, q, v, h, given: tuple):
        """The approximation of the inverse matrix at a state, as a function of vectors."""
        if not self._preconditioner:
            return _unchanged
        factorize, solve = self._preconditioner
        return functools.partial(solve, *factorize(q, v, h, *given[self._first_input :]))


class MatrixFreeStep:
    """Steps of linearly implicit Euler with Gauss-Newton slopes, by `Equations`, whose arguments it takes."""

    def __init__(self, system, preconditioned: bool = True) -> None:
        self._equations = Equations(system, preconditioned)
        self._right, self._end = (system.function(spec, checks=False) for spec in (RIGHT_SIDE, LINEARLY_IMPLICIT_END))
        self._first_input, self._a = int(system.wrenches), np.zeros(system.model.nv)
        self.iterations = self._equations.iterations

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]; ``tau(t)`` is an array, ``f_ext(t)`` a tuple of one or none."""
        h, given = np.array(h), f_ext(t)
        b = self._right(q, v, tau(t), h, *given)
        with np.errstate(all="ignore"):  # the loop of steps finds states that are not finite
            a, _ = self._equations.solve(q, v, h, b, given, TOLERANCE, self._a, t)
        self._a = a if np.isfinite(a).all() else np.zeros_like(a)
        return self._end(q, v, a, h, *given[self._first_input :])


def conjugate_gradients(product, b, precondition, x, tolerance: float, most: int, t: float = 0.0):
    """The solution of ``A x = b`` for a symmetric positive definite A, and the number of iterations.

    Parameters
    ----------
    product, precondition : callable
        ``A y``, and an approximation of ``A^-1 r``, symmetric positive definite.
    b, x : (n,) array
        Right-hand side and first guess, which is dropped where zero is nearer.
    tolerance : float
        Of ``r^T P r`` relative to ``b^T P b``, as root.
    most : int
        Iterations after which it is an error.
    t : float
        Time for messages [s].

    Raises
    ------
    SimulationError
        No convergence, or the matrix is not positive definite.

    Notes
    -----
    Source: Hestenes, Stiefel (1952); Saad, *Iterative Methods for Sparse Linear Systems*, algorithm 9.1.
    """
    r = b - product(x)
    z, at_zero = precondition(r), precondition(b)
    error, whole = float(r @ z), float(b @ at_zero)
    if not error <= whole:
        x, r, z, error = np.zeros_like(b), b, at_zero, whole
    p, enough = z, tolerance * tolerance * whole
    for n in range(most + 1):
        if error <= enough:
            return x, n
        Ap = product(p)
        curvature = float(p @ Ap)
        if not curvature > 0.0:
            break
        step = error / curvature
        x, r = x + step * p, r - step * Ap
        z = precondition(r)
        error, before = float(r @ z), error
        p = z + (error / before) * p
    cause = f"{n} iterations did not converge" if n == most else "the matrix is not positive definite"
    raise SimulationError(
        f"conjugate gradients: {cause} at t = {t:.9g} s. Use solver='direct', or springs that cannot push with a "
        "negative stiffness.",
        time=t,
        iterations=n,
    )


def _unchanged(r):
    return r
