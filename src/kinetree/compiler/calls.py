"""The plain calls: ``kt.aba(model, q, v, tau)`` compiles on first use and keeps the Function beside the model."""

from __future__ import annotations

import inspect

from kinetree.algorithms.spec import ALGORITHMS, Spec
from kinetree.arguments import a_model, a_truth_value, choice
from kinetree.compiler.function import Function, check_static
from kinetree.compiler.interpret import is_interpreted, opened
from kinetree.compiler.time_argument import TIME, missing_inputs, needs_time, takes_time, with_time
from kinetree.native.arrays import as_arrays
from kinetree.once import made_once, once
from kinetree.public import place


def plain_call(spec: Spec):
    """The public function of an algorithm: arrays in, arrays out.

    It has the algorithm's signature plus ``out=``, and finds the compiled Function in ``model.functions``.
    """
    name, static = spec.name, spec.static
    count, choices_count, general = len(spec.inputs), len(static), _GeneralCall(spec)

    def call(model, *args, out=None, **named):
        f = None
        try:
            if not named:  # the common case, kept short
                if len(args) == count:
                    f = model.functions[name]
            elif len(named) == choices_count and len(args) == count:  # static choices, and all of them
                f = model.functions[(name, *[named[choice] for choice in static])]
        except (AttributeError, KeyError, TypeError):  # no model, not compiled yet, or something else is named
            pass
        if f is not None and not (opened and is_interpreted()):
            result = f.single(*args) if out is None else f.single(*args, out)
            return f(*args, out=out) if result is NotImplemented else result
        return general.call(model, args, out, named)

    call.__module__, call.__name__ = place(spec.name)
    call.__qualname__ = call.__name__
    call.__wrapped__ = spec.function  # so that kt.rnea?? and inspect.getsource show the listing
    call.__signature__ = general.signature
    return call


class _GeneralCall:
    """Calls of an algorithm by position and by name, with optional inputs and static choices, on any kind of model."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.with_time = with_time(spec) if takes_time(spec) else spec
        self.signature = _public_signature(spec)
        self._others: dict[str, _GeneralCall] = {}  # of other methods and variants

    def call(self, model, args, out, named):
        """The result, of a Function that is made when it is first needed."""
        if not hasattr(model, "functions"):
            a_model(f"{self.spec.name}: model", model)
        other = self._other(named)
        if other:
            return other.call(model, args, out, named)
        spec, name = self.with_time if needs_time(self.spec, model) else self.spec, self.spec.name
        if not named and len(args) == len(spec.inputs):
            f = model.functions.get(name)
            if f is not None and not is_interpreted():
                return f(*args, out=out)
        given, choices = self._bound(spec, model, args, named)
        present = tuple(entry for entry in spec.optional if entry in given)
        arrays = {entry: given[entry] for entry in (*spec.inputs, *present)}
        if is_interpreted():
            check_static(spec, model, choices)
            f = Function(spec, model, present, choices, checks=True)
            return f.interpret(*as_arrays(f.spec, model, arrays), out)
        values = [tuple(x) if isinstance(x, list) else x for x in map(choices.get, spec.static)]  # hashable
        plain = not present and all(x is None for x in values)
        key = name if plain else (name, *((present,) if present else ()), *values)
        f = model.functions.get(key)
        if f is None:
            check_static(spec, model, choices)
            f = model.functions.setdefault(key, Function(spec, model, present, choices, checks=True))
        return f(*arrays.values(), out=out)

    def _other(self, named) -> _GeneralCall | None:
        """The call of another method or variant that is given by name; these names are taken out."""
        spec = self.spec
        if spec.methods and "method" in named:
            method = choice("method", named.pop("method"), spec.methods, spec.name)
            if method != next(iter(spec.methods)):
                return made_once(self._others, method, lambda: _GeneralCall(spec.by(method)))
        for more in spec.variants.keys() & named.keys():
            asked = named.pop(more)
            a_truth_value(f"{spec.name}: {more}", asked)
            if asked:
                return made_once(self._others, more, _GeneralCall, spec.variants[more])
        return None

    def _bound(self, spec: Spec, model, args, named) -> tuple[dict, dict]:
        """The arrays and the static choices by name."""
        name, arrays = spec.name, (*spec.inputs, *spec.optional)
        if TIME in named and TIME not in arrays and takes_time(self.spec):
            if named[TIME] is not None:
                raise TypeError(f"{name}: model {model.name!r} does not depend on time, so it takes no t")
            named = {entry: value for entry, value in named.items() if entry != TIME}
        given, choices = dict(zip(arrays, args, strict=False)), {}
        fits = len(args) <= len(arrays)
        for entry, value in named.items():
            if entry in spec.static:
                choices[entry] = value
            elif entry in arrays and entry not in given:
                given[entry] = value
            else:
                fits = False
        if not fits:
            try:
                self.signature.bind_partial(model, *args, **named)
            except TypeError as error:
                raise TypeError(f"{name}: {error}; its signature is {name}{self.signature}") from None
        given = {entry: value for entry, value in given.items() if value is not None or entry not in spec.optional}
        missing = [entry for entry in spec.inputs if entry not in given]
        if missing:
            raise TypeError(missing_inputs(name, model, missing))
        return given, choices


def _public_signature(spec: Spec) -> inspect.Signature:
    parameters = [
        p.replace(default=next(iter(spec.methods))) if p.name == "method" and spec.methods else p
        for p in inspect.signature(spec.function).parameters.values()
    ]
    if takes_time(spec):
        parameters.append(inspect.Parameter(TIME, inspect.Parameter.KEYWORD_ONLY, default=None))
    parameters.append(inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None))
    return inspect.Signature(parameters)


@once
def public_call(name: str):
    """The public function of the algorithm of this name, with its docstring: always the same one."""
    from kinetree.algorithms.docstrings import docstring

    spec = ALGORITHMS[name]
    call = plain_call(spec)
    call.__doc__ = docstring(spec, (TIME, "out") if takes_time(spec) else ("out",))
    return call
