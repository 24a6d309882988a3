"""Other numbers for compiled code: masses, inertias, offsets, gravity and the joints' data are inputs of every kernel.

One set of numbers makes a Function on the same machine code. A set for every state makes one whose kernel reads the
values of the prologue (quantities of the numbers alone, computed once when the sets are given) with each state.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from kinetree.arguments import array
from kinetree.compiler.tracing import numbers_model
from kinetree.constraints import LoopJoint
from kinetree.errors import ModelError, NonFiniteError, ShapeError, unknown_name
from kinetree.model.loop_joints import without_forces
from kinetree.model.numbers import is_free, rebuilt
from kinetree.model.tendons import with_tendon_forces
from kinetree.spatial import Inertia, Symmetric3, Transform, Vector3
from kinetree.trace.program import Program

if TYPE_CHECKING:
    from kinetree.compiler.function import Function

_SETS = 4096  # whose prologue is computed at a time


def given_numbers(f: Function, parameters: object) -> tuple[object | None, np.ndarray]:
    """The model that has the numbers given and these numbers; no model where states have numbers of their own."""
    from kinetree.model import Model

    if isinstance(parameters, Model):
        _refuse_structure(f, parameters)
        values = parameters.number_values()
        _refuse_misfits(f, values)
        return parameters, values
    values = _values(f, parameters)
    if values.ndim > 1:
        return None, values
    model = model_with(f.model, values)
    return model, model.number_values()


def fitting(f: Function, values: np.ndarray) -> tuple[Function, np.ndarray]:
    """The function with code for these numbers, and the numbers in the frames that it was traced for.

    Frames are chosen so that many numbers are zero. Offsets of joints may differ in a way that breaks such a zero; then
    the code is that of the user's own frames, compiled once.
    """
    basis = numbers_model(f.spec, f.structure_model)
    turned, residues = reframed_values(f.structure_model, basis, values)
    numbers = basis.numbers()
    fixed, expected = ~np.array(numbers.free), numbers.values
    if (fixed & (turned != expected) & ~(np.abs(turned) <= residues)).any():
        return f.in_own_frames(), values
    turned[..., fixed] = expected[fixed]
    return f, turned


def model_with(model, values: np.ndarray):
    """The model with these numbers, validated like any other."""
    parts = rebuilt(model, values.tolist())
    tendons = parts.pop("tendon_forces")
    if tendons:
        model = model.replace(equipment=with_tendon_forces(model.equipment, tendons))
    constraints = [without_forces(c) if isinstance(c, LoopJoint) else c for c in parts.pop("constraints")]
    forces = (*parts.pop("elements"), *parts.pop("loop_forces"))
    return model.replace(forces=forces, constraints=constraints, **parts)


def _values(f: Function, parameters) -> np.ndarray:
    """The numbers of the model, (n,) or with leading axes, from an array or a mapping of names."""
    numbers = f.model.numbers()
    if isinstance(parameters, Mapping):
        names = {name: j for j, name in enumerate(numbers.names)}
        given = {}
        for name, value in parameters.items():
            if name not in names:
                raise unknown_name("number", name, numbers.names, f"model {f.model.name!r}")
            given[names[name]] = array(f"{f.name}: {name}", value)
        try:
            batch = np.broadcast_shapes(*(x.shape for x in given.values()))
        except ValueError:
            shown = ", ".join(f"{numbers.names[j]}: {x.shape}" for j, x in given.items())
            raise ShapeError(f"{f.name}: the shapes of the parameters do not broadcast together ({shown}).") from None
        values = np.empty((*batch, len(numbers)))
        values[...] = numbers.values
        for j, x in given.items():
            values[..., j] = x
    else:
        values = array(f"{f.name}: parameters", parameters, "a Model, numbers by name, or an array of all numbers")
        if values.ndim == 0 or values.shape[-1] != len(numbers):
            raise ShapeError(
                f"{f.name}: parameters have shape {values.shape}, expected (..., {len(numbers)}) in the order of "
                f"model.numbers().names for model {f.model.name!r}.",
                found=values.shape,
                expected=(len(numbers),),
            )
    _refuse_misfits(f, values)
    return values


def _refuse_misfits(f: Function, values: np.ndarray) -> None:
    """Refuse numbers that are not those which are part of the code, or that are not finite, naming the first."""
    compiled = f.structure_model.numbers()
    fixed = ~np.array(compiled.free)
    bad = np.isnan(values) | (fixed & (values != compiled.values)) | (~fixed & np.isinf(values))
    if bad.any():
        at = tuple(int(k) for k in np.argwhere(bad)[0])
        _refuse(f, compiled.names[at[-1]], compiled.values[at[-1]], values[at], at[:-1])


def _refuse_structure(f: Function, other) -> None:
    """Refuse a model whose structure is another, naming the first part that differs."""
    for (part, *mine), (_, *theirs) in zip(f.structure_model.structure(), other.structure(), strict=True):
        if part == "numbers" or mine == theirs:
            continue
        raise ModelError(
            f"{f.name}: model {other.name!r} differs from {f.model.name!r} in its {part}, which is part of the "
            f"compiled code, so it needs a function of its own: kt.compile(model, {f.name!r}).",
            part=part,
        )


def _refuse(f: Function, name: str, value: float, found: float, state: tuple[int, ...]):
    where = f" of state {state if len(state) > 1 else state[0]}" if state else ""
    if np.isnan(found):
        raise NonFiniteError(f"{f.name}: {name}{where} is NaN.", name=name)
    if is_free(value):
        raise ModelError(
            f"{f.name}: {name}{where} is {found:g}, but the compiled code takes a finite number there.", name=name
        )
    raise ModelError(
        f"{f.name}: {name}{where} is {found:g}, but {value:g} is part of the compiled code: model {f.model.name!r} has "
        "nothing of the kind. Compile for a model in which it is another number, and vary it there.",
        name=name,
    )


def reframed_values(model, basis, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of the re-framed model from those of the user's model, over any leading axes.

    Parameters
    ----------
    model, basis : Model
        A model with the user's structure, and the one that the code was traced for: itself, or its re-framed form,
        whose frames are kept for all values.
    values : (..., n) array

    Returns
    -------
    values, residues : (..., n) array
        ``residues`` bounds the rounding in entries that are zero sums: turned frames turn zeros into such.
    """
    if basis is model:
        return values.copy(), np.zeros_like(values)
    turn = {old.body: new.X_FB.inverse() @ old.X_FB for old, new in zip(model.frames, basis.frames, strict=True)}
    turned, sizes = values.copy(), np.zeros_like(values)
    at = 0
    for i in model.outward():
        r, first, second = slice(at, at + 3), slice(at + 4, at + 7), slice(at + 7, at + 13)
        X_T = turn[i] @ Transform(model.X_T[i].E, Vector3(*_columns(values, r))) @ turn[model.parent[i]].inverse()
        (m,) = _columns(values, slice(at + 3, at + 4))
        I = turn[i] @ Inertia(m, Vector3(*_columns(values, first)), Symmetric3(*_columns(values, second)))
        for part, entries in ((r, X_T.r), (first, I.h), (second, I.I)):
            for k, entry in zip(range(part.start, part.stop), entries, strict=True):
                turned[..., k] = entry
            both = np.abs(np.concatenate([values[..., part], turned[..., part]], axis=-1))
            sizes[..., part] = both.max(axis=-1, keepdims=True)
        at += 13
    return turned, 1e-12 * sizes


def _columns(values: np.ndarray, part: slice) -> list[np.ndarray]:
    return list(np.moveaxis(values[..., part], -1, 0))


def params_as_input(program: Program) -> Program:
    """The same code with the values of its prologue as a last input, named ``parameters``."""
    place = len(program.inputs)
    return dataclasses.replace(
        program,
        inputs=(*program.inputs, ("parameters", (program.params,))),
        code=tuple(("input", place, op[1]) if op[0] == "param" else op for op in program.code),
        prologue=None,
    )


def params_of(program: Program, turned: np.ndarray) -> np.ndarray:
    """The values of the prologue for sets of numbers with leading axes."""
    flat = turned.reshape(-1, turned.shape[-1])
    if program.prologue is None or not len(flat):
        params = np.zeros((len(flat), program.params))
    else:
        params = np.concatenate(
            [program.prologue.interpret([flat[k : k + _SETS]])[0] for k in range(0, len(flat), _SETS)]
        )
    return params.reshape(*turned.shape[:-1], program.params)
