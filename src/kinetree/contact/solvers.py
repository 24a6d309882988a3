"""The solvers of contact problems by name, each with the most iterations that it makes by default."""

from __future__ import annotations

from kinetree.contact.exact import admm, exact, newton
from kinetree.contact.relaxed import anitescu, anitescu_pyramid, lemke_pyramid
from kinetree.contact.staggered import staggered, staggered_pyramid
from kinetree.contact.sweeps import block_gauss_seidel, projected_gauss_seidel

SOLVERS = {
    "exact": (exact, 100_000),
    "newton": (newton, 100),
    "admm": (admm, 5000),
    "block_gauss_seidel": (block_gauss_seidel, 2000),
    "projected_gauss_seidel": (projected_gauss_seidel, 2000),
    "staggered": (staggered, 500),
    "staggered_pyramid": (staggered_pyramid, 500),
    "lemke": (lemke_pyramid, 1),
    "anitescu": (anitescu, 20_000),
    "anitescu_pyramid": (anitescu_pyramid, 1),
}
METHODS = tuple(SOLVERS)
"""Names of the solvers."""
