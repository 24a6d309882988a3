"""Several quantities of one state in one function: traced together, so that shared work is done once.

A fused function is a `Spec` made on the fly. Its function runs the algorithms one after the other on the same scalars;
while it is traced these are nodes of one graph, in which equal operations are one node. So it is compiled, cached,
batched, checked and interpreted like every algorithm.
"""

from __future__ import annotations

import functools
import hashlib
import operator
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from kinetree.algorithms.joint_sets import actuated_coordinates, forward_joints, independent_coordinates
from kinetree.algorithms.kinematics import AXES, KINDS, REFERENCES
from kinetree.algorithms.shared_results import SHARED_RESULTS
from kinetree.algorithms.spec import ALGORITHMS, Spec
from kinetree.arguments import a_model, choice
from kinetree.content import from_library
from kinetree.errors import DuplicateNameError, ShapeError, UnknownNameError, unknown_name
from kinetree.native.c_names import identifier, identifiers
from kinetree.once import once

CHOICES = {"reference": REFERENCES, "kind": KINDS, "axes": AXES}
CHOSEN = {"independent": independent_coordinates, "actuated": actuated_coordinates}
"""Static arguments with a default, which depends on the model: their canonical form, also of None."""
JOINTS = ("forward", *CHOSEN)
LONGEST = 96
"""Characters of a fused function's name; the rest of a longer list is counted, and a part of its hash stands for it."""


def canonical(model, name: str, value: object, where: str = "") -> object:
    """A static choice in canonical form: hashable, and the same for all ways to write it.

    Parameters
    ----------
    model : Model
    name : str
        The static argument.
    value : object
        A frame is identified by its name, joints (``forward``) by their numbers in ascending order.
    where : str
        The quantity that the choice belongs to, for errors.

    Raises
    ------
    UnknownNameError, DuplicateNameError, ArgumentError

    Examples
    --------
    >>> import kinetree as kt
    >>> canonical(kt.models.double_pendulum(), "forward", ["elbow"]), canonical(kt.models.pendulum(), "kind", "spatial")
    ((2,), 'spatial')
    """
    if name == "frame":
        return model.frame(value).name
    if name == "forward":
        return forward_joints(model, value)
    if name in CHOSEN:
        return CHOSEN[name](model, value)
    return choice(name, value, CHOICES[name], where) if name in CHOICES else value


@dataclass(frozen=True, slots=True)
class Quantity:
    """One entry of the list that is fused.

    Parameters
    ----------
    text : str
        As requested: "jacobian:hand".
    name : str
        The algorithm.
    static : tuple of (str, object)
        Its static choices, sorted by name.
    """

    text: str
    name: str
    static: tuple[tuple[str, object], ...]

    @property
    def spec(self) -> Spec:
        """The algorithm's declaration."""
        name, _, method = self.name.partition(":")
        return ALGORITHMS[name].by(method) if method else ALGORITHMS[name]

    def __str__(self) -> str:
        choices = dict(self.static)
        frame = [str(choices.pop("frame"))] if "frame" in choices else []
        shown = ", ".join([*frame, *(str(value) for value in choices.values())])
        return f"{self.name}({shown})" if shown else self.name


def resolved(model, name: str | Sequence, static: Mapping[str, object]) -> tuple[Spec, dict[str, object]]:
    """The declaration that a request names, and its static arguments.

    Parameters
    ----------
    model : Model
    name : str, or list of str
        One algorithm, perhaps with choices behind its name, or several quantities that become one function.
    static : mapping
        Static choices given as keywords.

    Raises
    ------
    UnknownNameError, DuplicateNameError, TypeError
    """
    a_model("the first argument", model)
    if not isinstance(name, str):
        return fused_spec(quantities(model, name, static)), {}
    spec, own = parsed(model, name)
    if twice := [entry for entry in own if entry in static]:
        raise TypeError(f"{name!r} and {twice[0]}={static[twice[0]]!r} both choose the {twice[0]}")
    static = {**own, **static}
    if spec.methods and "method" in static:
        spec = spec.by(static.pop("method"))
    for more, other in spec.variants.items():
        if static.pop(more, False):
            return other, static
    return spec, static


