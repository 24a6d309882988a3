"""The plain calls: ``kt.aba(model, q, v, tau)`` compiles on first use and keeps the Function beside the model."""

from __future__ import annotations

import inspect

from kinetree.algorithms.spec import ALGORITHMS, Spec
from kinetree.arguments import a_model
from kinetree.compiler.function import Function, check_static
from kinetree.compiler.interpret import interpret, is_interpreted
from kinetree.compiler.time_argument import ENTRY, TIME, missing_inputs, takes_time, told, with_entry
from kinetree.native.arrays import as_arrays


def plain_call(spec: Spec):
    """The public function of an algorithm: arrays in, arrays out.

    It has the algorithm's signature and docstring plus ``out=``, and finds the compiled Function in
    ``model.functions``.
    """
    name, inputs, optional, static = spec.name, tuple(spec.inputs), tuple(spec.optional), spec.static
    count, choices_count = len(inputs), len(static)

    def call(model, *args, out=None, **named):
        try:
            functions = model.functions
        except AttributeError:
            a_model(f"{name}: model", model)
            raise
        if not named and len(args) == count:  # the common case, kept short
            f = functions.get(name)
            if f is not None and not is_interpreted():
                result = f.single(*args) if out is None else f.single(*args, out)
                return f(*args, out=out) if result is NotImplemented else result
        elif len(args) == count and len(named) == choices_count:  # static choices, and all of them
            try:
                f = functions.get((name, *[named[choice] for choice in static]))
            except (KeyError, TypeError):  # something else is named, or a choice is no possible one
                f = None
            if f is not None and not is_interpreted():
                result = f.single(*args) if out is None else f.single(*args, out)
                return f(*args, out=out) if result is NotImplemented else result
        return general(model, args, out, named)

    late = told(spec) if takes_time(spec) else spec

    def general(model, args, out, named):
        own = late if model.time_dependent else spec
        if own is not spec and not named and len(args) == count + 1:
            f = model.functions.get(name)
            if f is not None and not is_interpreted():
                return f(*args, out=out)
        given, choices = bound(own, model, args, named)
        present = tuple(entry for entry in optional if entry in given)
        if is_interpreted():
            check_static(spec, model, choices)
            return _interpreted(own, model, given, out, present, choices)
        values = [tuple(x) if isinstance(x, list) else x for x in map(choices.get, static)]  # hashable
        key = (name, *((present,) if present else ()), *values)
        f = model.functions.get(key if len(key) > 1 else name)
        if f is None:
            check_static(spec, model, choices)
            f = Function(own, model, present, choices, checks=True)
            f = model.functions.setdefault(key if len(key) > 1 else name, f)
        return f(*[given[entry] for entry in (*own.inputs, *present)], out=out)

    def bound(own, model, args, named):
        """The arrays and the static choices by name."""
        arrays = (*own.inputs, *optional)
        if TIME in named and TIME not in arrays and takes_time(spec):
            if named[TIME] is not None:
                raise TypeError(f"{name}: model {model.name!r} does not depend on time, so it takes no t")
            named = {entry: value for entry, value in named.items() if entry != TIME}
        given, choices = dict(zip(arrays, args, strict=False)), {}
        fits = len(args) <= len(arrays)
        for entry, value in named.items():
            if entry in static:
                choices[entry] = value
            elif entry in arrays and entry not in given:
                given[entry] = value
            else:
                fits = False
        if not fits:
            try:
                signature.bind_partial(model, *args, **named)
            except TypeError as error:
                raise TypeError(f"{name}: {error}; its signature is {name}{signature}") from None
        for entry in optional:
            if given.get(entry, inputs) is None:
                del given[entry]
        missing = [entry for entry in own.inputs if entry not in given]
        if missing:
            raise TypeError(missing_inputs(name, model, missing))
        return given, choices

    signature = _public_signature(spec)
    call.__name__ = call.__qualname__ = spec.name
    call.__doc__ = _with_out(spec)
    call.__module__ = "kinetree"
    call.__signature__ = signature
    return call


def _interpreted(spec, model, given, out, present, choices):
    arrays, batch, dtype = as_arrays(spec, model, given)
    results = interpret(spec, model, arrays, batch, dtype, choices)
    shell = Function(spec, model, present, choices, checks=True)
    if out is not None:
        results = shell._into(out, results, dtype)
    return shell._packed(results, given_out=out is not None)


def _public_signature(spec: Spec) -> inspect.Signature:
    parameters = list(inspect.signature(spec.function).parameters.values())
    if takes_time(spec):
        parameters.append(inspect.Parameter(TIME, inspect.Parameter.KEYWORD_ONLY, default=None))
    parameters.append(inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None))
    return inspect.Signature(parameters)


_OUT = """
out : array or tuple of arrays, optional
    Filled with the result and returned [as the result], shape as the result; with it a call allocates nothing."""


def _with_out(spec: Spec) -> str:
    """The algorithm's docstring with ``out`` as the last parameter, after the time."""
    return with_entry(spec.function, *((ENTRY,) if takes_time(spec) else ()), _OUT)


def plain_calls() -> dict:
    """The public function of every registered algorithm, by name."""
    return {name: plain_call(spec) for name, spec in ALGORITHMS.items()}
