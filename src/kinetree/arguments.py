"""Checks of arguments, with one form of error for all public functions: the value given, the value expected."""

from __future__ import annotations

import difflib
import inspect
import math
import operator
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial, wraps
from typing import NoReturn, TypeVar

import numpy as np

from kinetree.errors import ArgumentError, unknown_name

_Function = TypeVar("_Function", bound=Callable)
LONGEST = 80
"""Characters of a value that a message shows."""


def shown(value: object) -> str:
    """A value as messages show it: its text, cut off, and its type where the text does not show it."""
    try:
        text = repr(value)
    except Exception:  # of a user's class; then only its type is shown
        text = "<no text>"
    text = text.splitlines()[0] if "\n" in text else text
    text = text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
    known = value is None or isinstance(value, (bool, int, float, complex, str, bytes, list, tuple, dict, np.ndarray))
    return text if known else f"{text} (of type {type(value).__name__})"


def refuse(what: str, value: object, expected: str) -> NoReturn:
    """Raise the error for an argument.

    Parameters
    ----------
    what : str
        Function and argument: "simulate: dt".
    value : object
        The value given.
    expected : str
        "a positive time in seconds".

    Raises
    ------
    ArgumentError
    """
    raise ArgumentError(f"{what} is {shown(value)}, expected {expected}.", argument=what, found=value)


def number(
    what: str,
    value: object,
    expected: str = "a finite number",
    *,
    least: float = -math.inf,
    above: float = -math.inf,
    most: float = math.inf,
    finite: bool = True,
) -> float:
    """A real number within bounds, of any numeric type: no text, no boolean, no array with axes.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> number("dt", 1)
    1.0
    """
    if isinstance(value, (float, int)) and not isinstance(value, bool):
        try:
            x = float(value)
        except OverflowError:
            x = math.inf
    else:
        x = np.asarray(value) if isinstance(value, (np.ndarray, np.generic)) else None
        if x is None or x.ndim or x.dtype.kind not in "fiu":
            refuse(what, value, expected)
        x = float(x)
    if not least <= x <= most or not (x > above or above == -math.inf) or (finite and not math.isfinite(x)):
        refuse(what, value, expected)
    return x


def whole(
    what: str, value: object, expected: str = "a whole number", *, least: float = -math.inf, most: float = 2.0**62
) -> int:
    """A whole number within bounds; no boolean.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> whole("steps", np.int64(3), least=1)
    3
    """
    if isinstance(value, (bool, np.bool_)):
        refuse(what, value, expected)
    try:
        x = operator.index(value)
    except TypeError:
        refuse(what, value, expected)
    if not least <= x <= most:
        refuse(what, value, expected)
    return x


def array(
    what: str, value: object, expected: str = "an array of real numbers", *, shape: tuple | None = None
) -> np.ndarray:
    """An array of real numbers as doubles.

    Parameters
    ----------
    what : str
        Function and argument.
    value : array_like
    expected : str
    shape : tuple of int or None, optional
        The required shape; None stands for any length, a leading ... for any further axes.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> array("r", [1, 2, 3], shape=(3,))
    array([1., 2., 3.])
    """
    try:
        x = np.asarray(value)
    except Exception:
        refuse(what, value, expected)
    if x.dtype.kind not in "fiu":
        refuse(what, value, expected)
    if shape is not None:
        wanted, found = list(shape), list(x.shape)
        if wanted[:1] == [...]:
            wanted = wanted[1:]
            found = found[len(found) - len(wanted) :] if len(found) >= len(wanted) else None
        fits = found is not None and len(found) == len(wanted)
        if not fits or any(w not in (None, n) for w, n in zip(wanted, found, strict=True)):
            refuse(what, value, f"{expected} of shape {_shape_text(shape)}, not {x.shape}")
    return x.astype(float)


def _shape_text(shape: tuple) -> str:
    parts = ["..." if n is ... else "n" if n is None else str(n) for n in shape]
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def choice(what: str, value: object, known: Iterable[str], where: str = "") -> str:
    """One of the valid words.

    Raises
    ------
    UnknownNameError
        With the closest word, if a text was given.
    ArgumentError
    """
    known = list(known)
    if isinstance(value, str) and value in known:
        return value
    if isinstance(value, str) and where:
        raise unknown_name(what, value, known, where)
    refuse(what, value, f"one of {', '.join(map(repr, known))}")


def instance(what: str, value: object, kind: type | tuple[type, ...], expected: str):
    """An object of a given type.

    Raises
    ------
    ArgumentError
    """
    if not isinstance(value, kind):
        refuse(what, value, expected)
    return value


