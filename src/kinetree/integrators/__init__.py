"""Integrators on the manifold of the joint positions, one file per method.

A fixed-step method is an object with ``step(t, h, q, v, tau, f_ext) -> (q, v)``; ``FIXED_STEP`` lists them by name, and
its ``algorithm`` is the whole step under constant forces as one compiled function. The adaptive method passes the same
dynamics to SciPy.
"""

from kinetree.integrators import crouch_grossman, explicit, implicit_methods
from kinetree.integrators.adaptive import METHODS, solve_adaptive
from kinetree.integrators.embedded import PAIRS, solve_embedded
from kinetree.integrators.explicit import ExplicitRungeKutta, explicit_method
from kinetree.integrators.rk4 import RungeKutta4
from kinetree.integrators.semi_implicit import SemiImplicitEuler
from kinetree.integrators.system import System
from kinetree.public import namespace

FIXED_STEP = {
    method.name: method
    for method in (
        SemiImplicitEuler,
        RungeKutta4,
        *explicit.METHODS,
        *crouch_grossman.METHODS,
        *implicit_methods.METHODS,
    )
}

# Solvers with adaptive steps by the name of their method: embedded pairs on the manifold, and SciPy's.
ADAPTIVE = dict.fromkeys(PAIRS, solve_embedded) | dict.fromkeys(METHODS, solve_adaptive)

__getattr__, __dir__, _steps = namespace(__name__)  # the steps as compiled calls

__all__ = [
    "ADAPTIVE",
    "FIXED_STEP",
    "ExplicitRungeKutta",
    "RungeKutta4",
    "SemiImplicitEuler",
    "System",
    "explicit_method",
    "solve_adaptive",
    "solve_embedded",
    *_steps,
]