def quantities(model, names: Sequence[str], static: Mapping[str, object]) -> tuple[Quantity, ...]:
    """Read a list of quantities; static choices that an entry does not name are those given for all.

    Parameters
    ----------
    model : Model
    names : sequence of str
        Names of algorithms, or names with choices: "jacobian:hand", "jacobian:hand:world"; or their result.
    static : mapping
        Static choices of all quantities that take them.

    Raises
    ------
    UnknownNameError
        No algorithm, frame or choice has this name.
    DuplicateNameError
        A quantity is in the list twice.
    TypeError
        A choice is missing, or one is given that no quantity takes.
    """
    if isinstance(names, tuple) and names and all(isinstance(part, Quantity) for part in names):
        return names  # read before: of a function that is built anew
    if not isinstance(names, list | tuple) or not all(isinstance(text, str) for text in names):
        raise TypeError(f"the quantities to compile are a list of names, such as ['rnea', 'crba'], found {names!r}")
    if not names:
        raise TypeError("name: the list is empty, so there is no quantity to compile")
    found: dict[tuple, Quantity] = {}
    used = set()
    for text in names:
        spec, own = parsed(model, text)
        shared = {name: static[name] for name in spec.static if name in static and name not in own}
        used |= shared.keys()
        chosen = own | shared
        missing = [name for name in spec.static if name not in chosen and name not in CHOSEN]
        if missing:
            raise TypeError(_missing(spec, text, own, missing))
        chosen = {name: canonical(model, name, value, spec.name) for name, value in chosen.items()}
        quantity = Quantity(text, spec.name, tuple(sorted(chosen.items())))
        before = found.setdefault((quantity.name, quantity.static), quantity)
        if before is not quantity:
            other = "" if before.text == text else f" ({before.text!r} is the same)"
            raise DuplicateNameError(f"the quantity {text!r} is in the list twice{other}", name=text)
    for name in static:
        if name not in used:
            takers = [q.text for q in found.values() if name in q.spec.static]
            raise TypeError(
                f"{name}={static[name]!r} is given for all quantities, but "
                + (f"{', '.join(takers)} have their own" if takers else f"none of {', '.join(names)} takes it")
            )
    return tuple(found.values())


def parsed(model, text: str) -> tuple[Spec, dict[str, str]]:
    """The algorithm that a text names, and the static choices behind its name.

    Parameters
    ----------
    model : Model
    text : str
        "rnea", "pose:hand", "jacobian:hand:world", "body_velocities:local", "hybrid_dynamics:hip+knee".
    """
    name, colon, rest = text.partition(":")
    spec = ALGORITHMS.get(name)
    if spec is None:
        raise unknown_name("algorithm", name, sorted(ALGORITHMS), "kinetree")
    own: dict[str, str] = {}
    head, _, last = rest.rpartition(":")
    if last in spec.methods:
        spec, rest, colon = spec.by(last), head, ":" if head else ""
    while colon:
        # A frame's name may hold colons, or be "world": choices are taken from the end, until a frame is left.
        if "frame" in spec.static and _is_frame(model, rest):
            own["frame"] = rest
            break
        if joints := next((c for c in JOINTS if c in spec.static and "frame" not in spec.static), None):
            own[joints] = rest
            canonical(model, joints, rest)
            break
        head, colon, last = rest.rpartition(":")
        chosen = next((c for c in spec.static if c not in own and last in CHOICES.get(c, ())), None)
        if chosen is None:
            _refuse(model, spec, text, rest, head, last)
        own[chosen] = last
        rest = head
    return spec, own


def _is_frame(model, name: str) -> bool:
    return any(frame.name == name for frame in model.frames)


