"""Sets of joints of hybrid dynamics: those whose force is known, the bodies that they move, and the tree of these
joints alone.

The book writes ``fd`` for the forward-dynamics joints, whose forces are known and whose accelerations are computed; the
accelerations of all others are known and their forces computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kinetree.algorithms.couplings import coupling_columns
from kinetree.arguments import a_sequence
from kinetree.constraints.independence import check_independent, lacking_motors
from kinetree.errors import ConstraintError, DuplicateNameError

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


def velocity_coordinates(model, what: str, names: str | Iterable[str | int]) -> tuple[int, ...]:
    """Velocity coordinates, ascending, of joints by name, of labels ("base.wx"), or given as numbers.

    Raises
    ------
    UnknownNameError, DuplicateNameError
    """
    labels = model.velocity_labels
    if isinstance(names, str):
        known = names in model.joint_names or names in labels
        names = [names] if known else [name for name in names.split("+") if name]
    else:
        a_sequence(what, names)
    found = []
    for name in names:
        if isinstance(name, int) and 0 <= name < model.nv and not isinstance(name, bool):
            found.append(name)
        elif isinstance(name, str) and name in labels:
            found.append(labels.index(name))
        else:
            slot = model.v_slice[model.joint(name)]
            found += range(slot.start, slot.stop)
    for n, k in enumerate(found):
        if k in found[:n]:
            raise DuplicateNameError(f"{what}: velocity {labels[k]!r} is named twice", name=labels[k])
    return tuple(sorted(found))


def independent_coordinates(model, independent: str | Iterable[str | int] | None) -> tuple[int, ...]:
    """The canonical form of a choice of independent velocities; None: one that is valid at generic positions.

    Raises
    ------
    UnknownNameError, DuplicateNameError, ConstraintError
    """
    if independent is None:
        return model.independent_velocities()
    chosen = velocity_coordinates(model, "independent", independent)
    check_independent(model, chosen)
    return chosen


def actuated_coordinates(model, actuated: str | Iterable[str | int] | None) -> tuple[int, ...] | None:
    """The canonical form of a choice of actuated joints, whose forces can cause any motion; None: all.

    Raises
    ------
    UnknownNameError, DuplicateNameError, ConstraintError
    """
    if actuated is None:
        return None
    chosen = velocity_coordinates(model, "actuated", actuated)
    idle = idle_coordinates(model, chosen)
    lacking = lacking_motors(model, idle)
    if lacking:
        motors = ", ".join(model.velocity_labels[k] for k in chosen) or "no joint"
        raise ConstraintError(
            f"model {model.name!r} has {model.ny} degrees of freedom, and motors at {motors} have no influence on "
            f"{lacking} of them: it is underactuated. kt.hybrid_dynamics computes the accelerations of joints without "
            "motors; kt.closed_loops.torque_family gives the torques that come closest"
        )
    return chosen


def idle_coordinates(model, actuated: tuple[int, ...] | None) -> set[int]:
    """Velocity coordinates that no motor moves: neither one of their own, nor one at a joint coupled to theirs."""
    if actuated is None:
        return set()
    return {k for column in coupling_columns(model) if not {k for k, _ in column} & set(actuated) for k, _ in column}


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
