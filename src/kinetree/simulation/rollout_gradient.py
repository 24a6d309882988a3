"""Gradients of objectives of rollouts by the adjoint of the steps: one reverse pass for any number of variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from kinetree.arguments import a_callable, a_method, a_model, a_truth_value, checked, some_names
from kinetree.compiler.derivative_functions import NUMBERS, chosen_numbers
from kinetree.compiler.function import Function
from kinetree.errors import unknown_name
from kinetree.integrators.closure import a_closure
from kinetree.model import Model
from kinetree.native.threads import checked_threads
from kinetree.once import made_once
from kinetree.simulation.adjoint_step import TANGENT_GRADIENT
from kinetree.simulation.reverse_pass import VARIABLES, ReversePass
from kinetree.simulation.rollout import Rollout
from kinetree.simulation.rollout_model import a_ground


@dataclass(frozen=True, slots=True, eq=False)
class RolloutGradient:
    """The objective of rollouts and its gradient, for each rollout of a batch.

    Attributes
    ----------
    value : (...) array
        The objective [in its unit].
    q0 : (..., nv) array
        Its derivative along the manifold: ``d/ds J(integrate(q0, s e_k))`` at s = 0 [per rad or m].
    v0 : (..., nv) array
        [per rad/s or m/s].
    x0 : (..., nx) array
        [per unit of each state].
    tau : (..., T, nv) array or None
        [per N m or N]; None unless it is a variable. Without the axis of time, (..., nv), if tau was given without one.
    control : (..., T, nu) array or None
        [per unit of each input].
    f_ext : (..., T, nb, 6) array or None
        [per N m, per N].
    numbers : (..., n) array or None
        [per unit of each number], in the order of the names that were chosen.
    """

    value: np.ndarray
    q0: np.ndarray
    v0: np.ndarray
    x0: np.ndarray
    tau: np.ndarray | None = None
    control: np.ndarray | None = None
    f_ext: np.ndarray | None = None
    numbers: np.ndarray | None = None


class DifferentiableRollout:
    """Rollouts of a model with the gradient of an objective, compiled.

    Parameters
    ----------
    model : Model
    running : callable, optional
        ``running(s)``, a scalar function of an instant: ``s.q``, ``s.v``, ``s.x``, ``s.tau``, ``s.u``,
        ``s.reference``, ``s.point(frame)``, ``s.velocity(frame)`` and so on, as in laws of force.
    terminal : callable, optional
        ``terminal(s)`` at the last state.
    wrt : sequence of {"tau", "control", "f_ext", "numbers"}
        Variables besides the state at the start, whose gradient is always given.
    numbers : sequence of str
        Which of ``model.numbers().names``, with ``*`` and ``?``, if "numbers" is a variable.
    integrator : str or object
        A fixed-step method, as for `Rollout`.
    ground : True, float or Ground, optional
        Contact of all collision shapes with the ground, as for `rollout`. By default the contacts of the model alone.
    closure : str, Baumgarte or mapping
        How steps keep loops closed, as for `simulate`.
    checks : bool
        Whether states or gradients that are not finite end the call with an error.
    threads : int, optional
        The most threads that share the states; default all cores.

    Notes
    -----
    The objective is ``J = terminal(s_T) + dt sum_k running(s_k)``, k = 0 to T - 1. Each step is differentiated exactly
    as it is computed (reverse mode), so that the gradient is that of the discrete motion, to rounding. A gradient takes
    1.5 to 4 times as long as the rollout. States of all steps are kept in memory; where they are larger than a quarter
    of a GiB, the rollout is computed twice, in segments.
    Functions of objectives are traced: they branch by `kinetree.spatial.scalar.where`, not by ``if``. Numbers in their
    closures are constants of the code; values that change from call to call belong into ``reference``.
    In models with couplings or loops the gradients with respect to q0 and v0 hold along consistent changes.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> pole = kt.models.cart_pole()
    >>> effort = lambda s: 0.01 * s.tau[0] ** 2
    >>> upright = lambda s: (s.q[1] - 1.0) ** 2 + s.v[1] ** 2
    >>> roll = kt.simulation.DifferentiableRollout(pole, effort, upright, integrator="rk4")
    >>> found = roll(np.zeros(2), None, np.zeros((50, 2)), 0.02)
    >>> float(found.value), found.tau.shape
    (1.0, (50, 2))
    """

    @checked(
        model=a_model, integrator=a_method, closure=a_closure, checks=a_truth_value, wrt=some_names, numbers=some_names
    )
    def __init__(
        self,
        model,
        running: Callable | None = None,
        terminal: Callable | None = None,
        *,
        wrt: Sequence[str] = ("tau",),
        numbers: Sequence[str] = ("*",),
        integrator="auto",
        ground=None,
        closure="projection",
        checks: bool = True,
        threads: int | None = None,
    ) -> None:
        for what, function in (("running", running), ("terminal", terminal)):
            if function is not None:
                a_callable(f"DifferentiableRollout: {what}", function)
        wrt = (wrt,) if isinstance(wrt, str) else tuple(wrt)
        for name in wrt:
            if name not in VARIABLES:
                raise unknown_name("variable", name, VARIABLES, "gradients of rollouts, beside the state at the start")
        self.rollout = Rollout(model, integrator, ground=ground, closure=closure, checks=checks, threads=threads)
        self.running, self.terminal = running, terminal
        self.wrt = tuple(name for name in VARIABLES if name in wrt)
        self.checks, self.threads = bool(checks), checked_threads(threads)
        base = self.rollout._base
        self.chosen = chosen_numbers(base, numbers) if NUMBERS in self.wrt else ()
        self.numbers = tuple(base.numbers().names[j] for j in self.chosen)
        self._functions: dict[tuple, Function] = {}

    @property
    def model(self):
        """The mechanism that is simulated."""
        return self.rollout.model

    def __call__(
        self, q0, v0, tau, dt: float, *, steps=None, f_ext=None, x0=None, control=None, reference=None, t0=None
    ) -> RolloutGradient:
        """The objective and its gradient; arguments as for `rollout`, computed in float64.

        Parameters
        ----------
        q0 : (..., nq) array
            Positions at the start [rad or m; quaternions unit, (w, x, y, z)].
        v0 : (..., nv) array or None
            Velocities at the start [rad/s or m/s]; None for rest.
        tau : (..., T, nv) array or None
            Joint forces [N m or N], as for `rollout`; None for none.
        dt : float
            Step [s].
        steps : int, optional
            T, if no input varies with time.
        f_ext : (..., T, nb, 6) array or mapping, optional
            External wrenches on the bodies [N m, N], as for `rollout`.
        x0 : (..., nx) array, optional
            Internal states of force elements at the start [as the elements define them].
        control : (..., T, nu) array or mapping, optional
            Inputs of force elements [as the elements define them].
        reference : (..., T + 1, n) or (n,) array, optional
            Values that the objectives use [in any unit], one row for each instant or one for all, as
            ``s.reference``.
        t0 : float or (...) array, optional
            Time at the start [s] of models that depend on it.

        Returns
        -------
        RolloutGradient

        Raises
        ------
        SimulationError
            A motion or the gradient is no longer finite.
        ShapeError
            As for `rollout`, or reference has no row for each instant.
        """
        given = {"f_ext": f_ext, "x0": x0, "control": control, "t0": t0}
        call = ReversePass(self, q0, v0, tau, dt, steps, given, reference)
        return self._result(call, call.gradient(call.objective_at_end))

    def pull_back(
        self,
        q0,
        v0,
        tau,
        dt: float,
        q_cotangent,
        v_cotangent,
        *,
        steps=None,
        f_ext=None,
        x0=None,
        control=None,
        t0=None,
    ) -> RolloutGradient:
        """The gradient of any objective, from its derivatives with respect to the recorded states.

        Parameters
        ----------
        q0 : (..., nq) array
            Positions at the start [rad or m; quaternions unit, (w, x, y, z)].
        v0 : (..., nv) array or None
            Velocities at the start [rad/s or m/s]; None for rest.
        tau : (..., T, nv) array or None
            Joint forces [N m or N], as for `rollout`; None for none.
        dt : float
            Step [s].
        q_cotangent : (..., T + 1, nq) array
            Derivatives with respect to the entries of the recorded positions [of the objective per rad or m].
        v_cotangent : (..., T + 1, nv + nx) array
            Derivatives with respect to the recorded velocities, then the internal states [of the objective per unit].
        steps : int, optional
            T, if no input varies with time.
        f_ext : (..., T, nb, 6) array or mapping, optional
            External wrenches on the bodies [N m, N], as for `rollout`.
        x0 : (..., nx) array, optional
            Internal states of force elements at the start [as the elements define them].
        control : (..., T, nu) array or mapping, optional
            Inputs of force elements [as the elements define them].
        t0 : float or (...) array, optional
            Time at the start [s] of models that depend on it.

        Returns
        -------
        RolloutGradient
            Its value is zero.
        """
        given = {"f_ext": f_ext, "x0": x0, "control": control, "t0": t0}
        call = ReversePass(self, q0, v0, tau, dt, steps, given)
        call.take_cotangents(q_cotangent, v_cotangent)
        return self._result(call, call.gradient(call.cotangents_at_end))

    def _result(self, call: ReversePass, found: dict) -> RolloutGradient:
        tangent = self._function(("tangent",), lambda: TANGENT_GRADIENT, call.roller)
        found["q0"] = tangent(np.ascontiguousarray(np.broadcast_to(call.start[0], found["q0"].shape)), found["q0"])
        return RolloutGradient(**found)

    def _function(self, key: tuple, spec: Callable, roller: Rollout) -> Function:
        """The compiled function of a declaration, for the model and the numbers of a rollout."""

        def made():
            f = Function(spec(), roller._base, (), {}, False, self.threads)
            for parameters in roller._parameters:
                f = f.with_parameters(parameters)
            return f

        return made_once(self._functions, (roller.integrator, *key), made)

    def with_parameters(self, parameters) -> DifferentiableRollout:
        """The same for other numbers of the model, as `Rollout.with_parameters`.

        Parameters
        ----------
        parameters : Model, mapping, or (..., n) array [SI]
            Sets with leading axes give every rollout of a batch its own numbers.

        Returns
        -------
        DifferentiableRollout
        """
        other = object.__new__(DifferentiableRollout)
        vars(other).update(vars(self), rollout=self.rollout.with_parameters(parameters), _functions={})
        return other


@checked(
    model=a_model, integrator=a_method, closure=a_closure, checks=a_truth_value, wrt=some_names, numbers=some_names
)
def rollout_gradient(
    model,
    q0,
    v0,
    tau,
    dt: float,
    *,
    running: Callable | None = None,
    terminal: Callable | None = None,
    wrt: Sequence[str] = ("tau",),
    numbers: Sequence[str] = ("*",),
    steps: int | None = None,
    integrator="auto",
    ground=None,
    f_ext=None,
    x0=None,
    control=None,
    reference=None,
    t0=None,
    closure="projection",
    checks: bool = True,
    threads: int | None = None,
) -> RolloutGradient:
    """The objective of rollouts and its gradient by the start, inputs and numbers of the model, in one call.

    Parameters
    ----------
    model : Model
    q0 : (..., nq) array
        Positions at the start [rad or m; quaternions unit, (w, x, y, z)].
    v0 : (..., nv) array or None
        Velocities at the start [rad/s or m/s]; None for rest.
    tau : (..., T, nv) array or None
        Joint forces [N m or N], as for `rollout`; None for none.
    dt : float
        Step [s].
    running, terminal : callable, optional
        Scalar functions of an instant, at each step and at the end, as for `kinetree.simulation.DifferentiableRollout`.
        Define them once: new functions are compiled anew.
    wrt : sequence of {"tau", "control", "f_ext", "numbers"}
        Variables besides the state at the start.
    numbers : sequence of str
        Which of ``model.numbers().names``, with ``*`` and ``?``, if "numbers" is a variable.
    steps : int, optional
        T, if no input varies with time.
    integrator : str or object
        A fixed-step method, as for `rollout`.
    ground : True, float or Ground, optional
        Contact of all collision shapes with the ground, as for `rollout`. By default the contacts of the model alone.
    f_ext : (..., T, nb, 6) array or mapping, optional
        External wrenches on the bodies [N m, N], as for `rollout`.
    x0 : (..., nx) array, optional
        Internal states of force elements at the start [as the elements define them].
    control : (..., T, nu) array or mapping, optional
        Inputs of force elements [as the elements define them].
    reference : (..., T + 1, n) or (n,) array, optional
        Values that the objectives use [in any unit], one row for each instant or one for all, as ``s.reference``.
    t0 : float or (...) array, optional
        Time at the start [s] of models that depend on it.
    closure : str, Baumgarte or mapping
        How steps keep loops closed, as for `simulate`.
    checks : bool
        Whether states or gradients that are not finite end the call with an error.
    threads : int, optional
        The most threads that share the states; default all cores.

    Returns
    -------
    RolloutGradient
        ``value``, and the derivatives ``q0``, ``v0``, ``x0`` and those of ``wrt``, for each rollout.

    Raises
    ------
    SimulationError
        A motion or the gradient is no longer finite.
    ShapeError, NonFiniteError, QuaternionError, CouplingError, ConstraintError, UnknownNameError
        As `rollout`.

    See Also
    --------
    rollout, check_gradient

    Examples
    --------
    The forces that move a pendulum to 1 rad, by plain gradient descent:

    >>> import kinetree as kt, numpy as np
    >>> arm, tau = kt.models.pendulum(), np.zeros((100, 1))
    >>> there = lambda s: (s.q[0] - 1.0) ** 2 + 0.1 * s.v[0] ** 2
    >>> for _ in range(60):
    ...     found = kt.rollout_gradient(arm, [0.0], None, tau, 0.02, terminal=there)
    ...     tau -= 100.0 * found.tau
    >>> bool(found.value < 1e-3)
    True
    """
    wrt, numbers = ((x,) if isinstance(x, str) else tuple(x) for x in (wrt, numbers))
    key = (
        "rollout_gradient", running, terminal, wrt, numbers, integrator, a_ground(ground),
        tuple(closure.items()) if isinstance(closure, Mapping) else closure, bool(checks), threads,
    )  # fmt: skip
    functions = model.functions if isinstance(model, Model) else {}
    try:
        compiled = functions.get(key)
    except TypeError:  # an argument that has no hash is refused below
        compiled, functions = None, {}
    if compiled is None:
        compiled = DifferentiableRollout(
            model, running, terminal, wrt=wrt, numbers=numbers, integrator=integrator, ground=ground, closure=closure,
            checks=checks, threads=threads,
        )  # fmt: skip
        compiled = functions.setdefault(key, compiled)
    return compiled(q0, v0, tau, dt, steps=steps, f_ext=f_ext, x0=x0, control=control, reference=reference, t0=t0)
