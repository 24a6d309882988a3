"""Sets of joints of hybrid dynamics: those whose force is known, the bodies that they move, and the tree of these
joints alone.

The book writes ``fd`` for the forward-dynamics joints, whose forces are known and whose accelerations are computed; the
accelerations of all others are known and their forces computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kinetree.arguments import a_sequence
from kinetree.errors import DuplicateNameError

READ = {
    "tau": "; read for the joints in ``forward`` only, finite for all.",
    "a": "; read for the joints not in ``forward`` only, finite for all.",
}
"""Which entries of its inputs a method of hybrid dynamics reads."""


def forward_joints(model, forward: str | Iterable[str | int]) -> tuple[int, ...]:
    """The numbers of the joints that ``forward`` names, ascending; joints without freedoms are left out.

    Parameters
    ----------
    model : Model
    forward : sequence of str or int, or str
        Joints, by name or number, in any order; or one text, "hip+knee", the form in which they follow the name of an
        algorithm ("hybrid_dynamics:hip+knee"). An empty text is no joint.

    Returns
    -------
    tuple of int
        The canonical form, which identifies compiled code. Numbers, because models that share code may give their
        joints different names.

    Raises
    ------
    UnknownNameError
        No joint has this name.
    DuplicateNameError
        A joint is named twice.

    Examples
    --------
    >>> import kinetree as kt
    >>> forward_joints(kt.models.double_pendulum(), ["elbow", "shoulder"])
    (1, 2)
    """
    if isinstance(forward, str):
        forward = [forward] if forward in model.joint_names else [name for name in forward.split("+") if name]
    else:
        a_sequence("forward", forward)
    numbers = [model.joint(name) for name in forward]
    twice = [i for k, i in enumerate(numbers) if i in numbers[:k]]
    if twice:
        name = model.joint_name(twice[0])
        raise DuplicateNameError(f"joint {name!r} is twice among the forward joints", name=name)
    return tuple(sorted(i for i in numbers if model.v_slice[i].start < model.v_slice[i].stop))


def supported_by(model, joints: Iterable[int]) -> frozenset[int]:
    """The bodies that these joints move: the union of their subtrees, nu(fd) of the book (eq. 9.5 and its loop)."""
    found = set(joints)
    for i in model.outward():
        if model.parent[i] in found:
            found.add(i)
    return frozenset(found)


def merged_parent(parent: Sequence[int], joints: Iterable[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The parent array of the tree in which all joints but these are rigid: their two nodes are merged.

    Parameters
    ----------
    parent : sequence of int
        Regular, ``parent[0]`` is -1.
    joints : iterable of int
        The joints that stay, named by the node they move.

    Returns
    -------
    merged : tuple of int
        Parent array lambda' of the smaller tree.
    number : tuple of int
        map(i): the new number of each node.

    Notes
    -----
    Source: Featherstone (2008), figure 9.1.

    Examples
    --------
    >>> merged_parent((-1, 0, 1, 1, 2), [3, 4])
    ((-1, 0, 0), (0, 0, 0, 1, 2))
    """
    kept, number, merged = set(joints), [0] * len(parent), [-1]
    for i, p in enumerate(parent[1:], start=1):
        if i in kept:
            number[i] = len(merged)
            merged.append(number[p])
        else:
            number[i] = number[p]
    return tuple(merged), tuple(number)