def _refuse(model, spec: Spec, text: str, rest: str, head: str, last: str):
    """Raise the error about the choices behind a name."""
    named = [name for name in spec.static if name in CHOICES]
    if "frame" in spec.static and not (head and _is_frame(model, head) and named):
        model.frame(rest)  # raises: there is no such frame
    if not spec.static:
        raise UnknownNameError(f"{text!r}: {spec.name} takes no choices behind its name", kind="choice", name=rest)
    known = [value for name in named for value in CHOICES[name]]
    raise unknown_name("choice", last, known, f"{spec.name} (in {text!r}: {', '.join(spec.static)})")


def _missing(spec: Spec, text: str, own: Mapping[str, str], missing: Sequence[str]) -> str:
    """The message about static choices that are not given."""
    keywords = ", ".join(f"{name}=" + (f" (one of {', '.join(CHOICES[name])})" if name in CHOICES else "")
                         for name in missing)  # fmt: skip
    examples = {"frame": "FRAME", "forward": "JOINT+JOINT"}
    examples |= {name: values[-1] for name, values in CHOICES.items()} | own
    behind = ":".join([spec.name, *(examples[name] for name in spec.static if name in examples)])
    return f"{text!r} needs the keyword argument {keywords}; or write {behind!r}"


# The declaration ------------------------------------------------------------------------------------------------------


def fused_spec(parts: tuple[Quantity, ...]) -> Spec:
    """The Spec of several quantities; the same object for the same quantities, so that machine code is shared.

    Inputs are those of all algorithms by name, in the order in which they first appear; outputs are named by quantity
    ("crba"), those of algorithms with several by both ("rnea_derivatives_dtau_dq").
    """
    return _fused_spec(parts, tuple(part.spec for part in parts))


@once(most=256)
def _fused_spec(parts: tuple[Quantity, ...], specs: tuple[Spec, ...]) -> Spec:
    inputs = _united([spec.inputs for spec in specs])
    optional = {name: shape for name, shape in _united([spec.optional for spec in specs]).items() if name not in inputs}
    shape_of = inputs | optional  # an optional input whose name another quantity needs in another shape is left out
    fields = _fields(parts, {*inputs, *optional})
    labels = [
        field if len(spec.outputs) == 1 else f"{field}_{output}"
        for field, spec in zip(fields, specs, strict=True)
        for output in spec.outputs
    ]
    labels = identifiers(labels, {*inputs, *optional})
    shapes = [shape for spec in specs for shape in spec.outputs.values()]
    hosts = _hosts(parts)

    def fused(model, **arrays):
        found = {}
        for part, spec in zip(parts, specs, strict=True):
            if part not in hosts:
                own = (spec.inputs | spec.optional).items()
                given = {name: arrays[name] for name, shape in own if name in arrays and shape_of[name] == shape}
                found[part] = spec.function(model, **given, **dict(part.static))
        for part, host in hosts.items():
            found[part] = SHARED_RESULTS[part.name].value(model, arrays, found[host])
        results = []
        for part, spec in zip(parts, specs, strict=True):
            results += [found[part]] if len(spec.outputs) == 1 else found[part]
        return results if len(results) > 1 else results[0]

    fused.__doc__ = "Several quantities of one state."
    symbols = {name: spec.meaning(name) for spec in reversed(specs) for name in (*spec.inputs, *spec.optional)}
    outputs = [spec.meaning(name) for spec in specs for name in spec.outputs]
    return Spec(
        name=_name(parts),
        function=fused,
        inputs=MappingProxyType(inputs),
        optional=MappingProxyType(optional),
        outputs=MappingProxyType(dict(zip(labels, shapes, strict=True))),
        domains=tuple(dict.fromkeys(domain for spec in specs for domain in spec.domains)),
        body_frames=_frames([spec.body_frames for spec in specs]),
        parts=parts,
        symbols=symbols | dict(zip(labels, outputs, strict=True)),
    )


