"""Ways to keep loops closed in steps: projection, Baumgarte's stabilization, none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kinetree.algorithms.constrained import remaining_rows
from kinetree.arguments import a_positive_number, refuse
from kinetree.errors import SimulationError, unknown_name

PROJECTION, NONE = "projection", "none"
EXPECTED = "'projection', 'none', kt.integrators.Baumgarte(T_stab), or a mapping of names of loops to these"


@dataclass(frozen=True, slots=True)
class Baumgarte:
    """Stabilization of loops by accelerations that let errors decay: ``K a = k - 2 alpha (K v + g) - beta^2 phi(q)``.

    Parameters
    ----------
    T_stab : float
        Time constant of the decay [s]: ``alpha = beta = 1 / T_stab``, critically damped. Several steps long; a shorter
        one makes the equations stiff.

    Notes
    -----
    Source: Featherstone (2008), section 8.3, eq. 8.21-8.23; Baumgarte (1972). Errors stay of the order of the step's
    own, which projection does not leave; energy is not conserved. Rows without positions decay by ``alpha (K v + g)``.

    Raises
    ------
    ArgumentError
        T_stab is not positive.

    Examples
    --------
    >>> import kinetree as kt
    >>> linkage, soft = kt.models.four_bar(), kt.integrators.Baumgarte(T_stab=0.02)
    >>> run = kt.simulate(linkage, duration=0.2, closure=soft)
    >>> gap = kt.pose(linkage, run.q, frame="coupler_tip").p_WF - kt.pose(linkage, run.q, frame="rocker_tip").p_WF
    >>> bool(1e-14 < abs(gap).max() < 1e-9)
    True
    """

    T_stab: float

    def __post_init__(self) -> None:
        a_positive_number("Baumgarte: T_stab", self.T_stab)
        object.__setattr__(self, "T_stab", float(self.T_stab))

    @property
    def gains(self) -> tuple[float, float]:
        """``(2 alpha, beta^2)`` [1/s, 1/s^2]."""
        return 2.0 / self.T_stab, 1.0 / self.T_stab**2


def a_closure(what: str, value: object) -> None:
    """Check of an argument: a way to keep loops closed, or one for each of some loops."""
    entries = value.values() if isinstance(value, Mapping) else (value,)
    if not all(isinstance(x, Baumgarte) or x in (PROJECTION, NONE) for x in entries if _comparable(x)):
        refuse(what, value, EXPECTED)
    if not all(map(_comparable, entries)):
        refuse(what, value, EXPECTED)


def _comparable(x) -> bool:
    return isinstance(x, (str, Baumgarte))


def closed_by(model, closure, method, who: str):
    """The model whose steps keep loops closed in this way.

    Parameters
    ----------
    model : Model
        As simulated.
    closure : str, Baumgarte or mapping
        Of names of loops, in a mapping; the others are projected.
    method : object
        The integrator.
    who : str
        Function, for messages.

    Raises
    ------
    UnknownNameError
        There is no loop of this name.
    SimulationError
        The method closes loops by its own equations.
    """
    if closure == PROJECTION:
        return model
    left = {c.label: c for c in remaining_rows(model)}
    ways = dict(closure) if isinstance(closure, Mapping) else dict.fromkeys(left, closure)
    for name in ways:
        if name not in left:
            raise unknown_name("loop", name, left, f"model {model.name!r}")
    itself = getattr(method, "keeps_loops", False) or getattr(method, "closes_loops", False)
    if itself and any(way != PROJECTION for way in ways.values()):
        raise SimulationError(
            f"{who}: integrator {method.name!r} closes loops by the equations of its steps, so it takes no other "
            f"closure than {PROJECTION!r}.",
            closure=closure,
        )
    gains = {name: (0.0, 0.0) if way == NONE else way.gains for name, way in ways.items() if way != PROJECTION}
    return model.stabilized(tuple(gains.get(c.label) if c in left.values() else None for c in model.constraints))
