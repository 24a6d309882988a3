"""Function: one algorithm compiled for one model, called with arrays."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Mapping, Sequence
from operator import methodcaller
from types import MappingProxyType

import numpy as np

from kinetree.algorithms.spec import Spec
from kinetree.arguments import a_model, a_truth_value, checked, some_names
from kinetree.compiler.array_calls import ArrayCalls
from kinetree.compiler.fused import CHOICES, CHOSEN, canonical, flattened, packing, resolved
from kinetree.compiler.parameters import fitting, given_numbers, params_as_input, params_of
from kinetree.compiler.time_argument import missing_inputs, timed
from kinetree.compiler.tracing import numbers_model
from kinetree.errors import UnsupportedError, unknown_name
from kinetree.html_text import of_function
from kinetree.native.arrays import WEAK
from kinetree.native.threads import checked_threads
from kinetree.once import alone, lock, made_once

# Machine code of this process by structure, the latest last: models that differ in numbers only share it.
_RECENT: dict[tuple, object] = {}
_KEPT = 128


def _recent(key: tuple):
    with lock("recent kernels"):
        return _RECENT.get(key)


def _keep(key: tuple, kernel):
    with lock("recent kernels"):
        _RECENT.pop(key, None)  # the place of the latest is the end
        _RECENT[key] = kernel
        while len(_RECENT) > _KEPT:
            del _RECENT[next(iter(_RECENT))]
    return kernel


class Function(ArrayCalls):
    """An algorithm compiled for a model: ``f(q, v, tau)``.

    Made by :func:`kinetree.compile`. A call with float64 arrays of one state runs in a fraction of a microsecond;
    leading axes are batches and run in SIMD variant; float32 arrays give float32 results. Functions may be shared
    between threads.

    Attributes
    ----------
    name : str
        The algorithm.
    model : Model
        The model it was compiled for.
    input_names, output_names : tuple of str
        In the order of arguments and results.
    single : callable
        The bare entry for one state of float64 arrays, without keywords: ``single(*inputs)`` or ``single(*inputs,
        *outputs)``; it returns ``NotImplemented`` for arguments of other kinds, with which the Function itself is to be
        called, and before the first call of the Function with one state.
    """

    __slots__ = ("__dict__", "__weakref__", "single")  # a slot is read faster than an entry, at every plain call

    def __init__(
        self,
        spec: Spec,
        model,
        present: tuple[str, ...],
        static: Mapping[str, object],
        checks: bool,
        threads: int | None = None,
    ):
        spec = timed(spec, model)
        self.name = spec.name
        self.model = model
        self.structure_model = model  # whose structure the code has; the numbers are the model's
        self.spec = spec
        static = {n: None for n in spec.static if n in CHOSEN} | dict(static)
        chosen = {n: canonical(model, n, x) for n, x in static.items()}
        self.static = {n: x for n, x in chosen.items() if x is not None}
        self.checks = checks
        self.threads = checked_threads(threads)
        self.input_names = (*spec.inputs, *(name for name in spec.optional if name in present))
        self.output_names = tuple(spec.outputs)
        self.seconds = {}  # of building: trace (or read), compile (or load) the scalar variant and that for batches
        self._present = self.input_names[len(spec.inputs) :]
        self._shapes = tuple(spec.shape(name, model) for name in self.input_names)
        self._out_shapes = tuple(spec.shape(name, model) for name in self.output_names)
        self._pack, self._result = packing(spec)
        self._kernels, self._singles, self._batches = {}, {}, {}  # by dtype
        self._numbers = None  # other numbers than the model's
        self._programs = {}  # that of this function, where only others run it
        self._own = {}  # the function in the user's own frames
        self._made_of = None  # the function whose code this one runs with other numbers or in other frames
        self.statewise = {}  # kernels that take the params of every state, by dtype
        self.single = self._refuse

    # Calling -------------------------------------------------------------------------------------------------------

    def __call__(self, *args, out=None, **named):
        if named or len(args) != len(self.input_names):
            args = self._bound(args, named)
        if out is None:
            result = self.single(*args)
            if result is not NotImplemented:
                return result
            buffers = ()
        else:
            buffers = out if type(out) is tuple else flattened(out)
            result = self.single(*args, *buffers)
            if result is not NotImplemented:
                return result
        dtype = next((x.dtype for x in args if type(x) is np.ndarray), None)
        for entries in (self._batches, self._singles):
            entry = entries.get(dtype)
            if entry is not None and entry is not self.single:
                result = entry(*args, *buffers)
                if result is not NotImplemented:
                    return result
        return self._general(args, out)

    def _bound(self, args, named) -> tuple:
        """The arrays in the order of the inputs."""
        names = self.input_names
        if len(args) > len(names):
            raise TypeError(f"{self.name} takes {len(names)} arrays ({', '.join(names)}), {len(args)} were given")
        try:
            rest = [named[name] for name in names[len(args) :]]
            if len(rest) == len(named):
                return (*args, *rest)
        except KeyError:
            pass
        for name in named:
            if name in names[: len(args)]:
                raise TypeError(f"{self.name}: {name} is given twice, by its place and by its name")
            if name not in names:
                raise TypeError(f"{self.name}: unexpected argument {name!r}; arrays: {', '.join(names)}")
        missing = [name for name in names[len(args) :] if name not in named]
        raise TypeError(missing_inputs(self.name, self.model, missing))

    # Building ------------------------------------------------------------------------------------------------------

    def _refuse(self, *args):
        """Stands for the entry for one state until one is needed: batches alone need no scalar variant."""
        return NotImplemented

    def _compiled(self, dtype: np.dtype, batch: tuple[int, ...]):
        """The entry for one state or that for batches; from its first use on calls with plain arrays find it."""
        entries = self._batches if batch else self._singles
        entry = entries.get(dtype)
        if entry is None:
            kernel = self._kernel(dtype)
            plain = kernel.batch_entry if batch else kernel.scalar_entry
            entry = entries[dtype] = self._packing(plain, as_numbers=not batch and () in self._out_shapes)
            if not batch and dtype == np.float64:
                self.single = entry
                alone(("direct", id(self)), self._make_direct)
        return entry

    def _make_direct(self) -> None:
        """Route calls to the entry for one state without Python in between."""
        if type(self).__call__ is Function.__call__:
            from kinetree.native.vectorcall import make_direct

            make_direct(self)

    @property
    def _doing(self) -> str:
        """The text of a progress line."""
        return f"compiling {self.name} for model {self.model.name!r}"

    def _packing(self, entry, as_numbers: bool):
        """An entry whose results are packed as a call packs them; the entry itself where it does that."""
        make, count, alone = self._pack, len(self.input_names), len(self._out_shapes) == 1
        if (self._result is not None or (alone and not self.spec.parts)) and not as_numbers:
            return entry

        def packed(*args):
            result = entry(*args)
            if result is NotImplemented:
                return result
            if alone:
                result = (result,)
            if as_numbers and len(args) == count:  # unless it was asked to fill arrays
                result = [x if x.ndim else x[()] for x in result]
            return make(result)

        return packed

    def _kernel(self, dtype: np.dtype):
        kernel = self._kernels.get(dtype)
        return made_once(self._kernels, dtype, self._built, dtype.name) if kernel is None else kernel

    def _built(self, dtype: str):
        """The kernel: of a model of the same structure if there was one in this process, else loaded or compiled."""
        from kinetree.compiler.program_cache import joint_classes, signature_of
        from kinetree.native.kernel import Kernel
        from kinetree.trace.progress import shown

        basis = numbers_model(self.spec, self.structure_model)
        numbers = basis.number_values() if self._numbers is None else self._numbers
        signature = signature_of(self.spec, self.structure_model, self._present, self.static)
        # Joints of the same repr may be of different classes, when a user defines a class anew.
        key = (self.spec.identity, dtype, self.checks, joint_classes(basis), signature)

        def new():
            found = _recent(key)
            if found is not None:  # another thread has made one meanwhile
                return found.with_numbers(numbers)
            start = time.perf_counter()
            with shown(self._doing):
                program = self._program(signature)
            self.seconds[f"trace {dtype}"] = time.perf_counter() - start
            kind = self._result or tuple
            made = Kernel(program, dtype, self.checks, numbers, what=self._doing, seconds=self.seconds, result=kind)
            return _keep(key, made)

        like = _recent(key)
        return alone(("kernel", key), new) if like is None else _keep(key, like.with_numbers(numbers))

    def _program(self, signature):
        from kinetree.compiler.program_cache import cached_program

        return cached_program(self.spec, self.structure_model, self._present, self.static, signature)

    # Other numbers -------------------------------------------------------------------------------------------------

    def with_parameters(self, parameters) -> Function:
        """The same machine code for other numbers of the model: payloads, calibration, identification, randomization.

        Parameters
        ----------
        parameters : Model, mapping, or (..., n) array [SI]
            A model of the same structure; or numbers by name, for example ``{"hand.mass": 1.2, "gravity.z": -1.62}``,
            the others as they are; or all of them in the order of ``model.numbers().names``. With leading axes each
            state of a batch has numbers of its own: those axes broadcast against the batch.

        Returns
        -------
        Function
            Nothing is compiled, except once for the first sets with leading axes, and once for offsets of joints
            ("elbow.r.x") that break a zero of the frames in which the code computes.

        Raises
        ------
        ModelError
            A number is structure in the compiled code: it is zero or infinite there and another here, or the reverse;
            or the models differ in more than numbers.
        InertiaError
            One set of numbers has an inertia that no body can have. Sets with leading axes are not verified.
        NonFiniteError, ShapeError, UnknownNameError

        Notes
        -----
        The names are those of ``model.numbers()``: "hand.mass", first moments "hand.h.x" and moments of inertia
        "hand.I.xx" about the body's origin, offsets "elbow.r.x", "gravity.z", "elbow.armature".

        Examples
        --------
        >>> import kinetree as kt, numpy as np
        >>> f = kt.compile(kt.models.pendulum(), "rnea")
        >>> still = np.zeros(1)
        >>> moon = f.with_parameters({"gravity.z": -1.62})
        >>> round(float(f(np.ones(1), still, still)[0] / moon(np.ones(1), still, still)[0]), 3)
        6.056
        >>> many = f.with_parameters({"gravity.z": np.linspace(-1.0, -9.0, 5)})
        >>> many(np.ones(1), still, still).shape
        (5, 1)
        """
        model, values = given_numbers(self, parameters)
        f, turned = fitting(self, values)
        return StatewiseFunction(f, values, turned) if model is None else f.copy_for(model, turned)

    def copy_for(self, model, numbers: np.ndarray) -> Function:
        """This function for another model: ``numbers`` are those of the model that the code was traced for."""
        other = Function(self.spec, model, self._present, self.static, self.checks, self.threads)
        other.structure_model, other._numbers, other.statewise = self.structure_model, numbers, self.statewise
        other._made_of = self if self.structure_model is self.model else self._made_of
        other._kernels = {dtype: kernel.with_numbers(numbers) for dtype, kernel in tuple(self._kernels.items())}
        return other

    def in_own_frames(self) -> Function:
        """This function compiled for the user's own frames, in which all numbers that are not zero may vary."""
        return made_once(self._own, "frames", self._in_own_frames)

    def _in_own_frames(self) -> Function:
        spec = dataclasses.replace(self.spec, body_frames=True)
        other = Function(spec, self.structure_model, self._present, self.static, self.checks, self.threads)
        other._made_of = self
        return other

    def declared(self, more: Mapping = MappingProxyType({}), **changes) -> Spec:
        """The declaration of another function of the arrays that this one takes, and of ``more``."""
        present = {name: self.spec.optional[name] for name in self._present}
        inputs = MappingProxyType({**self.spec.inputs, **present, **more})
        return dataclasses.replace(self.spec, inputs=inputs, optional=MappingProxyType({}), **changes)

    @property
    def program(self):
        """The straight-line program that is compiled."""
        for kernel in self._kernels.values():
            return kernel.program
        return made_once(self._programs, "program", self._found_program)

    def _found_program(self):
        from kinetree.compiler.program_cache import signature_of

        return self._program(signature_of(self.spec, self.structure_model, self._present, self.static))

    @property
    def operations(self):
        """Operation counts of one evaluation: multiplications, additions, divisions and so on."""
        return self.program.operations

    def __reduce__(self):
        """Copies and other processes build the function anew, from the caches: machine code holds addresses."""
        if self._made_of is None:
            name = self.spec.parts or self.name
            options = {"optional": self._present, "checks": self.checks, "threads": self.threads}
            return functools.partial(compile, **options, **self.static), (self.model, name)
        if self.structure_model is self.model:
            return methodcaller("in_own_frames"), (self._made_of,)
        return methodcaller("with_parameters", self.model), (self._made_of,)

    _repr_html_ = of_function

    def __repr__(self) -> str:
        arguments = ", ".join(f"{n} {s}" for n, s in zip(self.input_names, self._shapes, strict=True))
        results = ", ".join(f"{n} {s}" for n, s in zip(self.output_names, self._out_shapes, strict=True))
        return f"<Function {self.name}({arguments}) -> {results} for model {self.model.name!r}>"


