"""Keys of functions and data by content, under which traced programs are kept on disk.

The content of a function of the library is its place in the library, its closure, and the text of every source that
its imports reach. The content of data is their values. Code from elsewhere has no key: its dependencies are unknown.

Keys contain texts, not names, sizes or time stamps: these are equal for different contents after a reproducible build.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
import hashlib
import os
import re
import sys
import time
import types
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from kinetree.once import once

PACKAGE = __name__.rpartition(".")[0]
_ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_LOADED = time.time()
_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented), Fraction)


class Unknown(Exception):
    """Something is neither data nor code of the library; the message names it."""


def key(*things: object, sources: Iterable[str] = ()) -> str | None:
    """A digest of things by content; None if there is code among them that is not the library's.

    Parameters
    ----------
    *things : object
        Functions, classes, and data: numbers, texts, arrays, containers, objects of the library's classes.
    sources : iterable of str
        Modules on which they depend beside those that they come from.
    """
    try:
        walk = _Walk()
        text = repr([walk.of(thing) for thing in things])
        return hashlib.sha256(f"{sources_digest(*sources, *walk.modules)}/{text}".encode()).hexdigest()[:32]
    except Unknown:
        return None


class _Walk:
    """Content as nested tuples of texts and numbers, and the modules whose code belongs to it."""

    def __init__(self) -> None:
        self.modules: set[str] = set()
        self._met: dict[int, tuple[int, object]] = {}  # by id: the place in the order, and the thing, kept alive

    def of(self, x: object):
        """The content of x; an object that occurs again is its number, so that cycles end."""
        kind = type(x)
        if kind in _PLAIN:
            return kind.__name__, repr(x)
        if id(x) in self._met:
            return "again", self._met[id(x)][0]
        self._met[id(x)] = len(self._met), x
        if kind in (tuple, list):
            return kind.__name__, [self.of(y) for y in x]
        if kind in (set, frozenset):
            return kind.__name__, sorted(repr(self._apart(y)) for y in x)
        if kind in (dict, types.MappingProxyType):
            return "mapping", [(self.of(k), self.of(v)) for k, v in x.items()]
        if kind is np.ndarray and x.dtype.kind in "biufc":
            return "array", x.dtype.str, x.shape, hashlib.sha256(x.tobytes()).hexdigest()
        if isinstance(x, np.generic):
            return "scalar", x.dtype.str, x.tobytes().hex()
        return self._code(x, kind)

    def _apart(self, y: object):
        """The content of an element of a set, which has no place in an order."""
        inner = _Walk()
        found = inner.of(y)
        self.modules |= inner.modules
        return found

    def _code(self, x: object, kind: type):
        if hasattr(x, "cache_clear") and hasattr(x, "__wrapped__"):  # once, functools.cache
            return "cached", self.of(x.__wrapped__)
        if kind is types.FunctionType:
            return self._function(x)
        if kind is types.MethodType:
            return "method", self.of(x.__func__), self.of(x.__self__)
        if kind is functools.partial:
            return "partial", self.of(x.func), self.of(x.args), self.of(x.keywords)
        if kind is types.BuiltinFunctionType and _is_module(x.__self__):
            return "builtin", x.__module__, x.__qualname__
        if isinstance(x, type):
            return "class", *self._class(x)
        if kind.__module__ == "builtins":
            raise Unknown(f"a {kind.__name__}")
        return "object", *self._class(kind), self._fields(x, kind)

    def _function(self, f: types.FunctionType):
        module = f.__globals__.get("__name__", "")
        if not is_ours(module) or vars(sys.modules.get(module, f)) is not f.__globals__:
            raise Unknown(f"{module}.{f.__qualname__}")
        self.modules.add(module)
        code = f.__code__
        try:
            closed = [cell.cell_contents for cell in f.__closure__ or ()]
        except ValueError:
            raise Unknown(f"{module}.{f.__qualname__}, which is not finished") from None
        # Several functions may have one name: the line and the instructions tell lambdas and branches apart.
        place = module, code.co_qualname, code.co_firstlineno, code.co_code.hex()
        return "function", place, self.of(closed), self.of(f.__defaults__), self.of(f.__kwdefaults__)

    def _class(self, kind: type) -> tuple[str, str]:
        if getattr(builtins, kind.__qualname__, None) is kind:
            return "builtins", kind.__qualname__
        found = sys.modules.get(kind.__module__)
        for name in kind.__qualname__.split("."):
            found = getattr(found, name, None)
        if found is not kind or not is_ours(kind.__module__):
            raise Unknown(f"{kind.__module__}.{kind.__qualname__}")
        self.modules.update(base.__module__ for base in kind.__mro__ if is_ours(base.__module__))
        return kind.__module__, kind.__qualname__

    def _fields(self, x: object, kind: type):
        if isinstance(x, (tuple, list, dict, set, frozenset, str, int, float)):  # a subclass, such as a named tuple
            if isinstance(x, tuple):
                return [self.of(y) for y in tuple.__iter__(x)]
            raise Unknown(f"a {kind.__qualname__}")
        if dataclasses.is_dataclass(kind):
            names = [field.name for field in dataclasses.fields(kind)]
        else:
            slots = [name for base in kind.__mro__ for name in _slots(base)]
            names = [*slots, *sorted(getattr(x, "__dict__", ()))]
        return [(name, self.of(getattr(x, name))) for name in names if hasattr(x, name)]


def _slots(kind: type) -> tuple[str, ...]:
    slots = vars(kind).get("__slots__", ())
    return (slots,) if isinstance(slots, str) else tuple(s for s in slots if s not in ("__dict__", "__weakref__"))


def _is_module(x: object) -> bool:
    return isinstance(x, types.ModuleType)


def is_ours(module: str) -> bool:
    """Whether a module is one of the library's."""
    return module == PACKAGE or module.startswith(PACKAGE + ".")


