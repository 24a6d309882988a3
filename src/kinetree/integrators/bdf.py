"""The options of the backward differentiation formulas."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.arguments import choice, refuse, whole
from kinetree.integrators.bdf1 import BDF1
from kinetree.integrators.bdf2 import BDF2
from kinetree.integrators.linearly_implicit import SOLVERS

METHODS = {1: BDF1, 2: BDF2}
OF_ROLLOUTS = ("start", "around_end", "start_around_end")


@dataclass(frozen=True, slots=True)
class BDF:
    """Backward differentiation formulas with their options; ``integrator="bdf2"`` is ``BDF(2)``, "bdf1" ``BDF(1)``.

    Parameters
    ----------
    order : {1, 2}
        1 is implicit Euler.
    solver : {"direct", "conjugate_gradients"}
        Of Newton's equations: elimination of the exact matrix; or conjugate gradients without a matrix, with
        Gauss-Newton slopes of the passive forces, preconditioned by the articulated-body factorization, for large trees
        with many springs, in models without constraints. The equations of the step are the same, and they are solved to
        rounding; the second iteration converges linearly, and where it is slow, GMRES with exact products takes over.

    Raises
    ------
    ArgumentError, UnknownNameError
        Another order, or no such solver.

    Examples
    --------
    >>> import kinetree as kt
    >>> method = kt.integrators.BDF(2, "conjugate_gradients")
    >>> run = kt.simulate(kt.load("double_pendulum"), [1.0, 0.5], duration=0.1, integrator=method)
    >>> other = kt.simulate(kt.load("double_pendulum"), [1.0, 0.5], duration=0.1, integrator="bdf2")
    >>> bool(abs(run.q - other.q).max() < 1e-12)
    True
    """

    order: int = 2
    solver: str = "direct"

    internal_states = True

    def __post_init__(self) -> None:
        if whole("BDF: order", self.order, "1 or 2", least=1) not in METHODS:
            refuse("BDF: order", self.order, "1 or 2")
        choice("solver", self.solver, SOLVERS, "kt.integrators.BDF")

    @property
    def name(self) -> str:
        """That of the method in runs."""
        return METHODS[self.order].name

    @property
    def algorithm(self):
        """The step under constant forces, for rollouts; None for conjugate gradients."""
        return METHODS[self.order].algorithm if self.solver == "direct" else None

    @property
    def keeps_loops(self) -> bool:
        """Whether the equations of the step close loops."""
        return getattr(METHODS[self.order], "keeps_loops", False)

    def __getattr__(self, name: str):
        """Further declarations for rollouts and their adjoints, which only some of the methods have."""
        if name in OF_ROLLOUTS:
            return getattr(METHODS[self.order], name)
        raise AttributeError(f"BDF has no attribute {name!r}")

    def __call__(self, system):
        """The method for the dynamics of one model."""
        return METHODS[self.order](system, self.solver)
