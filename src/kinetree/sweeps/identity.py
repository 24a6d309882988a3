"""The identity of a sweep: a description by parts, so that a difference between two sweeps can be named."""

from __future__ import annotations

import hashlib
import json
import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass

import numpy as np

from kinetree.errors import SweepError
from kinetree.model import Model
from kinetree.simulation.provenance import version
from kinetree.simulation.snapshot import fingerprint
from kinetree.sweeps.distributions import Distribution
from kinetree.sweeps.plan import Plan

SHORT = 8  # numbers that a description shows
DIGITS = 12  # of a digest


def described(plan: Plan) -> dict[str, str]:
    """Text of each part of a sweep that determines its results, by name.

    Parameters
    ----------
    plan : Plan

    Returns
    -------
    dict of str to str
    """
    design = plan.design
    model = plan.source
    found = {
        "model": f"{model.name} ({_of_model(model)})" if isinstance(model, Model) else _text(model),
        "first model": _of_model(plan.first),
        "design": design.design,
        "sampling": design.sampling,
        "samples": str(design.samples),
        "seed": str(design.seed),
        "kinetree": version(),
    }
    for part in (design.lists, design.drawn, design.functions):
        found |= {f"over[{name!r}]": _text(x) for name, x in part.items()}
    found["order of parameters"] = ", ".join(design.lists) + "; " + ", ".join(design.drawn)
    found |= {f"simulate[{name!r}]": _text(x) for name, x in plan.runs.described().items()}
    found |= {f"measure {name!r}": _text(x) for name, x in plan.measures.items()}
    return found


def digest(description: Mapping[str, str]) -> str:
    """A digest of a description."""
    return hashlib.sha256(json.dumps(dict(description), sort_keys=True).encode()).hexdigest()[:32]


def refuse_other(path, theirs: Mapping[str, str], ours: Mapping[str, str]) -> None:
    """Raise an error for a store of another sweep that names what differs.

    Raises
    ------
    SweepError
    """
    parts = [name for name in (*ours, *theirs) if ours.get(name) != theirs.get(name)]
    if not parts:
        return
    parts = list(dict.fromkeys(parts))
    lines = [f"{name} is {ours.get(name, 'absent')}, there {theirs.get(name, 'absent')}" for name in parts[:4]]
    more = f"; and {len(parts) - 4} more" if len(parts) > 4 else ""
    raise SweepError(
        f"sweep: {path} is the store of another sweep: {'; '.join(lines)}{more}. Give another store, or "
        "overwrite=True to begin anew.",
        differences=parts,
    )


def _text(x: object) -> str:
    """The content of a value as text; long or unknown content as a digest."""
    if x is None or isinstance(x, (bool, int, float, str)):
        return repr(x)
    if isinstance(x, np.generic):
        return repr(x.item())
    if isinstance(x, Distribution):
        return repr(x)
    if isinstance(x, Model):
        return f"{x.name} ({_of_model(x)})"
    if isinstance(x, np.ndarray):
        return _of_array(x)
    if isinstance(x, Mapping):
        return "{" + ", ".join(f"{k}: {_text(y)}" for k, y in x.items()) + "}"
    if isinstance(x, (list, tuple)):
        try:
            return _of_array(np.asarray(x, float))
        except (TypeError, ValueError):
            return "(" + ", ".join(map(_text, x)) + ")"
    if isinstance(x, types.FunctionType):
        return f"function {x.__qualname__} ({_hashed(_code(x))})"
    if isinstance(x, types.MethodType):
        return f"method {x.__qualname__} ({_hashed(_code(x.__func__))}) of {_text(x.__self__)}"
    if hasattr(x, "ppf") and hasattr(x, "dist"):  # a frozen distribution of SciPy
        return f"{x.dist.name}{_text(tuple(x.args))}{_text(dict(x.kwds))}"
    if is_dataclass(x) and not isinstance(x, type):
        return f"{type(x).__name__}({', '.join(f'{f.name}={_text(getattr(x, f.name))}' for f in fields(x))})"
    if hasattr(x, "func") and hasattr(x, "keywords"):  # functools.partial
        return f"partial({_text(x.func)}, {_text(x.args)}, {_text(x.keywords)})"
    if callable(x) and hasattr(type(x).__call__, "__code__"):
        return f"{type(x).__qualname__} ({_hashed(_code(type(x).__call__))}, {_text(dict(vars(x)))})"
    return type(x).__qualname__


def _of_model(model: Model) -> str:
    return _hashed(f"{fingerprint(model)} {model.structure()!r}".encode())


def _of_array(x: np.ndarray) -> str:
    if x.size <= SHORT:
        return str(x.tolist())
    return f"array {x.shape} ({_hashed(np.ascontiguousarray(x).tobytes())})"


def _code(f: types.FunctionType) -> bytes:
    """The instructions of a function, its constants, its defaults and the values that it encloses."""

    def of(code) -> str:
        parts = [of(c) if isinstance(c, types.CodeType) else _constant(c) for c in code.co_consts]
        return f"{code.co_code.hex()} {code.co_names} {parts}"

    closed = [_text(cell.cell_contents) for cell in f.__closure__ or ()]
    return f"{of(f.__code__)} {closed} {_text(f.__defaults__)} {_text(f.__kwdefaults__)}".encode()


def _constant(c: object) -> str:
    return repr(sorted(map(repr, c))) if isinstance(c, frozenset) else repr(c)


def _hashed(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:DIGITS]
