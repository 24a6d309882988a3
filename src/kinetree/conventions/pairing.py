"""Finds the partner of every joint in the other engine, by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from kinetree.arguments import a_mapping, text
from kinetree.errors import ModelError, unknown_name


def names_by_name(what: str, value: object) -> None:
    """The check for names there by names here."""
    a_mapping(what, value)
    for name in (*value, *value.values()):
        text(f"one of {what}", name, "a name")


def paired(engine, model, names: Mapping[str, int], free: Sequence[int], joints=None) -> Iterator[tuple[int, int]]:
    """``(number here, number there)`` of every moving joint.

    Parameters
    ----------
    engine : Engine
        For its name.
    model : Model
    names : mapping of str to int
        The joints there.
    free : sequence of int
        The free joints there: a free joint without a namesake is the only one of them.
    joints : mapping of str to str, optional
        Names there by names here.
    """
    joints = dict(joints or {})
    for name in joints:
        model.joint(name)
    for i in model.outward():
        joint = model.joints[i]
        if joint.nv == 0 and joint.nq == 0:
            continue
        name = joints.get(model.joint_name(i), model.joint_name(i))
        if name in names:
            yield i, names[name]
        elif joint.nq == 7 and len(free) == 1 and name not in joints.values():
            yield i, free[0]
        else:
            raise unknown_name("joint", name, names, f"the model of {engine.name}")


def refuse_kind(engine, model, i: int, name: str, kind: str):
    """Raise ModelError for joints of two kinds between which no conversion is known."""
    raise ModelError(
        f"{engine.name}: joint {model.joint_name(i)!r} is of another kind there: {model.joints[i]!r} here, and "
        f"{str(name)!r} is a joint with {kind}; no conversion between these is known. Joints that both engines have: "
        "docs/conventions.md.",
        joint=model.joint_name(i),
    )
