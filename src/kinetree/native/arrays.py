"""From the user's arrays to checked arrays with one batch shape, and the errors that explain the fault."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from kinetree.errors import KinetreeError, NonFiniteError, ShapeError

_DOUBLE = np.dtype(np.float64)

WEAK = (int, float)
"""Python's numbers have no precision of their own beside arrays, as in NumPy."""


def is_number(x, dtype: np.dtype) -> bool:
    """Whether compiled code in a precision takes x in place of an array without axes (`llvm_python`)."""
    return type(x) in WEAK or type(x) is dtype.type


def as_arrays(
    spec, model, given: Mapping[str, object], shapes: Sequence[tuple[int, ...]] | None = None
) -> tuple[dict[str, np.ndarray], tuple[int, ...], np.dtype]:
    """Convert and check the arrays of one call.

    Parameters
    ----------
    spec : Spec
        Declares the shapes.
    model : Model
    given : mapping of str to array_like
        The arguments by name; ``f_ext`` may also be a mapping of body names to wrenches.
    shapes : sequence of tuple, optional
        Those that the spec declares for them, where they are known.

    Returns
    -------
    arrays : dict of str to ndarray
        Each of shape ``(..., *shape)``, its leading axes not yet broadcast.
    batch : tuple of int
        The leading axes of all arrays, broadcast together.
    dtype : dtype
        float32 if every array is float32 or narrower, longdouble if one is, else float64. Python's own numbers, such as
        a step of 0.01, leave it to the arrays.

    Raises
    ------
    ShapeError
        An array is not numeric, or its shape does not end in the declared one, or leading axes do not broadcast.
    """
    shapes = shapes or [spec.shape(name, model) for name in given]
    arrays, leading, strong = {}, set(), []
    for (name, value), shape in zip(given.items(), shapes, strict=True):
        x = arrays[name] = _checked(spec, model, name, value, shape)
        if x.ndim > len(shape):
            leading.add(x.shape[: x.ndim - len(shape)])
        if type(value) not in WEAK:
            strong.append(x.dtype)
    try:
        batch = np.broadcast_shapes(*leading) if len(leading) > 1 else leading.pop() if leading else ()
    except ValueError:
        leading = {n: x.shape[: x.ndim - len(shape)] for (n, x), shape in zip(arrays.items(), shapes, strict=True)}
        shown = ", ".join(f"{name}: {shape}" for name, shape in leading.items())
        raise ShapeError(
            f"{spec.name}: the leading (batch) axes of the arrays do not broadcast together ({shown}). "
            "Give every array the same batch, or none.",
            leading=leading,
        ) from None
    return arrays, batch, _common_dtype(strong or [x.dtype for x in arrays.values()])


def _common_dtype(dtypes: list[np.dtype]) -> np.dtype:
    if dtypes.count(_DOUBLE) == len(dtypes):
        return _DOUBLE
    common = np.result_type(np.float32, *(dtype for dtype in dtypes if dtype.kind == "f"))
    # Whole numbers count as float64: they are written by hand, and 24 bits would not hold all of them.
    return common if all(dtype.kind == "f" for dtype in dtypes) else np.result_type(common, np.float64)


def _checked(spec, model, name, value, expected: tuple[int, ...]) -> np.ndarray:
    try:
        x = np.asarray(value)
    except ValueError as failure:
        raise ShapeError(f"{spec.name}: {name} is not an array: {failure}", name=name) from None
    kind = x.dtype.kind
    if kind == "O" and isinstance(value, Mapping) and (spec.inputs | spec.optional)[name] == ("nb", 6):
        x = wrenches_by_name(spec.name, model, name, value)
    elif kind not in "fiub":
        raise ShapeError(
            f"{spec.name}: {name} has entries of type {x.dtype}, expected real numbers.", name=name, dtype=x.dtype
        )
    if x.shape != expected and (x.ndim < len(expected) or x.shape[x.ndim - len(expected) :] != expected):
        raise ShapeError(
            _shape_message(spec, model, name, x.shape, expected), name=name, found=x.shape, expected=expected
        )
    return x


def _shape_message(spec, model, name, found, expected) -> str:
    declared = (spec.inputs | spec.optional)[name]
    wanted = "(" + ", ".join(["...", *map(str, expected)]) + ")" if expected else "a number or a batch of them"
    message = f"{spec.name}: {name} has shape {found}, expected {wanted} for model {model.name!r}"
    sizes = [size for size in declared if isinstance(size, str)]
    if sizes in (["nq"], ["nv"]):
        message += f" ({_joint_sizes(model, sizes[0])})"
        other = "nv" if sizes[0] == "nq" else "nq"
        if found and model.nq != model.nv and found[-1] == getattr(model, other):
            message += f". Did you pass {'a velocity' if other == 'nv' else 'positions'}? {other} is {found[-1]}"
        elif len(found) == 2 and found[0] == expected[0]:
            message += ". Did you pass one state per column? States are rows"
    elif sizes == ["nb"]:
        message += f" (nb={model.nb} bodies, the world is row 0)"
    return message + "."