class StatewiseFunction(Function):
    """A Function whose numbers differ from state to state.

    Parameters
    ----------
    base : Function
    values : (..., n) array
        The model's numbers, in the order of ``model.numbers().names``.
    turned : (..., n) array
        Those of the model that the code was traced for.
    """

    def __init__(self, base: Function, values: np.ndarray, turned: np.ndarray) -> None:
        self.base = base
        self.values = values
        program = base.program
        spec = base.declared({"parameters": (str(program.params),)}, function=self._interpreted)
        super().__init__(spec, base.model, (), base.static, base.checks, base.threads)
        params = params_of(program, turned)
        self.params = {np.dtype(t): np.ascontiguousarray(params, t) for t in (np.float64, np.float32)}

    def __call__(self, *args, out=None, **named):
        given = Function._bound(self.base, args, named)
        strong = [x for x in given if type(x) not in WEAK]
        single = bool(strong) and all(getattr(x, "dtype", None) == np.float32 for x in strong)
        params = self.params[np.dtype(np.float32 if single else np.float64)]
        return Function.__call__(self, *given, params, out=out)

    def _interpreted(self, model, parameters, **named):
        raise UnsupportedError(f"{self.name}: extended precision takes one set of numbers, not one for every state.")

    def _built(self, dtype: str):
        from kinetree.native.kernel import Kernel

        def make():
            program, kind = self._program(None), self._result or tuple
            return Kernel(program, dtype, self.checks, what=self._doing, seconds=self.seconds, result=kind)

        return made_once(self.base.statewise, dtype, make)

    def _program(self, signature):
        return params_as_input(self.base.program)

    def with_parameters(self, parameters) -> Function:
        return self.base.with_parameters(parameters)

    def __reduce__(self):
        return methodcaller("with_parameters", self.values), (self.base,)


