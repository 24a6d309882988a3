"""Designs: which values each sample of a sweep has, as a function of the seed and the sample's index alone.

A sample depends on no other, so any range of samples can be computed anywhere, in any order. Lists are combined (all
with all, or side by side); for each combination there are draws of the distributions, at points of the unit cube that
are random, of a Sobol sequence, or of a Latin hypercube.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from kinetree.arguments import choice, shown, whole
from kinetree.errors import ArgumentError, ShapeError
from kinetree.once import once
from kinetree.simulation.memory import check_room
from kinetree.sweeps.distributions import Distribution, of_scipy

DESIGNS = ("grid", "zip")
SAMPLINGS = ("random", "sobol", "latin_hypercube")
FINEST = 2.0**-53
_WORDS = 4  # random numbers of 64 bits of one step of the counter of Philox


@dataclass(frozen=True, eq=False)
class Design:
    """The samples of a sweep.

    Attributes
    ----------
    lists : mapping of str to ndarray
        Values (n, ...) that are combined.
    drawn : mapping of str to distribution
    functions : mapping of str to callable
        ``function(rng)``, with a generator of the sample's own.
    design, sampling : str
    samples : int
        Draws for each combination.
    seed : int
    count : int
        Number of samples.
    """

    lists: Mapping[str, np.ndarray]
    drawn: Mapping[str, object]
    functions: Mapping[str, Callable]
    design: str
    sampling: str
    samples: int
    seed: int
    count: int

    @classmethod
    def of(cls, over, design="grid", sampling="random", samples=None, seed=0) -> Design:
        """The design of the arguments of `sweep`.

        Raises
        ------
        ArgumentError, ShapeError, UnknownNameError
        """
        if not isinstance(over, Mapping) or not over:
            raise ArgumentError(
                f"sweep: over is {shown(over)}, expected a mapping of parameters to values or distributions, such as "
                '{"link.mass": [0.5, 1.0]}.',
                argument="over",
            )
        choice("design", design, DESIGNS, "sweep")
        choice("sampling", sampling, SAMPLINGS, "sweep")
        seed = whole("sweep: seed", seed, "a whole number from 0", least=0)
        lists, drawn, functions = {}, {}, {}
        for name, given in over.items():
            if not isinstance(name, str):
                raise ArgumentError(f"sweep: over has the name {shown(name)}, expected text.", argument="over")
            if isinstance(given, Distribution) or of_scipy(given):
                drawn[name] = given
            elif callable(given):
                functions[name] = given
            else:
                lists[name] = _list(name, given)
        lengths = {name: len(x) for name, x in lists.items()}
        combinations = math.prod(lengths.values())
        if design == "zip":
            if len(set(lengths.values()) - {1}) > 1:
                text = ", ".join(f"{name}: {n}" for name, n in lengths.items())
                raise ShapeError(f"sweep: design='zip' takes lists of one length; found {text}.", lengths=lengths)
            combinations = max(lengths.values(), default=1)
        if samples is None and (drawn or functions):
            first = next(iter({**drawn, **functions}))
            raise ArgumentError(
                f"sweep: {first!r} is drawn at random, so samples= (how often) is needed.", argument=first
            )
        if sampling != "random" and not drawn:
            raise ArgumentError(
                f"sweep: sampling={sampling!r} is for distributions, and over has none. Leave it out.",
                argument="sampling",
            )
        if samples is not None and not (drawn or functions):
            raise ArgumentError(
                "sweep: samples is for distributions; over has lists only. Leave it out.", argument="samples"
            )
        samples = 1 if samples is None else whole("sweep: samples", samples, "a positive whole number", least=1)
        return cls(lists, drawn, functions, design, sampling, samples, seed, combinations * samples)

    def values(self, start: int, stop: int) -> dict[str, np.ndarray]:
        """Values of the samples of a range, (stop - start, ...) for each parameter."""
        index = np.arange(start, stop)
        found = self._of_lists(index // self.samples)
        if self.drawn:
            points, at = self.points(start, stop), 0
            for name, distribution in self.drawn.items():
                size = _size(distribution)
                part, at = points[:, at : at + size], at + size
                own = isinstance(distribution, Distribution)
                found[name] = distribution.values(part) if own else np.asarray(distribution.ppf(part[:, 0]), float)
        for name, function in self.functions.items():
            found[name] = np.array([_called(name, function, self.generator(k, name), k) for k in index])
        return found

    def generator(self, k: int, name: str) -> np.random.Generator:
        """The generator of a sample's own for a parameter."""
        place = list(self.functions).index(name)
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(int(k), place)))

    def points(self, start: int, stop: int) -> np.ndarray:
        """Points of the unit cube, its boundary excluded."""
        size = sum(map(_size, self.drawn.values()))
        if self.sampling == "random":
            return _random_points(self.seed, size, start, stop)
        if self.sampling == "sobol":
            return _inside(_sobol_points(self.seed, size, start, stop))
        check_room(
            f"sweep: the Latin hypercube of {self.count} samples", self.count * size, 24.0,
            lambda _: "Take sampling='sobol', whose points are computed one by one.",
        )  # fmt: skip
        return _inside(_hypercube(self.seed, size, self.count)[start:stop])

    def _of_lists(self, combination: np.ndarray) -> dict[str, np.ndarray]:
        found, rest = {}, combination
        for name, x in reversed(self.lists.items()):  # the last list varies fastest, as in itertools.product
            if self.design == "zip":
                found[name] = x[combination % len(x)] if len(x) > 1 else x[np.zeros_like(combination)]
            else:
                found[name], rest = x[rest % len(x)], rest // len(x)
        return {name: found[name] for name in self.lists}