def _joint_sizes(model, size) -> str:
    slices = model.q_slice if size == "nq" else model.v_slice
    parts = [
        f"{model.joints[i].kind} {model.joint_name(i)!r} {slices[i].stop - slices[i].start}" for i in model.outward()
    ]
    shown = ", ".join(parts[:6]) + (f", ... {len(parts) - 6} more joints" if len(parts) > 6 else "")
    return f"{size}={getattr(model, size)}: {shown}"


def wrenches_by_name(caller: str, model, name: str, wrenches: Mapping) -> np.ndarray:
    """Rows by body from a mapping of body names to wrenches.

    Parameters
    ----------
    caller : str
        The function that was called; it opens the message of an error.
    model : Model
    name : str
        The argument: "f_ext".
    wrenches : mapping of str to (..., 6) array
        [moment; force] by body name [N m, N].

    Returns
    -------
    (..., nb, 6) array
        Zero for the bodies that are not named.

    Raises
    ------
    UnknownNameError
        No body has this name; of a frame the message names the body that holds it.
    ShapeError
        A wrench has not six entries.
    """
    rows, size = {}, model.algebra.dimension
    for body, wrench in wrenches.items():
        row = rows[model.body(body)] = np.asarray(wrench)  # or explains: the name may be that of a frame
        if row.ndim == 0 or row.shape[-1] != size:
            raise ShapeError(
                f"{caller}: the wrench on body {body!r} has shape {row.shape}, expected (..., {size}): "
                "[moment; force] in world coordinates about the world's origin.",
                name=name,
                found=row.shape,
            )
    leading = {model.body_names[i]: row.shape[:-1] for i, row in rows.items()}
    try:
        batch = np.broadcast_shapes(*leading.values())
    except ValueError:
        raise ShapeError(
            f"{caller}: the leading (batch) axes of the wrenches in {name} do not broadcast together ({leading}). Give "
            "every wrench the same batch, or none.",
            leading=leading,
        ) from None
    dtype = np.result_type(np.float32, *(row.dtype for row in rows.values()))
    full = np.zeros((*batch, model.nb, size), dtype)
    for i, row in rows.items():
        full[..., i, :] = row
    return full


def explain(spec, model, arrays: Mapping[str, np.ndarray], batch: tuple[int, ...]) -> KinetreeError | None:
    """The error for the first state that is not finite or leaves a domain of the algorithm; None if all is well."""
    for name, x in arrays.items():
        if not np.all(np.isfinite(x)):
            return _non_finite(spec, model, name, x)
    for domain in spec.domains:
        names = [name for name in domain.needs if name in arrays]
        shapes = {name: spec.shape(name, model) for name in names}
        wide = {name: np.broadcast_to(arrays[name], (*batch, *shape)) for name, shape in shapes.items()}
        inputs = {name: _entries(x) if shapes[name] else x for name, x in wide.items()}
        with np.errstate(all="ignore"):  # infinity and NaN are looked for, not warned of
            violations = domain.violations(model, inputs)
        for index, violated in enumerate(violations):
            violated = np.broadcast_to(np.asarray(violated, bool), batch)
            if np.any(violated):
                state = tuple(int(k) for k in np.argwhere(violated)[0])
                one = {name: x[state].tolist() for name, x in wide.items()}
                error = domain.explain(model, one, index)
                where = f" at batch index {state if len(state) > 1 else state[0]}" if state else ""
                error.args = (f"{spec.name}{where}: {error.message}",)
                error.message = error.args[0]
                return error
    return None


def _entries(x: np.ndarray) -> list[np.ndarray]:
    """The entries of a vector-shaped input, one array over the batch each."""
    return [x[..., k] for k in range(x.shape[-1])]


def _non_finite(spec, model, name, x) -> NonFiniteError:
    at = tuple(int(k) for k in np.argwhere(~np.isfinite(x))[0])
    shape = spec.shape(name, model)
    state, entry = at[: len(at) - len(shape)], at[len(at) - len(shape) :]
    where = f" at batch index {state if len(state) > 1 else state[0]}" if state else ""
    label = ""
    declared = (spec.inputs | spec.optional)[name]
    if declared in (("nq",), ("nv",)):
        slices = model.q_slice if declared == ("nq",) else model.v_slice
        i = next(i for i in model.outward() if slices[i].start <= entry[0] < slices[i].stop)
        label = f" (joint {model.joint_name(i)!r})"
    elif declared in (("nx",), ("nu",)):
        kind, names = ("state", model.state_names) if declared == ("nx",) else ("input", model.input_names)
        label = f" ({kind} {names[entry[0]]!r})"
    elif declared[:1] == ("nb",):
        label = f" (body {model.body_names[entry[0]]!r})"
    index = f"[{', '.join(map(str, entry))}]" if entry else ""
    return NonFiniteError(
        f"{spec.name}{where}: {name}{index} is {x[at]}{label}. Inputs must be finite; "
        "kt.compile(..., checks=False) gives a function that lets NaN through to the results.",
        name=name,
        index=at,
    )


def nested(x: np.ndarray, depth: int) -> list:
    """An array as algorithms read it: nested lists over its last ``depth`` axes.

    Their entries are floats without a batch, arrays over the batch with one.
    """
    if depth == 0:
        return float(x) if x.ndim == 0 and x.dtype == np.float64 else x[()]
    axis = x.ndim - depth
    return [nested(part, depth - 1) for part in np.moveaxis(x, axis, 0)]
