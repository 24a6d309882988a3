"""The options that all readers share: their choices, and the check of what a caller gave."""

from __future__ import annotations

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


def check_options(reader: str, **options: object) -> None:
    """Refuse an option with a value that it does not have.

    Parameters
    ----------
    reader : str
        Name of the function that has the options, for the message.
    **options
        By name: those of `CHOICES` that the reader has.

    Raises
    ------
    UnknownNameError
    """
    for option, value in options.items():
        choices = CHOICES[option]
        if isinstance(value, np.ndarray):
            refuse(f"{reader}: {option}", value, f"one of {', '.join(map(str, choices))}")
        if not any(value is choice or value == choice for choice in choices):
            raise unknown_name("choice", str(value), map(str, choices), f"{reader}(..., {option}=...)")


def check_base_joint(reader: str, base_joint: str, floating_base: bool | None, is_free: bool) -> None:
    """Refuse a name for the joint of a base that does not move.

    Parameters
    ----------
    reader : str
    base_joint : str
    floating_base : bool or None
    is_free : bool
        Whether a base may move with this value of ``floating_base``.
    """
    if base_joint != "root_joint" and not is_free:
        raise ModelError(
            f"{reader}: base_joint={base_joint!r} names the joint of a base that moves, and floating_base is "
            f"{floating_base}; give floating_base=True, or leave base_joint out.",
            option="base_joint",
        )
