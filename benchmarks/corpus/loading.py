"""Load a file, with the repairs that its error messages offer, one after the other, and no more than it needs."""

from __future__ import annotations

import re
import time
from typing import NamedTuple

# Options by which a refused file may load; each is tried when the error message offers it. "accept" takes an
# impossible tensor as it is, like the other engines, so that the numbers can be compared.
REPAIRS = (
    ("massless", "lock"),
    ("inertia", "accept"),
    ("unsupported", "drop"),
)


class Loaded(NamedTuple):
    """A model, the options it needed, and what refused it without them; model None if nothing helped."""

    model: object
    options: dict[str, str]
    seconds: float
    refusal: str  # message of the first error, empty if there was none
    error: Exception | None  # the last one, if nothing helped


def load(kt, path, **given) -> Loaded:
    """Load a file with as few repairs as possible.

    Parameters
    ----------
    kt : module
        kinetree.
    path : path
    **given
        Options to hold in any case.

    Raises
    ------
    Exception
        Anything that is not a KinetreeError: the reader has a bug.
    """
    options: dict[str, str] = {}
    refusal = ""
    while True:
        try:
            begin = time.perf_counter()
            model = kt.load(path, **given, **options)
            return Loaded(model, options, time.perf_counter() - begin, refusal, None)
        except kt.errors.KinetreeError as error:
            refusal = refusal or told(error, path)
            repair = next(((o, value) for o, value in REPAIRS if f"{o}=" in error.message and o not in options), None)
            if repair is None:
                return Loaded(None, options, 0.0, told(error, path), error)
            options[repair[0]] = repair[1]


def told(error: Exception, path) -> str:
    """An error's message without the file's place on this machine."""
    return relative_to(str(error), path)


def relative_to(text: str, path) -> str:
    """A message in which a file and its folders are named as seen from the file."""
    for known in dict.fromkeys((path, path.resolve())):
        text = re.sub(rf"{re.escape(str(known))}:(?=\d)", "line ", text)
        text = text.replace(f"{known}: ", "").replace(str(known), path.name)
        for folder in list(known.parents)[:-1]:
            text = text.replace(f"{folder}/", "")
    return " ".join(text.split())