def _list(name: str, given) -> np.ndarray:
    """Values of a list, one along its first axis; a number is a list of one."""
    try:
        x = np.asarray(given)
    except ValueError:
        x = np.empty(0, object)
    if x.dtype.kind not in "fiu" or not x.size:
        raise ArgumentError(
            f"sweep: over[{name!r}] is {shown(given)}, expected numbers, a distribution such as "
            "kt.sweeps.uniform(low, high), or a function of a random generator.",
            argument="over",
        )
    x = np.atleast_1d(x).astype(float)
    if not np.isfinite(x).all():
        raise ArgumentError(f"sweep: over[{name!r}] is {shown(given)}, expected finite numbers.", argument="over")
    return x


def _size(distribution) -> int:
    return math.prod(distribution.shape) if isinstance(distribution, Distribution) else 1


def _called(name: str, function, rng, k: int) -> np.ndarray:
    try:
        return np.asarray(function(rng), dtype=float)
    except Exception as error:
        raise ArgumentError(f"sweep: over[{name!r}] failed for sample {k}: {type(error).__name__}: {error}") from error


def _random_points(seed: int, size: int, start: int, stop: int) -> np.ndarray:
    """Rows of one stream of random numbers: that of row k begins at number k * size, whatever the range."""
    generator = np.random.Philox(np.random.SeedSequence(seed))
    first, skipped = divmod(start * size, _WORDS)
    generator.advance(first)
    raw = generator.random_raw((stop - start) * size + skipped)[skipped:]
    return (((raw >> np.uint64(12)).astype(float) + 0.5) * 2.0 * FINEST).reshape(stop - start, size)


def _sobol_points(seed: int, size: int, start: int, stop: int) -> np.ndarray:
    sequence = _engine("Sobol", size, seed)
    if start:
        sequence.fast_forward(start)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about balance: this is a part of the sequence
        return sequence.random(stop - start)


@once(most=1)
def _hypercube(seed: int, size: int, count: int) -> np.ndarray:
    return _engine("LatinHypercube", size, seed).random(count)


def _engine(kind: str, size: int, seed: int):
    from scipy.stats import qmc

    engine = getattr(qmc, kind)
    word = "rng" if "rng" in inspect.signature(engine).parameters else "seed"
    return engine(size, **{word: np.random.default_rng(seed)})


def _inside(points: np.ndarray) -> np.ndarray:
    return np.clip(points, FINEST, 1.0 - FINEST)
