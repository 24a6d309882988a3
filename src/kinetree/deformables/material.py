"""Materials of elastic solids."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.arguments import choice, number
from kinetree.deformables.tetrahedra import TETRAHEDRA


@dataclass(frozen=True)
class Material:
    """An isotropic elastic material.

    Parameters
    ----------
    young_modulus : float
        [Pa]
    poisson_ratio : float
        Above -1 and below 0.5 [1].
    density : float
        [kg/m^3]
    law : {"corotated", "linear", "neo_hookean", "stable_neo_hookean"}
        The energy: linear for small strains and rotations; corotated for small strains and any rotation; neo-Hookean
        for large strains, of which the second is finite for inverted elements, too.
    viscosity : float
        Damping in proportion to stiffness (Rayleigh's beta) [s].
    mass_damping : float
        Damping in proportion to mass (Rayleigh's alpha) [1/s].

    Raises
    ------
    ArgumentError
        A number out of its range.

    Notes
    -----
    A vibration of angular frequency w has the damping ratio ``(mass_damping / w + viscosity w) / 2``. Tetrahedra of
    constant strain lock as the Poisson ratio approaches 0.5: they are too stiff above about 0.45.

    Examples
    --------
    >>> import kinetree as kt
    >>> rubber = kt.deformables.Material(young_modulus=1e6, poisson_ratio=0.4, density=1100.0)
    >>> [round(x) for x in rubber.lame]
    [357143, 1428571]
    """

    young_modulus: float
    poisson_ratio: float = 0.3
    density: float = 1000.0
    law: str = "corotated"
    viscosity: float = 0.0
    mass_damping: float = 0.0

    def __post_init__(self) -> None:
        for name, unit in (("young_modulus", "Pa"), ("density", "kg/m^3")):
            number(f"Material: {name}", getattr(self, name), f"a positive number [{unit}]", above=0.0)
        nu = number("Material: poisson_ratio", self.poisson_ratio, "a number above -1 and below 0.5", above=-1.0)
        if nu >= 0.5:
            number("Material: poisson_ratio", nu, "a number above -1 and below 0.5 (0.5 is incompressible)", most=-1.0)
        choice("Material: law", self.law, TETRAHEDRA)
        for name, unit in (("viscosity", "s"), ("mass_damping", "1/s")):
            number(f"Material: {name}", getattr(self, name), f"a number that is not negative [{unit}]", least=0.0)

    @property
    def lame(self) -> tuple[float, float]:
        """Lame's parameters mu and lambda [Pa]."""
        E, nu = self.young_modulus, self.poisson_ratio
        return E / (2.0 * (1.0 + nu)), E * nu / ((1.0 + nu) * (1.0 - 2.0 * nu))

    def parameters(self, inverse: np.ndarray, volume: np.ndarray) -> np.ndarray:
        """Parameters of tetrahedra, one row for each: of the law, and the viscosity."""
        n = len(volume)
        constants = np.array([*self.lame, self.viscosity])
        return np.column_stack((inverse.reshape(n, 9), volume, np.broadcast_to(constants, (n, 3))))