def from_library(function: object) -> bool:
    """Whether a function is one of the library's, regardless of its ``__module__``."""
    return is_ours(getattr(function, "__globals__", {}).get("__name__", ""))


# Sources --------------------------------------------------------------------------------------------------------------

_IMPORT = re.compile(rb"import[ \t]+(\([^)]*\)|[^\n#]+)")


def sources_digest(*modules: str) -> str:
    """A digest of the texts of modules of the library and of all that they import from it, also inside functions.

    Raises
    ------
    Unknown
        A source cannot be read, or was changed since the library was loaded: the code that runs is another one.
    """
    texts = hashlib.sha256()
    for name in sorted(sources(*modules)):
        texts.update(f"{name} {_source(name)[0]}\n".encode())
    return texts.hexdigest()


def sources(*modules: str) -> frozenset[str]:
    """The names of modules of the library and of all that they import from it, also inside functions."""
    found, rest = set(), [*modules]
    while rest:
        name = rest.pop()
        if name not in found:
            found.add(name)
            rest += _source(name)[1]
    return frozenset(found)


@once
def _source(module: str) -> tuple[str, tuple[str, ...]]:
    """The digest of a module's text, and the modules of the library that it imports."""
    package = _listing(module)
    path = _ROOT + module.replace(".", os.sep) + (".py" if package is None else os.sep + "__init__.py")
    try:
        with open(path, "rb") as file:
            changed = os.stat(file.fileno()).st_mtime
            text = file.read()
    except OSError:
        if os.path.exists(path + "i"):  # a stub: there is no code
            return "", ()
        raise Unknown(f"{module}, whose source cannot be read") from None
    if _LOADED < changed <= time.time():
        raise Unknown(f"{module}, whose source was changed after it was loaded")
    names = []
    for found in _IMPORT.finditer(text):
        line = text[text.rfind(b"\n", 0, found.start()) + 1 : found.start()].split()
        if not line:
            names += [part.split()[0].decode() for part in found[1].split(b",") if part.strip()]
        elif line[0] == b"from" and len(line) == 2:
            base = _absolute(line[1].decode(), module if package is not None else module.rpartition(".")[0])
            names.append(base)
            if is_ours(base) and (inside := _listing(base)) is not None:
                words = (word.decode() for word in re.findall(rb"\w+", found[1]))
                names += [f"{base}.{word}" for word in words if word in inside or word + ".py" in inside]
    return hashlib.sha256(text).hexdigest(), tuple(name for name in names if is_ours(name))


def _absolute(start: str, package: str) -> str:
    """The module that ``from start import`` names in a package."""
    dots = len(start) - len(start.lstrip("."))
    if not dots:
        return start
    return ".".join([*package.split(".")[: len(package.split(".")) - dots + 1], *filter(None, [start[dots:]])])


@once
def _listing(module: str) -> frozenset[str] | None:
    """The files of a package, None for other modules."""
    try:
        return frozenset(os.listdir(_ROOT + module.replace(".", os.sep)))
    except OSError:
        return None
