"""The solvers of contact problems by name, each with the most iterations that it makes by default."""

from __future__ import annotations

from kinetree.contact.exact import admm, exact, newton
from kinetree.contact.sweeps import block_gauss_seidel, projected_gauss_seidel

SOLVERS = {
    "exact": (exact, 100_000),
    "newton": (newton, 100),
    "admm": (admm, 5000),
    "block_gauss_seidel": (block_gauss_seidel, 2000),
    "projected_gauss_seidel": (projected_gauss_seidel, 2000),
}
METHODS = tuple(SOLVERS)
"""Names of the solvers."""
