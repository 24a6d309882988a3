"""Static choices in the one form by which code is kept, whatever the form in which they are given."""

from __future__ import annotations

from kinetree.algorithms.joint_sets import forward_joints


def canonical(model, name: str, value: object) -> object:
    """A static choice in the form that functions keep: hashable, and the same for all ways to say it.

    Parameters
    ----------
    model : Model
    name : str
        The static argument.
    value : object
        A frame is known by its name, joints (``forward``) by their numbers in ascending order.

    Raises
    ------
    UnknownNameError, DuplicateNameError

    Examples
    --------
    >>> import kinetree as kt
    >>> canonical(kt.models.double_pendulum(), "forward", ["elbow"]), canonical(kt.models.pendulum(), "kind", "spatial")
    ((2,), 'spatial')
    """
    if name == "frame":
        return model.frame(value).name
    if name == "forward":
        return forward_joints(model, value)
    return value
