"""The generalized-alpha method on the manifold: order 2, with the damping of fast vibrations as a parameter."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.errors import SimulationError
from kinetree.integrators.kernels import RATE, RATE_AND_MULTIPLIERS
from kinetree.integrators.memory import Memory
from kinetree.integrators.newton import Newton

PROBE = 1e-4  # [s] over which the rate of the first acceleration is measured


@dataclass(frozen=True, slots=True)
class AlphaCoefficients:
    """The coefficients of the method for a spectral radius.

    Parameters
    ----------
    rho : float
        Amplitude of an infinitely fast vibration after one step relative to that before, 0 to 1.

    Attributes
    ----------
    alpha_m, alpha_f, beta, gamma : float
        Those of Chung and Hulbert: order 2, and the least damping of slow motions for this rho.

    Examples
    --------
    >>> c = AlphaCoefficients(1.0)
    >>> c.alpha_m, c.alpha_f, c.beta, c.gamma
    (0.5, 0.5, 0.25, 0.5)
    """

    rho: float

    def __post_init__(self) -> None:
        if not (isinstance(self.rho, (int, float)) and 0.0 <= self.rho <= 1.0):
            raise SimulationError(
                f"generalized alpha: rho is {self.rho!r}, expected a spectral radius between 0 (fast "
                "vibrations vanish in one step) and 1 (they are kept).",
                rho=self.rho,
            )

    @property
    def alpha_m(self) -> float:
        return (2.0 * self.rho - 1.0) / (self.rho + 1.0)

    @property
    def alpha_f(self) -> float:
        return self.rho / (self.rho + 1.0)

    @property
    def gamma(self) -> float:
        return 0.5 + self.alpha_f - self.alpha_m

    @property
    def beta(self) -> float:
        return 0.25 * (self.gamma + 0.5) ** 2

    def weights(self, h: float) -> tuple[float, float]:
        """``(x1, w1)``: the parts of dv/dt at the end in the step xi and in the velocity at the end."""
        fraction = (1.0 - self.alpha_f) / (1.0 - self.alpha_m)
        return h * h * self.beta * fraction, h * self.gamma * fraction

    def predicted(self, h: float, v, a, v_dot):
        """``(x0, w0)``: step and velocity but for the part of dv/dt at the end; internal states follow velocities."""
        known = (self.alpha_f * v_dot - self.alpha_m * a) / (1.0 - self.alpha_m)
        x0 = h * v + (h * h) * ((0.5 - self.beta) * a + self.beta * known)
        return x0, v + h * ((1.0 - self.gamma) * a + self.gamma * known)

    def accelerations(self, a, v_dot, v_dot_next):
        """The method's own accelerations after the step, those of about ``alpha_m - alpha_f`` steps later."""
        known = self.alpha_f * v_dot - self.alpha_m * a
        return (known + (1.0 - self.alpha_f) * v_dot_next) / (1.0 - self.alpha_m)