@checked(model=a_model, optional=some_names, checks=a_truth_value)
def compile(
    model,
    name: str | Sequence[str],
    *,
    optional: str | Sequence[str] = (),
    checks: bool = True,
    threads: int | None = None,
    **static,
) -> Function:
    """Compile an algorithm for a model, or several as one function that shares their common work.

    Parameters
    ----------
    model : Model
    name : str or list of str
        Name of an algorithm: "rnea", "crba", "aba", "forward_dynamics", "jacobian" and so on, with static arguments
        behind it if need be: "jacobian:hand", "jacobian:hand:world". A list makes one function of all: its inputs are
        those of the algorithms by name, in the order in which they first appear, its result a named tuple by quantity.
    optional : str or sequence of str
        Optional inputs that the function shall take, for example ("f_ext",).
    checks : bool
        Whether the function refuses inputs that are not finite or outside the algorithm's domain. Without checks NaN
        goes through to every result that depends on it, and quaternions are not verified.
    threads : int, optional
        The most threads that share a batch of more than about a millisecond of work; default all cores, or the value
        of the environment variable KINETREE_NUM_THREADS. Results are the same bits for any number.
    **static
        Static arguments of the algorithm, such as ``frame="hand", reference="world"``; of a list, those of all
        quantities that take them and do not name their own.

    Returns
    -------
    Function
        Compiled at its first call; ``f(*arrays, out=None)``, inputs in order or by name. Leading axes broadcast.
        ``out`` takes the array of the result, or a tuple of them in the order of ``f.output_names``, which are filled
        and returned; they may overlap inputs, but not one another.

    Raises
    ------
    UnknownNameError
        No algorithm or frame has this name.
    DuplicateNameError
        A quantity is in the list twice.

    Notes
    -----
    In the result of a list, a quantity is the result of its own function: an array, or a named tuple of several. Its
    field is its text as an identifier: ``jacobian_hand`` for "jacobian:hand".

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> model = kt.models.double_pendulum()
    >>> f = kt.compile(model, "aba")
    >>> f(np.zeros(2), np.zeros(2), np.zeros(2)).shape
    (2,)
    >>> both = kt.compile(model, ["crba", "jacobian:lower"], reference="world")
    >>> result = both(np.zeros(2))
    >>> result.crba.shape, result.jacobian_lower.shape
    ((2, 2), (6, 2))
    """
    spec, static = resolved(model, name, static)
    check_static(spec, model, static)
    optional = (optional,) if isinstance(optional, str) else tuple(optional)
    for entry in optional:
        if entry not in spec.optional:
            raise unknown_name("optional input", entry, spec.optional, f"algorithm {spec.name!r}")
    return Function(spec, model, tuple(n for n in spec.optional if n in optional), static, checks, threads)


def check_static(spec: Spec, model, static: Mapping[str, object]) -> None:
    """Refuse missing, unknown and impossible static arguments."""
    for name in spec.static:
        if name not in static and name not in CHOSEN:
            choices = f" one of {', '.join(CHOICES[name])}" if name in CHOICES else ""
            raise TypeError(f"{spec.name} needs the keyword argument {name}={choices}")
    for name, value in static.items():
        if name not in spec.static:
            raise TypeError(
                f"{spec.name} has no keyword argument {name!r}; it takes {', '.join(spec.static) or 'none'}"
            )
        canonical(model, name, value, spec.name)