def _fields(parts: Sequence[Quantity], inputs: set[str]) -> list[str]:
    """The names of the quantities in results: the requests, as identifiers that are not those of inputs."""
    return identifiers([part.text for part in parts], inputs)


def _hosts(parts: Sequence[Quantity]) -> dict[Quantity, Quantity]:
    """The quantities that are intermediate results of another one of the list, and which one."""
    own = {part.name: part for part in parts if from_library(part.spec.function)}
    return {
        own[name]: own[shared.host] for name, shared in SHARED_RESULTS.items() if name in own and shared.host in own
    }


def _united(tables: Sequence[Mapping]) -> dict:
    """Names and shapes of all tables; one name has one shape."""
    found: dict = {}
    for table in tables:
        for name, shape in table.items():
            if found.setdefault(name, shape) != shape:
                raise ShapeError(
                    f"{name} is {found[name]} for one of the quantities and {shape} for another: they cannot be fused.",
                    name=name,
                )
    return found


def _frames(choices: Sequence[bool | str | None]) -> bool | str | None:
    """The body frames for all: the user's own if one needs them, or if all that have bodies are cheaper there."""
    if True in choices:
        return True
    choices = [choice for choice in choices if choice not in (None, "laws")]
    return "cheaper" if choices and all(choices) else False


def _name(parts: Sequence[Quantity]) -> str:
    """The quantities joined, different for different ones."""
    texts = [str(part) for part in parts]
    name = "+".join(texts)
    if len(name) <= LONGEST:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:12]
    kept = 1
    while kept < len(texts) and len("+".join(texts[: kept + 1])) < LONGEST - 24:
        kept += 1
    return f"{'+'.join(texts[:kept])}+{len(texts) - kept} more ({digest})"


# Results --------------------------------------------------------------------------------------------------------------


def packing(spec: Spec) -> tuple[Callable, type | None]:
    """The function that makes the result of a call from its arrays, given in order; the class of one flat named tuple.

    One array is the result itself, several are a named tuple. A fused function has a named tuple by quantity, in which
    each has its array or, with several outputs, the named tuple that a call of it gives.
    """
    if not spec.parts:
        if len(spec.outputs) == 1:
            return operator.itemgetter(0), None
        flat = result_type(spec.name, tuple(spec.outputs))
        return _tuple(flat), flat
    # Made for the arrangement: it runs with every call.
    flat = result_type("fused", tuple(_fields(spec.parts, {*spec.inputs, *spec.optional})))
    scope = {"whole": _tuple(flat)}
    fields, count = [], 0
    for part in spec.parts:
        outputs = part.spec.outputs
        arrays = [f"x{n}" for n in range(count, count + len(outputs))]
        count += len(arrays)
        if len(arrays) == 1:
            fields += arrays
        else:
            scope[f"part{len(fields)}"] = _tuple(result_type(part.name, tuple(outputs)))
            fields.append(f"part{len(fields)}(({', '.join(arrays)}))")
    if len(fields) == count:  # no quantity has several
        return scope["whole"], flat if count > 1 else None
    arrays = "".join(f"x{n}, " for n in range(count))
    exec(f"def make(arrays):\n    {arrays}= arrays\n    return whole(({', '.join(fields)},))", scope)
    return scope["make"], None


def _tuple(kind: type) -> Callable:
    return functools.partial(tuple.__new__, kind)


@once
def result_type(name: str, fields: tuple[str, ...]) -> type:
    """The named tuple of several results; one class for all models, so that results can be pickled."""
    kind = namedtuple(f"{identifier(name)}_result", fields)
    kind.__reduce__ = lambda self: (_result_of, (name, fields, *self))
    return kind


def _result_of(name: str, fields: tuple[str, ...], *values):
    return result_type(name, fields)(*values)


def flattened(results) -> tuple:
    """The arrays of a result in order: of one array, of a tuple, or of a tuple with tuples in it."""
    if not isinstance(results, tuple):
        return (results,)
    return tuple(x for part in results for x in (part if isinstance(part, tuple) else (part,)))