@dataclass(frozen=True, slots=True)
class GeneralizedAlpha:
    """Generalized-alpha on Lie groups, for trees and closed loops: the differential-algebraic equations of index 3.

        q+ = q (+) (h v + h^2 ((1/2 - beta) a + beta a+)),       v+ = v + h ((1 - gamma) a + gamma a+),
        (1 - alpha_m) a+ + alpha_m a = (1 - alpha_f) dv/dt+ + alpha_f dv/dt,

    dv/dt+ by the dynamics at the end of the step. Order 2; stable for all stiffness; infinitely fast vibrations are
    reduced by rho with every step.

    Parameters
    ----------
    rho : float
        Spectral radius at infinite frequency, 0 to 1: the factor on infinitely fast vibrations in one step.

    Notes
    -----
    Source: Bruls, Cardona, Arnold (2012), "Lie group generalized-alpha time integration of constrained flexible
    multibody systems", eq. 39-43, on the groups of the joints; Chung, Hulbert (1993) for the coefficients. The first
    step, and the first after a reset of the state, takes a = dv/dt, which keeps order 2 of positions and velocities.
    It keeps accelerations from step to step, so it has no step algorithm for rollouts.

    Loop joints, and other rows that are not eliminated: ``M dv/dt + c = tau + G^T lambda``, ``phi(q+) = 0`` at the end
    of each step, scaled by h^2 as in Bottasso, Bauchau, Cardona (2007), so positions stay closed to rounding and
    velocities to the order of the method. A body in absolute coordinates is one on a `Free` joint (SE(3)), or on
    ``Composite((Translational(), Spherical()))`` (R^3 x SO(3)), its joint to the world a loop joint. The start is
    consistent: dv/dt and lambda from the equations of index 1, and a those of the time to which it belongs,
    ``(alpha_m - alpha_f) h`` later (Arnold, Bruls, Cardona 2015). Multipliers have order 2 once the first steps are
    over; on R^3 x SO(3) these are wrong by order h (the heavy top: 15 N at h = 0.125 ms), on SE(3) they are not. They
    are in the energy balance of a run, ``run.energy_balance.others["force.<loop>.<row>"]``.

    Examples
    --------
    >>> import kinetree as kt
    >>> soft = kt.integrators.GeneralizedAlpha(rho=0.5)
    >>> kt.simulate(kt.load("double_pendulum"), [1.0, 0.5], duration=0.1, integrator=soft).integrator
    'generalized_alpha (rho=0.5)'
    """

    rho: float = 0.8

    name = "generalized_alpha"
    algorithm = None  # a step needs the accelerations of the one before
    order = 2
    keeps_loops = internal_states = True

    def __post_init__(self) -> None:
        AlphaCoefficients(self.rho)

    def __str__(self) -> str:
        return self.name if self == GeneralizedAlpha() else f"{self.name} (rho={self.rho:g})"

    def __call__(self, system) -> GeneralizedAlphaStep:
        """The method for the dynamics of one model."""
        return GeneralizedAlphaStep(system, AlphaCoefficients(self.rho))


class GeneralizedAlphaStep:
    """Steps of `GeneralizedAlpha`.

    Parameters
    ----------
    system : System
        The dynamics.
    coefficients : AlphaCoefficients
    """

    name = GeneralizedAlpha.name

    def __init__(self, system, coefficients: AlphaCoefficients) -> None:
        self._system, self.coefficients = system, coefficients
        self._newton, self._memory = Newton(system, self.name), Memory()
        spec = RATE_AND_MULTIPLIERS if self._newton.has_rows else RATE
        self._dynamics, self._nv = system.function(spec, checks=False), system.model.nv
        self.multipliers = None  # in models with loops, those at both ends of the last step
        self.reset, self.get_state, self.set_state = self._memory.clear, self._memory.get_state, self._memory.set_state

    def step(self, t, h, q, v, tau, f_ext):
        """Advance (q, v) from time t [s] by h [s]; ``tau(t)`` is an array, ``f_ext(t)`` a tuple of one or none."""
        past, c, newton = self._memory.at(t, h, q, v), self.coefficients, self._newton
        a, v_dot, before = past or self._begun(h, q, v, (tau(t), *f_ext(t)))
        nv = self._nv
        newton.multipliers = before
        (x0, w0), (x1, w1), end = c.predicted(h, v, a, v_dot), c.weights(h), t + h
        v_dot_next = newton.solve(end, q, x0[:nv], w0, v_dot, tau(end), x1, w1, f_ext(end))
        v_next = w0 + w1 * v_dot_next
        q_next, v_regular = newton.end(q, (x0 + x1 * v_dot_next)[:nv], v_next, *self._system.end_time(end))
        self.multipliers = before, newton.multipliers
        if newton.in_same_charts(v_next, v_regular):
            kept = c.accelerations(a, v_dot, v_dot_next), v_dot_next, newton.multipliers
            self._memory.keep(end, q_next, v_regular, kept)
        else:  # another chart: these accelerations are in the coordinates of the old one
            self._memory.clear()
        return q_next, v_regular

    def _begun(self, h, q, v, forces):
        """The method's accelerations at a start, dv/dt, and the multipliers."""
        if not self._newton.has_rows:
            v_dot = self._dynamics(q, v, *forces)
            return v_dot, v_dot, self._newton.multipliers
        v_dot, lam = self._dynamics(q, v, *forces)
        move = self._system.function("integrate", checks=False)
        ahead, behind = (
            self._dynamics(move(q, (s * v + (0.5 * s * s) * v_dot)[: self._nv]), v + s * v_dot, *forces)[0]
            for s in (PROBE, -PROBE)
        )
        c = self.coefficients
        return v_dot + (c.alpha_m - c.alpha_f) * h * (ahead - behind) / (2.0 * PROBE), v_dot, lam
