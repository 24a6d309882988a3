"""CVODE and IDA of SUNDIALS, through scikit-sundae: variable order and step, for stiff and long motions."""

from __future__ import annotations

import math

import numpy as np

from kinetree.errors import MissingDependencyError, SimulationError
from kinetree.integrators.state_jacobian import StateJacobian

SUNDIALS_METHODS = ("CVODE", "CVODE_ADAMS", "IDA")
MOST_STEPS = 100_000  # between two samples


def load_sundials():
    """The package scikit-sundae.

    Raises
    ------
    MissingDependencyError
        It is not installed.
    """
    try:
        import sksundae
        import sksundae.cvode
        import sksundae.ida
    except ImportError:
        raise MissingDependencyError(
            "the methods CVODE, CVODE_ADAMS and IDA need the package scikit-sundae: pip install scikit-sundae. "
            "Without it, kt.integrators.Adaptive('BDF') or 'Radau' are for stiff "
            "motions, too.",
            package="scikit-sundae",
        ) from None
    return sksundae


class SundialsProblem:
    """The equations of a run in the form of SUNDIALS, with Jacobians in closed form.

    CVODE uses the rate of the state; IDA the residuals ``q' - q_dot(q, v)`` and ``ID(q, v, v') - tau``, so that
    forward dynamics are never computed. In models with constraints or internal states its residual is the rate's,
    ``y' - f(t, y)``: accelerations obey the constraints, and states are closed by projection. Beside loops and internal
    states Jacobians are differences.

    Parameters
    ----------
    system : System
    right_hand_side : callable
        ``right_hand_side(t, y) -> y'``; its errors end the run.
    tau, f_ext : callable
        ``tau(t, q, v)`` and ``f_ext(t)``, as for `solve_adaptive`.
    events : list of callable
        ``event(t, y)`` with the attributes ``terminal`` and ``direction`` of SciPy's events.
    """

    def __init__(self, system, right_hand_side, tau, f_ext, events) -> None:
        self._system, self._rhs, self._tau, self._f_ext, self._events = system, right_hand_side, tau, f_ext, events
        self._jacobian = StateJacobian(system, tau, f_ext)
        self._normalize, self._q_dot = system.function("normalize"), system.function("q_dot")
        self._dynamics = system.function("forward_dynamics", checks=False)
        self._inverse = system.function("inverse_dynamics", checks=False)
        self._failure, self.evaluations = None, 0

    def solve(self, y, samples, of) -> np.ndarray:
        """The states at the samples, (T, n), from the state y at the first.

        Parameters
        ----------
        y : (n,) array
        samples : (T,) array
            [s]
        of : Adaptive
            The method and its options.
        """
        method, max_step = of.method, of.longest
        package = load_sundials()
        options = {"rtol": of.rtol, "atol": of.atol, "max_num_steps": MOST_STEPS, "num_events": len(self._events)}
        options |= {"max_step": max_step} if max_step < math.inf else {}
        if self._events:
            options["eventsfn"] = self._event_function(method)
        if method == "IDA":
            rate = self._rhs(float(samples[0]), np.array(y))
            explicit = bool(self._system.model.constraints or self._system.model.nx)
            residual, exact = (self._rate_residual, None) if explicit else (self._residual, self._ida_jacobian)
            solver = package.ida.IDA(residual, jacfn=exact, **options)
            initial = (y, rate)
        else:
            kind = "Adams" if method == "CVODE_ADAMS" else "BDF"
            by_differences = self._system.has_loops or self._system.model.nx
            exact = None if by_differences else self._cvode_jacobian
            solver = package.cvode.CVODE(self._rate, method=kind, jacfn=exact, **options)
            initial = (y,)
        times = np.unique(samples)
        try:
            solution = solver.solve(times, *initial)
        except Exception as error:
            raise self._failure or SimulationError(f"simulate: {method} stopped: {error}", method=method) from error
        if self._failure is not None:
            raise self._failure
        found = np.asarray(solution.t), np.asarray(solution.y)
        if not solution.success:
            raise SimulationError(
                f"simulate: {method} stopped at t = {found[0][-1]:.9g} s: {solution.message}. Try larger rtol and "
                "atol, or kt.integrators.Adaptive('Radau').",
                time=float(found[0][-1]),
                method=method,
                cause=str(solution.message),
            )
        return found[1][np.isin(found[0], samples)]

    def _guarded(self, action, result) -> int:
        """Fill ``result`` with the values of ``action``, storing an error: the solver cannot pass it on."""
        self.evaluations += 1
        try:
            result[...] = action()
        except BaseException as error:  # also Ctrl-C, which C code would discard
            self._failure = self._failure or error
            result[...] = np.nan
        return 0

    def _rate(self, t, y, yp):
        self._guarded(lambda: self._rhs(t, np.array(y)), yp)

    def _cvode_jacobian(self, t, y, yp, J):
        def values():
            q, v = self._state(y)
            return self._jacobian.at(t, q, v, self._dynamics(q, v, self._tau(t, q, v), *self._f_ext(t)))

        self._guarded(values, J)

    def _rate_residual(self, t, y, yp, res):
        self._guarded(lambda: np.array(yp) - self._rhs(t, np.array(y)), res)

    def _residual(self, t, y, yp, res):
        def values():
            q, v = self._state(y)
            nq = len(q)
            forces = self._inverse(q, v, np.array(yp[nq:]), *self._f_ext(t)) - self._tau(t, q, v)
            return np.concatenate((yp[:nq] - self._q_dot(q, v), forces))

        self._guarded(values, res)

    def _ida_jacobian(self, t, y, yp, res, cj, J):
        def values():
            q, v = self._state(y)
            nq, a = len(q), np.array(yp[len(q) :])
            by_q, N = self._jacobian.rates(q, v)
            dr_dq, dr_dv, M, tau_q, tau_v = self._jacobian.force_slopes(t, q, v, a)
            return np.block([[cj * np.eye(nq) - by_q, -N], [dr_dq @ np.linalg.pinv(N) - tau_q, cj * M + dr_dv - tau_v]])

        self._guarded(values, J)

    def _state(self, y):
        y, nq = np.array(y), self._system.model.nq
        return self._normalize(y[:nq]), np.ascontiguousarray(y[nq:])

    def _event_function(self, method):
        events = self._events

        def values(t, y, *rest):
            rest[-1][:] = [event(t, np.array(y)) for event in events]

        def cvode(t, y, out):
            values(t, y, out)

        def ida(t, y, yp, out):
            values(t, y, out)

        function = ida if method == "IDA" else cvode
        function.terminal, function.direction = [False] * len(events), [0] * len(events)
        return function
