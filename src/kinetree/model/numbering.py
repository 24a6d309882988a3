"""A regular numbering of a mechanism: the book's arrays p, s and lambda, and the sets that follow from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kinetree.errors import TopologyError
from kinetree.model.topology import children_of, common_ancestor, depths_of, expanded_parent, subtree_of, support_of


@dataclass(frozen=True, slots=True)
class Numbering:
    """Numbers of bodies and joints: the base is 0, children come after their parents, chords after the tree.

    Parameters
    ----------
    bodies : tuple of str
        Body i is ``bodies[i]``; the base is first.
    joints : tuple of str
        Joint i is ``joints[i]``; ``joints[0]`` is None, joints 1 to N_B are those of the bodies of these numbers, the
        others are chords.
    p, s : tuple of int
        Predecessor and successor of joint i; -1 at index 0.

    Attributes
    ----------
    parent : tuple of int
        lambda(i) = min(p(i), s(i)), with -1 for the base.
    depth : tuple of int
        Number of joints between the base and body i.

    Raises
    ------
    TopologyError
        If the numbering is not regular.

    Notes
    -----
    Source: Featherstone (2008), sections 4.1.2-4.1.4, eq. 4.2. The book's kappa, mu and nu are `support`, `children`
    and `subtree`, as in a Model.

    Examples
    --------
    Joint "b" leads from body 2 to body 1, so the tree meets it from behind:

    >>> n = Numbering(("world", "A", "B"), (None, "a", "b"), (-1, 0, 2), (-1, 1, 1))
    >>> n.parent, n.is_reversed(2)
    ((-1, 0, 1), True)
    """

    bodies: tuple[str, ...]
    joints: tuple[str | None, ...]
    p: tuple[int, ...]
    s: tuple[int, ...]
    parent: tuple[int, ...] = field(init=False)
    depth: tuple[int, ...] = field(init=False)
    _children: tuple[tuple[int, ...], ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_numbering(self.bodies, self.joints, self.p, self.s)
        parent = (-1, *(min(self.p[i], self.s[i]) for i in range(1, len(self.bodies))))
        object.__setattr__(self, "parent", parent)
        object.__setattr__(self, "depth", depths_of(parent))
        object.__setattr__(self, "_children", children_of(parent))

    @property
    def nb(self) -> int:
        """Number of bodies, the base among them (N_B + 1 of the book)."""
        return len(self.bodies)

    @property
    def nj(self) -> int:
        """Number of joints, N_J."""
        return len(self.joints) - 1

    @property
    def n_loops(self) -> int:
        """Number of chords, N_L = N_J - N_B."""
        return self.nj - (self.nb - 1)

    @property
    def chords(self) -> range:
        """The numbers of the chords."""
        return range(self.nb, self.nj + 1)

    def is_reversed(self, i: int) -> bool:
        """Whether body i is the predecessor of its joint: the tree meets joint i from behind."""
        return i < self.nb and self.p[i] == i

    def support(self, i: int) -> tuple[int, ...]:
        """kappa(i): the joints on the path from the base to body i."""
        return support_of(self.parent, i)

    def children(self, i: int) -> tuple[int, ...]:
        """mu(i): the children of body i."""
        return self._children[i]

    def subtree(self, i: int) -> tuple[int, ...]:
        """nu(i): body i and all distal bodies."""
        return subtree_of(self._children, i)

    def common_ancestor(self, i: int, j: int) -> int:
        """The outermost body that supports both i and j, or is one of them."""
        return common_ancestor(self.parent, i, j)

    def expanded_parent(self, freedoms: Sequence[int]) -> tuple[int, ...]:
        """The parent array of the tree in which joint i of ``freedoms[i - 1]`` freedoms is a chain of single ones.

        Parameters
        ----------
        freedoms : sequence of int
            Of joints 1 to N_B.

        Returns
        -------
        tuple of int
            Entry k is the parent of freedom k, both counted from 1; 0 is the base, entry 0 is -1.

        Notes
        -----
        Source: Featherstone (2008), table 6.4.

        Examples
        --------
        >>> chain = ("world", "A", "B"), (None, "a", "b"), (-1, 0, 1), (-1, 1, 2)
        >>> Numbering(*chain).expanded_parent((1, 3))
        (-1, 0, 1, 2, 3)
        """
        if len(freedoms) != self.nb - 1:
            raise TopologyError(f"freedoms has {len(freedoms)} entries, expected {self.nb - 1}, one per moving body")
        return expanded_parent(self.parent, (0, *freedoms))[0]

    def renumbered(self, bodies: Sequence[str], chords: Sequence[str] | None = None) -> Numbering:
        """The same tree with its bodies, and its chords, in another regular order.

        Parameters
        ----------
        bodies : sequence of str
            The moving bodies in the order of their new numbers.
        chords : sequence of str, optional
            By default in the order that they have.

        Returns
        -------
        Numbering

        Raises
        ------
        TopologyError
            If the order is not regular, or leaves something out.
        """
        old_body = {name: i for i, name in enumerate(self.bodies)}
        old_chords = [self.joints[k] for k in self.chords]
        chords = old_chords if chords is None else list(chords)
        if sorted(bodies) != sorted(self.bodies[1:]) or sorted(chords) != sorted(old_chords):
            raise TopologyError(
                f"renumbered: {list(bodies)} and {chords} are not the bodies {list(self.bodies[1:])} and the chords "
                f"{old_chords} in another order"
            )
        order = (self.bodies[0], *bodies)
        old_joint = {name: k for k, name in enumerate(self.joints) if k}
        numbers = [*(old_body[name] for name in bodies), *(old_joint[name] for name in chords)]
        new = {old_body[name]: i for i, name in enumerate(order)}
        p, s = ((-1, *(new[ends[k]] for k in numbers)) for ends in (self.p, self.s))
        return Numbering(order, (None, *(self.joints[k] for k in numbers)), p, s)


def check_numbering(bodies: Sequence[str], joints: Sequence[str | None], p: Sequence[int], s: Sequence[int]) -> None:
    """Refuse a numbering that is not regular.

    Raises
    ------
    TopologyError
        Names the joint and the rule.

    Notes
    -----
    Source: Featherstone (2008), section 4.1.2: the base is 0; joints 1 to N_B are those of the tree; joint i connects
    body i to a body with a smaller number; chords have the numbers from N_B + 1 on.
    """
    nb, nj = len(bodies), len(joints) - 1
    if not len(p) == len(s) == nj + 1 or nj < nb - 1 or joints[:1] != (None,) or p[0] != -1 or s[0] != -1:
        raise TopologyError(
            f"a numbering of {nb} bodies and {nj} joints needs arrays p and s of {nj + 1} entries, the first of them "
            f"-1, and at least {nb - 1} joints after joints[0] = None; found {len(p)} and {len(s)} entries"
        )
    for i in range(1, nj + 1):
        ends = (p[i], s[i])
        if not all(0 <= end < nb for end in ends) or p[i] == s[i]:
            raise TopologyError(
                f"joint {i} ({joints[i]!r}) connects {ends}, expected two different bodies of 0 to {nb - 1}",
                joint=joints[i],
            )
        if i < nb and max(ends) != i:
            raise TopologyError(
                f"joint {i} ({joints[i]!r}) connects {ends}: in a regular numbering joint {i} connects body {i} to a "
                "body with a smaller number",
                joint=joints[i],
            )
