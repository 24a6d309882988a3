"""The random states of all methods, and the calls of algorithms at them."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from kinetree.algorithms.spec import ALGORITHMS
from kinetree.compiler.function import compile
from kinetree.compiler.interpret import interpret
from kinetree.compiler.time_argument import timed
from kinetree.model.loop_joints import without_bare_limits
from kinetree.model.seeds import generator
from kinetree.native.arrays import as_arrays
from kinetree.verification.plain import PRECISE, Plain, solve_symmetric
from kinetree.verification.terms import Tolerances

SMALL = 3e8  # products in extended precision for M by plain matrices: seconds; beyond, it is left to float64


class States:
    """Random states of a model, and reference quantities at them.

    Parameters
    ----------
    model : Model
    n : int
    seed : int
    compiled : bool
        Whether ``call`` compiles; else algorithms are interpreted.
    modified : bool
        Whether the model differs from its file on purpose.

    Attributes
    ----------
    q, v, a, tau : (n, nq) or (n, nv) array
        Positions within limits, standard normal velocities and accelerations that obey couplings, forces that are
        about as large as those of the motion.
    f_ext : (n, nb, 6) array
    t : (n,) array or None
    internal : tuple of (n, nx) and (n, nu) array
        Internal states and inputs of force elements.
    """

    def __init__(self, model, n: int, seed: int, compiled: bool, modified: bool = False) -> None:
        model = without_bare_limits(model)
        self.model, self.n, self.seed, self.compiled, self.modified = model, n, seed, compiled, modified
        rng = generator("verify", seed)
        pairs = [model.random_state(rng) for _ in range(n)]
        self.q, self.v = (np.array([pair[k] for pair in pairs]).reshape(n, -1) for k in (0, 1))
        self.a, self.b = (self.coupled(rng.standard_normal((n, model.nv))) for _ in range(2))
        self.f_ext = rng.standard_normal((n, model.nb, 6))
        self.t = rng.uniform(0.0, 2.0, n) if model.time_dependent else None
        self._noise = rng.standard_normal((n, model.nv))
        x = model.initial_state() + 0.1 * rng.uniform(size=(n, model.nx))
        self.internal = x, rng.uniform(size=(n, model.nu))
        self._functions, self._kept = {}, {}

    def coupled(self, x):
        """Velocities or accelerations that obey the model's couplings and locks."""
        return self.model.constrained_velocities(x)

    def few(self, n: int) -> States:
        """The first n of the states."""
        if n >= self.n:
            return self
        names = "q", "v", "a", "b", "f_ext", "t", "_noise"
        arrays = {name: x[:n] for name in names if (x := getattr(self, name)) is not None}
        return self._with(n=n, internal=tuple(x[:n] for x in self.internal), **arrays)

    def at(self, q, v) -> States:
        """As many states with these positions and velocities, and all else the same."""
        return self._with(q=q, v=v)

    def _with(self, **changes) -> States:
        """The same but for some attributes; quantities of the states are computed anew."""
        part = object.__new__(States)
        kept = {k: x for k, x in vars(self).items() if not isinstance(getattr(States, k, None), cached_property)}
        part.__dict__.update(kept | {"_kept": {}} | changes)
        return part

    def once(self, key, compute):
        """A result that several checks use, computed by the first of them."""
        if key not in self._kept:
            self._kept[key] = compute()
        return self._kept[key]

    # Calls ---------------------------------------------------------------------------------------------------------

    def call(self, name: str, *arrays, form: str | None = None, t=None, model=None, **static):
        """An algorithm at the states: one array, or a tuple of several.

        Parameters
        ----------
        name : str
        *arrays : array
            Required inputs in order, then optional ones; None where one is not given. The time is added here.
        form : {"compiled", "interpreted", "precise"}, optional
            Default as the states were made; "precise" is interpreted in extended precision.
        t : array, optional
            Another time than the states' own.
        model : Model, optional
            Another model than the states' own, of the same coordinates; not compiled.
        """
        model = model or self.model
        spec = timed(ALGORITHMS[name], model)
        form = form or ("compiled" if self.compiled else "interpreted")
        names = [*ALGORITHMS[name].inputs, *spec.optional]
        given = {entry: x for entry, x in zip(names, arrays, strict=False) if x is not None}
        if "t" in spec.inputs and "t" not in given:
            given["t"] = self.t if t is None else t
        if form == "compiled":
            optional = tuple(entry for entry in spec.optional if entry in given)
            key = (name, optional, *(x if isinstance(x, str) else tuple(x) for x in static.values()))
            f = self._functions.get(key)
            if f is None:
                f = self._functions[key] = compile(self.model, name, optional=optional, **static)
            return f(*[given[entry] for entry in f.input_names])
        if form == "precise":
            given = {entry: np.asarray(x, PRECISE) for entry, x in given.items()}
        return interpreted(spec, model, given, static)

    def interpret(self, spec, **given):
        """A declaration that is no registered algorithm, such as a derivative, interpreted."""
        if "t" in spec.inputs:
            given["t"] = self.t
        return interpreted(spec, self.model, given, {})

    # Reference quantities ------------------------------------------------------------------------------------------

    @cached_property
    def plain(self) -> Plain:
        """The plain-matrix implementation, as precise as the machine and the model's size allow."""
        model = self.model
        large = self.n * model.nb * 6.0 * model.nv**2 > SMALL
        return Plain(model, self.q, self.v, self.t, np.float64 if large else PRECISE)

    @cached_property
    def M(self):
        return self.plain.mass_matrix()

    @cached_property
    def M_inverse(self):
        eye = np.broadcast_to(np.eye(self.model.nv), self.M.shape)
        return solve_symmetric(self.M, eye)

    @cached_property
    def bias(self):
        """Joint forces at zero acceleration, with the wrenches."""
        return self.plain.joint_forces(np.zeros_like(self.a), self.f_ext)

    @cached_property
    def forces(self):
        """Joint forces for the accelerations ``a``, with the wrenches."""
        return self.plain.joint_forces(self.a, self.f_ext)

    @cached_property
    def tau(self):
        """Forces whose accelerations are about those of the states: a noise through M would be far larger."""
        size = 0.1 * np.maximum(np.abs(self.forces).astype(float), 1e-3 * np.abs(self.tolerances.near.tau))
        return self.forces.astype(float) + size * self._noise

    @cached_property
    def acceleration(self):
        """Accelerations for the forces ``tau``, with the wrenches."""
        return solve_symmetric(self.M, (self.tau - self.bias)[..., None])[..., 0]

    @cached_property
    def tolerances(self) -> Tolerances:
        return Tolerances(self.model, self.plain, self.a, self.f_ext, self.M_inverse)

    @cached_property
    def condition(self):
        """Condition of M after its diagonal was scaled to 1, (n,): a bound of the loss of accuracy in solving."""
        with np.errstate(all="ignore"):
            scale = 1.0 / np.sqrt(np.diagonal(self.M, axis1=1, axis2=2).astype(float))
            scaled = self.M.astype(float) * scale[:, :, None] * scale[:, None, :]
        found = np.full(self.n, np.inf)
        usable = np.isfinite(scaled).all(axis=(1, 2))  # of a model that is no mechanism, the rows show the error
        found[usable] = np.linalg.cond(scaled[usable])
        return found


def interpreted(spec, model, given, static):
    """An algorithm's source on arrays; several results as a tuple."""
    arrays, batch, dtype = as_arrays(spec, model, given)
    results = interpret(spec, model, arrays, batch, dtype, static)
    return results[0] if len(results) == 1 else tuple(results)
