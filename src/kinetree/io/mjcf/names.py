"""Names for what MuJoCo numbers: those of the file, made unique where ours share one space, invented where missing."""

from __future__ import annotations

from collections.abc import Iterable

from kinetree.io.free_names import Names


def of_kind(mj, kind: str, count: int) -> list[str]:
    """The names of all elements of one of MuJoCo's kinds, "" where there is none.

    Parameters
    ----------
    mj : mujoco.MjModel
    kind : str
        "body", "joint", "geom", ...
    count : int
        How many there are.
    """
    import mujoco

    number = getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}")
    return [mujoco.mj_id2name(mj, number, k) or "" for k in range(count)]


def unique(given: Iterable[str], kind: str, names: Names | None = None) -> list[str]:
    """Given names first, then ``kind_number`` for those without; ``names`` remembers all of them."""
    given = list(given)
    names = names or Names()
    kept = [names.new(name) if name else "" for name in given]
    return [name or names.new(f"{kind}_{k}") for k, name in enumerate(kept)]
