"""Deformable bodies as data: nodes with masses, and elements between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kinetree.arguments import array, instance, number, refuse, text
from kinetree.deformables.contract import ElementLaw
from kinetree.deformables.element_kernels import parameter_count
from kinetree.errors import GeometryError, ModelError
from kinetree.model.parts import read_only


@dataclass(frozen=True, eq=False)
class Elements:
    """Elements of one law.

    Parameters
    ----------
    law : ElementLaw
    nodes : (ne, size) array of int
        Numbers of the nodes of each element.
    parameters : (ne, n) array
        Those that the law declares, in order, then the viscosity [s].
    """

    law: ElementLaw
    nodes: np.ndarray
    parameters: np.ndarray

    def __post_init__(self) -> None:
        instance("Elements: law", self.law, ElementLaw, "an ElementLaw")
        for name, kind, width in (("nodes", int, self.law.size), ("parameters", float, parameter_count(self.law))):
            value = array(f"Elements: {name}", getattr(self, name), "rows of numbers", shape=(None, width))
            object.__setattr__(self, name, read_only(np.ascontiguousarray(value, dtype=kind)))
        if len(self.nodes) != len(self.parameters):
            message = f"Elements: {len(self.nodes)} rows of nodes and {len(self.parameters)} of parameters, expected as"
            raise ModelError(f"{message} many of both.")


@dataclass(frozen=True, eq=False)
class Deformable:
    """A deformable body: nodes, their masses, and the elements between them.

    Made by `strand`, `cloth`, `beam` and `solid`, or from arrays.

    Parameters
    ----------
    name : str
    nodes : (n, 3) array
        Positions of the nodes at rest, in world axes [m].
    masses : (n,) array
        Lumped masses of the nodes [kg].
    elements : sequence of Elements
    fixed : sequence of int
        Nodes that are fixed in the world.
    mass_damping : float
        Damping of all nodes in proportion to their masses (Rayleigh's alpha) [1/s].
    triangles : (m, 3) array of int
        The surface, for pictures.

    Raises
    ------
    ModelError
        A mass that is not positive, a node that is not there, a node without elements.

    Examples
    --------
    >>> import kinetree as kt
    >>> rope = kt.deformables.strand((0, 0, 0), (0.3, 0, 0), 3, mass=0.1, axial_stiffness=100.0)
    >>> rope.nodes.shape, round(rope.mass, 12), len(rope.elements[0].nodes)
    ((4, 3), 0.1, 3)
    """

    name: str
    nodes: np.ndarray
    masses: np.ndarray
    elements: tuple[Elements, ...]
    fixed: tuple[int, ...] = ()
    mass_damping: float = 0.0
    triangles: np.ndarray = field(default_factory=lambda: np.zeros((0, 3), int))

    def __post_init__(self) -> None:
        text("Deformable: name", self.name, "a name")
        nodes = array("Deformable: nodes", self.nodes, "positions [m]", shape=(None, 3))
        masses = array("Deformable: masses", self.masses, "masses [kg]", shape=(len(nodes),))
        triangles = array("Deformable: triangles", self.triangles, "numbers of nodes", shape=(None, 3)).astype(int)
        number("Deformable: mass_damping", self.mass_damping, "a number that is not negative [1/s]", least=0.0)
        elements = self.elements if isinstance(self.elements, (tuple, list)) else (self.elements,)
        for each in elements:
            instance("one of Deformable: elements", each, Elements, "Elements")
        for name, value in (("nodes", nodes), ("masses", masses), ("triangles", triangles)):
            object.__setattr__(self, name, read_only(value))
        object.__setattr__(self, "elements", tuple(elements))
        object.__setattr__(self, "fixed", self.numbers("fixed", self.fixed))
        self._check()

    def _check(self) -> None:
        if not np.all(np.isfinite(self.nodes)):
            bad = int(np.flatnonzero(~np.isfinite(self.nodes).all(axis=1))[0])
            raise GeometryError(f"deformable {self.name!r}: node {bad} is at {self.nodes[bad]}, not finite.", node=bad)
        if not np.all(self.masses > 0.0):
            bad = int(np.flatnonzero(~(self.masses > 0.0))[0])
            raise ModelError(
                f"deformable {self.name!r}: node {bad} has the mass {self.masses[bad]:g} kg, expected a positive "
                "number. Give positive densities, or leave out nodes that no element uses.",
                node=bad,
            )
        used = np.zeros(len(self.nodes), bool)
        for each in self.elements:
            self.numbers(f"elements ({each.law.kind})", each.nodes.ravel())
            used[each.nodes] = True
        if not used.all():
            loose = np.flatnonzero(~used)
            raise GeometryError(
                f"deformable {self.name!r}: {len(loose)} of {len(used)} nodes belong to no element (node "
                f"{loose[0]} at {self.nodes[loose[0]]}); leave them out.",
                nodes=loose,
            )

    def numbers(self, what: str, nodes) -> tuple[int, ...]:
        """Numbers of nodes, checked.

        Parameters
        ----------
        what : str
            For messages.
        nodes : int or sequence of int

        Returns
        -------
        tuple of int

        Raises
        ------
        ModelError
        """
        found = np.atleast_1d(np.asarray(nodes, dtype=float if np.size(nodes) == 0 else None))
        if found.dtype.kind not in "iu" and found.size or found.ndim > 1:
            raise ModelError(f"deformable {self.name!r}: {what} is {nodes!r}, expected numbers of nodes.")
        found = found.astype(int)
        outside = found[(found < 0) | (found >= len(self.nodes))]
        if outside.size:
            raise ModelError(
                f"deformable {self.name!r}: {what} has node {outside[0]}, expected 0 to {len(self.nodes) - 1}.",
                node=int(outside[0]),
            )
        return tuple(int(k) for k in found)

    @property
    def mass(self) -> float:
        """The mass of all nodes [kg]."""
        return float(self.masses.sum())

    def nearest(self, point) -> int:
        """The node that is nearest to a point of the world [m].

        Parameters
        ----------
        point : (3,) array_like
            [m]

        Returns
        -------
        int
        """
        place = array("nearest: point", point, "a position [m]", shape=(3,))
        if not np.isfinite(place).all():
            refuse("nearest: point", point, "finite numbers [m]")
        gaps = self.nodes - place
        return int(np.argmin(np.einsum("ki,ki->k", gaps, gaps)))

    def inside(self, lower, upper) -> tuple[int, ...]:
        """The nodes in a box along the world's axes, borders included: for `fixed` and attachments.

        Parameters
        ----------
        lower, upper : (3,) array_like
            Corners [m]; infinite ones leave a side open.

        Returns
        -------
        tuple of int

        Raises
        ------
        ArgumentError
        GeometryError
            There is no node in the box.

        Examples
        --------
        >>> import kinetree as kt
        >>> rope = kt.deformables.strand((0, 0, 0), (0.3, 0, 0), 3, mass=0.1, axial_stiffness=100.0)
        >>> rope.inside((-1, -1, -1), (0.15, 1, 1))
        (0, 1)
        """
        low = array("inside: lower", lower, "a position [m]", shape=(3,))
        high = array("inside: upper", upper, "a position [m]", shape=(3,))
        if not (low <= high).all():
            refuse("inside: upper", upper, f"a corner that is not below lower, {lower}")
        found = np.flatnonzero(np.all((self.nodes >= low) & (self.nodes <= high), axis=1))
        if not found.size:
            ends = f"{self.nodes.min(axis=0)} to {self.nodes.max(axis=0)} m"
            raise GeometryError(
                f"inside: no node of deformable {self.name!r} is in the box from {low} to {high} m; they lie in "
                f"{ends}. Leave some room for rounding at its sides."
            )
        return tuple(int(k) for k in found)

    def with_fixed(self, nodes: Sequence[int]) -> Deformable:
        """The body with these nodes fixed in the world, and no others.

        Parameters
        ----------
        nodes : sequence of int

        Returns
        -------
        Deformable
        """
        return replace(self, fixed=self.numbers("fixed", nodes))
