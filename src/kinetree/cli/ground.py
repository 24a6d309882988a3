"""The robot and the ground of ``kinetree simulate --ground``."""

from __future__ import annotations

from collections.abc import Callable

from kinetree.errors import UnsupportedError


def on_ground(load: Callable, ground: bool, friction: float | None) -> tuple:
    """The robot, and the ground as `simulate` takes it.

    Parameters
    ----------
    load : callable
        Loads the robot; with ``floating_base=True`` the root of a URDF moves freely, which the file cannot state.
    ground : bool
    friction : float or None
        Coefficient of friction [1].

    Returns
    -------
    model : Model
    ground : None, True or Ground
    """
    if friction is not None and not ground:
        raise UnsupportedError(f"--friction {friction:g} is that of --ground, which is not given.", option="friction")
    model = load()
    if not ground:
        return model, None
    from kinetree.collision.material import Ground

    floats = any(model.joints[i].nv == 6 for i in model.children(0))
    if not floats and str(model.source).lower().endswith(".urdf"):
        model = load(floating_base=True)
    return model, True if friction is None else Ground(friction=friction)
