"""A scene: a model, its start, its constraints and forces over time, and the published results."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from kinetree.compiler.calls import public_call
from kinetree.integrators.system import dynamics_time


@dataclass(frozen=True, slots=True)
class Expected:
    """Published values at the end of a run.

    Attributes
    ----------
    energy : float
        Kinetic energy, plus the potential energy less that of the start [erg].
    q, v : tuple of float
        Positions and velocities in the order of the source, from the last body's joint to the first's; empty where
        there are none.
    tolerance : float
        Relative tolerance of the source.
    """

    energy: float
    q: tuple[float, ...] = ()
    v: tuple[float, ...] = ()
    tolerance: float = 1e-7


@dataclass(frozen=True)
class Scene:
    """A scene of a collection, as data.

    Attributes
    ----------
    key : str
        Its number; those of differentiable REDMAX begin with "d".
    title : str
    build : callable
        Gives the tree with its force elements.
    q0, v0 : tuple of float
        Positions and velocities at the start, in the order of the model's joints; empty for zeros [rad, cm].
    duration, dt : float
        Length of the run, and the step of the fixed-step schemes [s].
    torques : tuple
        Joint forces that are constant for some time: pairs of the time at which they end and their values
        [g cm^2/s^2 or g cm/s^2].
    rows : tuple
        Constraints as rows of the velocity-level scheme, `kinetree.scenes.rows`.
    gain : float
        Baumgarte's coefficient of these rows [1/s].
    constraints : callable, optional
        The same as constraints of the model.
    driven : bool
        Whether constraints depend on time.
    assembled : bool
        Whether the start obeys the constraints only after corrections: of positions, and of velocities by impulses.
    explicit_springs : bool
        Whether the velocity-level scheme leaves the stiffness of force elements out of its matrix.
    energy_scale : float
        Energy of springs in the source, relative to the work of their forces.
    conservative : bool
        Whether the energy of the exact motion is constant.
    listed : int, optional
        The number of coordinates that the source lists; default: all.
    order : tuple of int
        The coordinates in the order of the source; empty: joints from the last to the first.
    charts : bool
        Whether "bdf2" of the source changes the sequences of Euler angles.
    expected : mapping
        Results by formulation: "velocity_euler", "bdf1", "bdf2", or "exact".
    """

    key: str
    title: str
    build: Callable
    q0: tuple[float, ...] = ()
    v0: tuple[float, ...] = ()
    duration: float = 2.0
    dt: float = 1e-2
    torques: tuple = ()
    rows: tuple = ()
    gain: float = 5.0
    constraints: Callable | None = None
    driven: bool = False
    assembled: bool = False
    explicit_springs: bool = False
    energy_scale: float = 1.0
    conservative: bool = True
    listed: int | None = None
    order: tuple[int, ...] = ()
    charts: bool = False
    expected: Mapping[str, Expected] = field(default_factory=dict)

    @functools.cached_property
    def tree(self):
        """The model without its constraints."""
        return self.build()

    @functools.cached_property
    def model(self):
        """The model with its constraints."""
        return self.tree if self.constraints is None else self.tree.with_constraints(*self.constraints())

    @property
    def has_exact_motion(self) -> bool:
        """Whether its constraints are in the model, so that integrators of `simulate` take it."""
        return not self.rows or self.constraints is not None

    @property
    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions and velocities at the start."""
        q0 = np.array(self.q0, dtype=float) if self.q0 else self.tree.neutral()
        return q0, np.array(self.v0 or np.zeros(self.tree.nv), dtype=float)

    def tau(self, t: float) -> np.ndarray:
        """Joint forces at a time [s]."""
        return next((np.array(tau) for end, tau in self.torques if t < end), np.zeros(self.tree.nv))

    def in_source_order(self, x) -> np.ndarray:
        """The coordinates of a state as the source lists them."""
        model = self.tree
        order = self.order or [k for i in reversed(model.outward()) for k in range(*_limits(model.v_slice[i]))]
        listed = [k for k in order if k < (self.listed or model.nv)]
        return np.asarray(x)[..., listed]

    def energies(self, q, v, t=0.0) -> tuple[np.ndarray, np.ndarray]:
        """Kinetic energy, and potential energy with that of the springs, as the source counts it [erg]."""
        model, time = self.model, dynamics_time(self.model, t)
        later = time if model.time_dependent else ()
        T, V, E = (public_call(name) for name in ("kinetic_energy", "potential_energy", "elastic_energy"))
        return T(model, q, v, *later), V(model, q, *later) + self.energy_scale * E(model, q, *later)


def _limits(s: slice) -> tuple[int, int]:
    return s.start, s.stop
