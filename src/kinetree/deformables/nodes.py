"""All nodes and elements of a coupled system as arrays: forces, energies, and the matrix of the nodes.

The nodes of all bodies have one numbering. Coordinates are those of the free nodes, then those of attached ones; fixed
nodes have none. The sparsity pattern and the place of every entry of every element in it are computed once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinetree.deformables.body import Deformable
from kinetree.deformables.contract import ElementLaw
from kinetree.deformables.element_kernels import run


class Block:
    """The elements of one law, of all bodies.

    Attributes
    ----------
    law : ElementLaw
    nodes : (ne, size) array of int
    parameters : (ne, n) array
    is_viscous : bool
        Whether any element has damping in proportion to stiffness.
    """

    def __init__(self, law: ElementLaw, nodes: np.ndarray, parameters: np.ndarray) -> None:
        self.law, self.nodes, self.parameters = law, nodes, parameters
        self.is_viscous = bool(np.any(parameters[:, -1]))
        self.is_damped = self.is_viscous or type(law).dissipation is not ElementLaw.dissipation
        self.coordinates = (3 * nodes[:, :, None] + np.arange(3)).reshape(len(nodes), -1)

    def evaluate(self, quantity: str, x, u, weights=None):
        """A quantity of all elements, from the positions and velocities of all nodes."""
        # Indexing takes four times as long as numpy.take without checks.
        x = np.take(x, self.nodes, axis=0, mode="clip")
        moving = quantity == "matrix" or (self.is_damped and quantity != "energy")
        u = np.take(u, self.nodes, axis=0, mode="clip") if moving else x
        return run(self.law, quantity, x, u, self.parameters, weights)


class Nodes:
    """The nodes and elements of several bodies.

    Parameters
    ----------
    bodies : sequence of Deformable
    attached : sequence of int
        Nodes that ride on frames, in the numbering of all bodies.
    fixed : sequence of int
    gravity : (3,) array
        [m/s^2]
    """

    def __init__(self, bodies: Sequence[Deformable], attached: Sequence[int], fixed: Sequence[int], gravity) -> None:
        self.starts = np.concatenate(([0], np.cumsum([len(body.nodes) for body in bodies]))).astype(int)
        self.rest = np.concatenate([body.nodes for body in bodies])
        self.masses = np.concatenate([body.masses for body in bodies])
        damping = [np.full(len(body.nodes), body.mass_damping) for body in bodies]
        self.drag = np.concatenate(damping) * self.masses
        self.weight = self.masses[:, None] * np.asarray(gravity, float)
        self.gravity = np.asarray(gravity, float)
        self.attached, self.fixed = np.asarray(attached, int), np.asarray(fixed, int)
        self.free = np.setdiff1d(np.arange(len(self.rest)), np.concatenate((self.attached, self.fixed)))
        self.blocks = self._blocks(bodies)
        self.is_bounded = any(block.law.is_bounded for block in self.blocks)
        self._slots = None

    def _blocks(self, bodies) -> list[Block]:
        found: dict[ElementLaw, list] = {}
        for start, body in zip(self.starts, bodies, strict=False):
            for each in body.elements:
                found.setdefault(each.law, []).append((each.nodes + start, each.parameters))
        return [Block(law, *map(np.concatenate, zip(*parts, strict=True))) for law, parts in found.items()]

    def __len__(self) -> int:
        return len(self.rest)

    # Forces and energies ---------------------------------------------------------------------------------------------

    def elastic_energy(self, x) -> float:
        """Stored energy of all elements [J]."""
        return float(sum(block.evaluate("energy", x, x)[0].sum() for block in self.blocks))

    def forces(self, x, u) -> np.ndarray:
        """Forces of elements and dampers on all nodes, without gravity (n, 3) [N]."""
        total = -self.drag[:, None] * u
        for block in self.blocks:
            (f,) = block.evaluate("viscous_forces" if block.is_viscous else "forces", x, u)
            total += self.summed(block, f)
        return total

    def summed(self, block: Block, f: np.ndarray) -> np.ndarray:
        """Values of the nodes of each element, summed over the elements (n, 3)."""
        return np.bincount(block.coordinates.ravel(), f.ravel(), 3 * len(self)).reshape(-1, 3)

    def matrix(self, x, u, stiffness: float, damping: float) -> tuple[np.ndarray, np.ndarray]:
        """``stiffness K + damping D`` of the nodes, and the rate of elastic forces along the velocities.

        Returns
        -------
        entries : array
            Of the lower triangle, in the pattern `rows`, `columns`.
        rate : (n, 3) array
            ``-K u`` [N/s], with the second derivatives of the energies as they are.
        """
        weights = np.array([stiffness, damping])
        entries, rate = np.zeros(self.size), np.zeros((len(self), 3))
        for block, slots in zip(self.blocks, self.slots, strict=True):
            packed, along = block.evaluate("matrix", x, u, weights)
            entries += np.bincount(slots.ravel(), packed.ravel(), self.size + 1)[:-1]
            rate += self.summed(block, along)
        if damping and self.drag.any():
            entries[self.diagonal] += damping * np.repeat(self.drag[self.moving], 3)
        return entries, rate

    # Pattern ---------------------------------------------------------------------------------------------------------

    @property
    def moving(self) -> np.ndarray:
        """Nodes that have coordinates: free ones, then attached ones."""
        return np.concatenate((self.free, self.attached))

    @property
    def slots(self) -> list[np.ndarray]:
        """For each block the place of every entry of every element in the pattern; `size` for those of fixed nodes."""
        if self._slots is None:
            self._make_pattern()
        return self._slots

    def _make_pattern(self) -> None:
        """Each pair of nodes that share an element has nine places, row by row; those above the diagonal are unused."""
        count = len(self.moving)
        place = np.full(len(self), -1)
        place[self.moving] = np.arange(count)
        keys = []
        for block in self.blocks:
            a, b = (place[block.nodes[:, k]] for k in np.tril_indices(block.law.size))
            key = np.maximum(a, b) * np.int64(count) + np.minimum(a, b)
            keys.append((np.where((a < 0) | (b < 0), -1, key), a < b))
        diagonal = np.arange(count, dtype=np.int64) * (count + 1)
        found = np.unique(np.concatenate([diagonal, *(np.unique(key) for key, _ in keys)]))
        found = found[found >= 0]
        self.size, self._slots = 9 * len(found), []
        for block, (key, turned) in zip(self.blocks, keys, strict=True):
            m, n = np.tril_indices(3 * block.law.size)
            pair, i, j = (m // 3) * (m // 3 + 1) // 2 + n // 3, m % 3, n % 3  # of each entry: pair, row, column
            slots = 9 * np.searchsorted(found, key)[:, pair] + np.where(turned[:, pair], 3 * j + i, 3 * i + j)
            slots[key[:, pair] < 0] = self.size
            self._slots.append(np.ascontiguousarray(slots))  # they are used as one row
        i, j = np.divmod(np.arange(9), 3)
        self.rows, self.columns = (
            (3 * (x[:, None]) + k).ravel() for x, k in zip(np.divmod(found, count or 1), (i, j), strict=True)
        )
        first = 9 * np.searchsorted(found, diagonal)
        self.diagonal = (first[:, None] + [0, 4, 8]).ravel()
