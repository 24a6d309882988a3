"""The options that all readers share: their choices, and the check of what a caller gave."""

from __future__ import annotations

from kinetree.errors import unknown_name

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
        if not any(value is choice or value == choice for choice in choices):
            raise unknown_name("choice", str(value), map(str, choices), f"{reader}(..., {option}=...)")