def text(what: str, value: object, expected: str = "a text") -> str:
    """A text.

    Raises
    ------
    ArgumentError
    """
    return instance(what, value, str, expected)


def names(what: str, value: object, expected: str = "a name or a sequence of names") -> tuple[str, ...]:
    """Names: one alone or several.

    Raises
    ------
    ArgumentError

    Examples
    --------
    >>> names("joints", "hip"), names("joints", ["hip", "knee"])
    (('hip',), ('hip', 'knee'))
    """
    if isinstance(value, str):
        return (value,)
    if isinstance(value, (bytes, Mapping)) or not hasattr(value, "__iter__"):
        refuse(what, value, expected)
    found = tuple(value)
    if not all(isinstance(x, str) for x in found):
        refuse(what, value, expected)
    return found


def listed(names: list[str] | tuple[str, ...], most: int = 6) -> str:
    """The first names in quotes, and how many there are besides: ``'a', 'b' and 3 more``."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more


# Kinds of arguments, for `checked` ------------------------------------------------------------------------------------

Check = Callable[[str, object], object]
"""``check(what, value)`` raises ArgumentError."""


def checked(moved: Mapping[str, str] | None = None, /, **checks: Check) -> Callable[[_Function], _Function]:
    """Check arguments of the decorated function, by their names, before it runs; its defaults are not checked.

    The error for an unknown option lists the valid options, or names its replacement in ``moved``.

    Examples
    --------
    >>> @checked(mass=a_number)
    ... def weight(mass=1.0):
    ...     return 9.81 * mass
    >>> weight("a")
    Traceback (most recent call last):
    ...
    kinetree.errors.ArgumentError: weight: mass is 'a', expected a finite number.
    """

    def decorate(function: _Function) -> _Function:
        parameters = list(inspect.signature(function).parameters.values())
        places = {p.name: (k if p.kind is not p.KEYWORD_ONLY else len(parameters)) for k, p in enumerate(parameters)}
        defaults = {p.name: p.default for p in parameters}
        any_name = any(p.kind is p.VAR_KEYWORD for p in parameters)
        outer, _, own = function.__qualname__.rpartition(".")
        label = outer.rpartition(".")[2] if own == "__init__" else own

        @wraps(function)
        def call(*args, **named):
            for name in () if any_name else named:
                if name not in places:
                    _refuse_option(label, name, [known for known in places if known != "self"], moved or {})
            for name, check in checks.items():
                if name in named:
                    value = named[name]
                elif places[name] < len(args):
                    value = args[places[name]]
                else:
                    continue
                if value is not defaults[name]:
                    check(f"{label}: {name}", value)
            return function(*args, **named)

        return call

    return decorate


def _refuse_option(label: str, name: str, known: list[str], moved: Mapping[str, str]) -> NoReturn:
    if name in moved:
        raise ArgumentError(f"{label}: {name} is no option of its own; give {moved[name]}.", argument=name)
    close = difflib.get_close_matches(name, [*known, *moved], n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ArgumentError(f"{label}: there is no option {name!r}.{hint} Options: {', '.join(known)}.", argument=name)


def of_kind(name: str, *attributes: str) -> Check:
    """The check for an object of a class with these attributes, which is above this floor."""

    def check(what: str, value: object) -> None:
        if isinstance(value, type) or not all(hasattr(value, attribute) for attribute in attributes):
            refuse(what, value, f"a {name}")

    return check


a_joint = of_kind("Joint, as kinetree.joints.Revolute((0, 0, 1))", "nq", "nv", "transform")
a_name = partial(text, expected="a name")
a_word = text  # chosen from a list of words
a_mapping = partial(instance, kind=Mapping, expected="a mapping of names to values")
a_truth_value = partial(instance, kind=(bool, np.bool_), expected="True or False")
a_random_generator = partial(
    instance, kind=np.random.Generator, expected="a random generator, as numpy.random.default_rng(0)"
)
an_array = array  # its shape is checked later
a_number = number
a_positive_number = partial(number, expected="a positive number", above=0.0)
a_number_not_negative = partial(number, expected="a number that is not negative", least=0.0)
a_count = partial(whole, expected="a whole number, at least 1 and at most 2^31", least=1, most=2**31)
# Of machine size; the function checks its narrower range.
a_whole_number = partial(whole, expected="a whole number up to 2^31", most=2**31)
# Number of bodies of a generated mechanism.
a_size = partial(whole, expected="a whole number from 1 to 1000000", least=1, most=10**6)
# Depth of a binary tree.
a_depth = partial(whole, expected="a whole number from 1 to 20", least=1, most=20)
# Of a random generator.
a_seed = partial(whole, expected="a whole number that is not negative", least=0, most=math.inf)
a_compiled_function = of_kind("Function, as kinetree.compile gives it", "program", "with_parameters")


def a_model(what: str, value: object) -> None:
    """A model, spatial or planar."""
    if isinstance(value, type) or not all(hasattr(value, name) for name in ("outward", "joint_names", "v_slice")):
        file = isinstance(value, (str, os.PathLike)) and not isinstance(value, type)
        hint = f"kt.load({shown(value)})" if file else "as kt.load and ModelBuilder.build give it"
        hint = getattr(type(value), "instead_of_a_model", hint)
        refuse(what, value, f"a Model, {hint}")


def a_joint_or_name(what: str, value: object) -> None:
    """A joint, or the name of a kind of joint."""
    if not isinstance(value, str):
        a_joint(what, value)


def some_names(what: str, value: object) -> None:
    """A name or several, in a sequence or as the keys of a mapping."""
    names(what, list(value) if isinstance(value, Mapping) else value)


def a_sequence(what: str, value: object) -> None:
    """Several things, in a tuple, a list or any other iterable; no text."""
    if isinstance(value, (str, bytes)) or not hasattr(value, "__iter__") or isinstance(value, type):
        refuse(what, value, "a sequence")


def a_scalar(what: str, value: object) -> None:
    """A real number, an array of them (one for each state), or a traced one."""
    if isinstance(value, np.ndarray):
        fits = value.dtype.kind in "fiuO" and not (value.dtype == object and any(map(_is_plain, value.flat)))
    else:
        fits = not _is_plain(value)
    if not fits:
        refuse(what, value, "a number, an array of numbers or a traced scalar")


def _is_plain(value: object) -> bool:
    """Whether a value is no scalar: it cannot be added to a number, or is complex."""
    return isinstance(value, (type, complex)) or not (hasattr(value, "__radd__") and hasattr(value, "__rmul__"))


def scalars(count: int) -> Check:
    """The check for a sequence of so many scalars of any kind."""

    def check(what: str, value: object) -> None:
        expected = f"a sequence of {count} scalars"
        if isinstance(value, (str, bytes, Mapping, type)) or not hasattr(value, "__len__") or len(value) != count:
            refuse(what, value, expected)
        for one in value:
            a_scalar(f"one of {what}", one)

    return check


def an_instance(kind: type) -> Check:
    """The check for an object of a class."""
    return partial(instance, kind=kind, expected=f"a {kind.__name__}")


def a_bound(what: str, value: object) -> None:
    """A number, which may be infinite."""
    if number(what, value, "a number", finite=False) != value:  # NaN
        refuse(what, value, "a number")


def a_method(what: str, value: object) -> None:
    """A name, a class that takes steps, or a method with its options."""
    if not (isinstance(value, str) or (hasattr(value, "name") and (callable(value) or hasattr(value, "solve")))):
        refuse(what, value, "an integrator: its name, a method of kt.integrators, or a class with a name and step(...)")


def a_callable(what: str, value: object) -> None:
    """A function, or an object that is called as one; no class."""
    if isinstance(value, type) or not callable(value):
        refuse(what, value, "a function")


def a_path(what: str, value: object) -> None:
    """A path of the file system."""
    if not isinstance(value, (str, os.PathLike)) or isinstance(value, type):
        refuse(what, value, "a path")


def some_paths(what: str, value: object) -> None:
    """A path or several."""
    if isinstance(value, (str, os.PathLike)) and not isinstance(value, type):
        return
    a_sequence(what, value)
    for one in value:
        a_path(f"one of {what}", one)


def new_names(what: str, value: object) -> None:
    """New names for old: a mapping, or a function of the old one."""
    if not isinstance(value, Mapping) and (isinstance(value, type) or not callable(value)):
        refuse(what, value, "a mapping of old names to new ones, or a function of the old name")


def progress_bar(what: str, value: object) -> None:
    """Whether progress is shown, or a function that is called with it."""
    if not isinstance(value, (bool, np.bool_)) and (isinstance(value, type) or not callable(value)):
        refuse(what, value, "True, False or a function that is called with the progress")


def several(check: Check) -> Check:
    """The check for a sequence whose items each pass a check."""

    def check_all(what: str, value: object) -> None:
        a_sequence(what, value)
        if not isinstance(value, Iterator):  # which can be iterated only once
            for item in value:
                check(f"one of {what}", item)

    return check_all


def a_number_up_to(most: float) -> Check:
    """The check for a number above zero, and no more than this."""
    return partial(number, expected=f"a number above 0 and up to {most:g}", above=0.0, most=most)


def a_shape(*shape) -> Check:
    """The check for an array of real numbers of this shape, as `array` takes it."""
    return partial(array, shape=shape)
