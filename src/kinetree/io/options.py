"""The options that all readers share: their choices, and the check of their values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike

import numpy as np

from kinetree.arguments import refuse
from kinetree.errors import ModelError, unknown_name

CHOICES = {
    "floating_base": (None, True, False),
    "unsupported": ("raise", "drop"),
    "inertia": ("raise", "project", "diagonal", "accept"),
    "massless": ("raise", "lock"),
    "inertia_from": (None, "collision", "visual"),
}


@dataclass(frozen=True, slots=True)
class Options:
    """Arguments of a call of `load_urdf`, `load_sdf` or `load_mjcf`, by their names there."""

    name: str | None = None
    floating_base: bool | None = None
    base_joint: str = "root_joint"
    merge_fixed: bool = True
    package_dirs: str | PathLike | Iterable[str | PathLike] = ()
    unsupported: str = "raise"
    inertia: str = "raise"
    massless: str = "raise"
    inertia_from: str | None = None
    density: float = 1000.0

    @property
    def drop(self) -> bool:
        """Whether physics is left out that the model cannot hold."""
        return self.unsupported == "drop"

    @property
    def accept(self) -> bool:
        """Whether impossible inertias are taken as they are."""
        return self.inertia == "accept"

    def check(self, reader: str, base_is_free: bool) -> None:
        """Refuse an option with a value that it does not have, and a name for the joint of a base that does not move.

        Parameters
        ----------
        reader : str
            Name of the function that has the options, for the message.
        base_is_free : bool
            Whether a base may move with this value of ``floating_base``.

        Raises
        ------
        UnknownNameError, ModelError
        """
        for option, choices in CHOICES.items():
            value = getattr(self, option)
            if isinstance(value, np.ndarray):
                refuse(f"{reader}: {option}", value, f"one of {', '.join(map(str, choices))}")
            if not any(value is choice or value == choice for choice in choices):
                raise unknown_name("choice", str(value), map(str, choices), f"{reader}(..., {option}=...)")
        if self.base_joint != "root_joint" and not base_is_free:
            raise ModelError(
                f"{reader}: base_joint={self.base_joint!r} names the joint of a base that moves, and floating_base is "
                f"{self.floating_base}; give floating_base=True, or leave base_joint out.",
                option="base_joint",
            )
