"""Seeds of random states."""

from __future__ import annotations

import numpy as np

from kinetree.errors import ShapeError


def generator(function: str, seed) -> np.random.Generator:
    """The random numbers of a seed.

    Parameters
    ----------
    function : str
        The caller, for the message.
    seed : int or any other argument of numpy.random.default_rng

    Raises
    ------
    ShapeError
        The argument is no seed.
    """
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError) as error:
        raise ShapeError(
            f"{function}: seed is {seed!r}, expected a whole number that is not negative.", seed=seed
        ) from error
