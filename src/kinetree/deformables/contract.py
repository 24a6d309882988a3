"""The contract of element laws: all that the kernels use of a law.

A law is written once, over scalars of any kind: the *strain* of an element is linear in the positions of its nodes,
and the energy is a function of the strain. Forces and stiffness are derivatives by the graph (`element_kernels`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace


class ElementLaw:
    """A law of energy of elements with a fixed number of nodes. Instances are stateless.

    Attributes
    ----------
    kind : str
        Name of the law.
    size : int
        Nodes of an element.
    parameters : mapping of str to int
        Parameters of each element by name, with their number of scalars; ``p.name`` is a list where there are several.
    is_bounded : bool
        Whether there are strains without an energy, where it is infinite or NaN.
    projection : {"none", "radial", "isotropic"}
        How the second derivative of the energy is made positive semidefinite: it is so already; the energy depends on
        the length of the strain, a vector, alone; or on the singular values of the strain, a 3 x 3 matrix by rows.
    """

    kind: str
    size: int
    parameters: Mapping[str, int]
    projection: str = "none"
    is_bounded: bool = False

    def strain(self, x: Sequence[Sequence], p: SimpleNamespace) -> list:
        """Scalars that are linear in the positions x of the nodes; of velocities these are their rates."""
        raise NotImplementedError

    def energy(self, s: Sequence, p: SimpleNamespace, fixed: Callable):
        """The stored energy [J]; ``fixed(value)`` is a value whose derivative is not taken."""
        raise NotImplementedError

    def dissipation(self, s: Sequence, rate: Sequence, p: SimpleNamespace):
        """Half the dissipated power [W], quadratic in the rates of the strain; zero by default."""
        return 0.0
