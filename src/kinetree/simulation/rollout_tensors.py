"""Rollouts as functions of JAX and PyTorch, whose gradients are those of the adjoint steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinetree.arguments import a_method, a_model, checked, number
from kinetree.errors import ShapeError
from kinetree.export.wrapper import imported
from kinetree.integrators.closure import a_closure
from kinetree.simulation.options import A_TIME
from kinetree.simulation.reverse_pass import ReversePass
from kinetree.simulation.rollout_gradient import DifferentiableRollout


class _Bridge:
    """A rollout and its pullback on NumPy arrays: q0, v0, tau, and control and x0, if the model has inputs and states.

    ``over_time`` are the names of those with an axis of time, ``start`` of those of the start.
    """

    def __init__(self, model, integrator, closure, checks, threads) -> None:
        self.over_time = ("tau", *(("control",) if model.nu else ()))
        options = {"integrator": integrator, "closure": closure, "checks": checks, "threads": threads}
        self.differentiable = DifferentiableRollout(model, wrt=self.over_time, **options)
        self.start = ("q0", "v0", *(("x0",) if self.model.nx else ()))
        self.names = ("q0", "v0", *self.over_time, *self.start[2:])

    @property
    def _sizes(self) -> tuple[int, ...]:
        """The length of the last axis of each of `names`."""
        model = self.model
        sizes = {"q0": model.nq, "v0": model.nv, "tau": model.nv, "control": model.nu, "x0": model.nx}
        return tuple(sizes[name] for name in self.names)

    @property
    def model(self):
        return self.differentiable.rollout._base

    def arrays(self, tensors: tuple, named: dict) -> list:
        """The arrays in the order of `names`."""
        given = dict(zip(self.names, tensors, strict=False)) | named
        known, missing = set(self.names), set(self.names) - given.keys()
        if len(given) != len(tensors) + len(named) or not known.issuperset(given) or missing - {"x0"}:
            raise TypeError(f"rollout: expected {', '.join(self.names)}, found {len(tensors)} arrays and {[*named]}")
        if missing:
            given["x0"] = np.array(self.model.initial_state(), float)
        for name, size in zip(self.names, self._sizes, strict=True):
            shape = tuple(np.shape(given[name]))
            if name in self.over_time and len(shape) < 2:
                raise ShapeError(f"rollout: {name} needs an axis of time, (..., T, n), as a tensor.", name=name)
            if not shape or shape[-1] != size:
                wanted = "(..., T, {})" if name in self.over_time else "(..., {})"
                raise ShapeError(
                    f"rollout: {name} has shape {shape}, expected {wanted.format(size)} for model {self.model.name!r}.",
                    name=name,
                    found=shape,
                )
        return [given[name] for name in self.names]

    def values(self, dt: float, *arrays) -> list[np.ndarray]:
        """q and v of all instants, and the internal states, if the model has some."""
        found = self.differentiable.rollout(dt=dt, **self._named(arrays), dtype=np.float64)
        return [np.asarray(x) for x in found]

    def _named(self, arrays) -> dict:
        return {"control": None, "x0": None} | dict(zip(self.names, arrays, strict=True))

    def pulled_back(self, dt: float, arrays, cotangents) -> list[np.ndarray]:
        """Derivatives with respect to the arrays, in their shapes."""
        given = {"f_ext": None, "t0": None} | self._named([np.asarray(x, dtype=float) for x in arrays])
        q0, v0, tau = (given.pop(name) for name in ("q0", "v0", "tau"))
        call = ReversePass(self.differentiable, q0, v0, tau, dt, None, given)
        by_q, *others = (np.asarray(x, dtype=float) for x in cotangents)
        call.take_cotangents(by_q, np.concatenate(others, axis=-1))
        found = call.gradient(call.cotangents_at_end)
        return [_summed(found[name], np.shape(x)) for name, x in zip(self.names, arrays, strict=True)]


def _summed(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The sum over axes that the array was repeated along."""
    x = x.sum(axis=tuple(range(x.ndim - len(shape))))
    repeated = tuple(k for k, n in enumerate(shape) if n == 1 and x.shape[k] != 1)
    return x.sum(axis=repeated, keepdims=True)


@checked(model=a_model, integrator=a_method, closure=a_closure)
def rollout_to_torch(
    model, dt: float, *, integrator="auto", closure="projection", checks: bool = True, threads: int | None = None
) -> Callable:
    """Rollouts as a function of PyTorch tensors, for autograd.

    Parameters
    ----------
    model : Model
    dt : float
        Step [s].
    integrator : str or object
        A fixed-step method, as for `rollout`.
    closure : str, Baumgarte or mapping
        How steps keep loops closed, as for `simulate`.
    checks : bool
        Whether states or gradients that are not finite end the call with an error.
    threads : int, optional
        The most threads that share the states; default all cores.

    Returns
    -------
    callable
        ``roll(q0, v0, tau) -> (q, v)``, for models with inputs of force elements ``roll(q0, v0, tau, control)``:
        tensors on the CPU with the shapes of `rollout`, tau and control with an axis of time. Models with internal
        states take ``x0``, too, their start, as the last argument or by name, by default that of the model, and give
        ``(q, v, x)``.

    Raises
    ------
    MissingDependencyError
        PyTorch is not installed.

    Notes
    -----
    Gradients are computed in float64 by the adjoint of the steps, first derivatives only. That with respect to a
    quaternion is that of its four entries.

    Examples
    --------
    >>> import kinetree as kt
    >>> roll = kt.simulation.rollout_to_torch(kt.models.cart_pole(), 0.02)               # doctest: +SKIP
    >>> tau = torch.zeros(50, 2, dtype=torch.float64, requires_grad=True)                # doctest: +SKIP
    >>> q, v = roll(torch.zeros(2), torch.zeros(2), tau)                                 # doctest: +SKIP
    >>> (q[-1, 1] - 1.0).square().backward()                                             # doctest: +SKIP
    """
    torch = imported("torch", "rollouts of tensors need the package torch, which is not installed: pip install torch.")
    h = number("rollout_to_torch: dt", dt, A_TIME, above=0.0)
    bridge = _Bridge(model, integrator, closure, checks, threads)

    class Rolled(torch.autograd.Function):
        @staticmethod
        def forward(context, *tensors):
            context.save_for_backward(*tensors)
            found = bridge.values(h, *(x.detach().numpy() for x in tensors))
            return tuple(torch.from_numpy(x).to(tensors[0].dtype) for x in found)

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(context, *cotangents):
            arrays = [x.detach().numpy() for x in context.saved_tensors]
            found = bridge.pulled_back(h, arrays, [x.detach().numpy() for x in cotangents])
            return tuple(
                torch.from_numpy(np.ascontiguousarray(x)).to(y.dtype)
                for x, y in zip(found, context.saved_tensors, strict=True)
            )

    def roll(*tensors, **named):
        return Rolled.apply(*map(torch.as_tensor, bridge.arrays(tensors, named)))

    return roll


@checked(model=a_model, integrator=a_method, closure=a_closure)
def rollout_to_jax(
    model, dt: float, *, integrator="auto", closure="projection", checks: bool = False, threads: int | None = None
) -> Callable:
    """Rollouts as a function of JAX arrays, for jit, grad and vmap.

    Parameters
    ----------
    model : Model
    dt : float
        Step [s].
    integrator : str or object
        A fixed-step method, as for `rollout`.
    closure : str, Baumgarte or mapping
        How steps keep loops closed, as for `simulate`.
    checks : bool
        Whether states or gradients that are not finite end the call with an error; not by default, since errors in
        compiled code of JAX are hard to read.
    threads : int, optional
        The most threads that share the states; default all cores.

    Returns
    -------
    callable
        ``roll(q0, v0, tau) -> (q, v)``, for models with inputs of force elements ``roll(q0, v0, tau, control)``, with
        the shapes of `rollout`, tau and control with an axis of time. Models with internal states take ``x0``, too,
        their start, as the last argument or by name, by default that of the model, and give ``(q, v, x)``.

    Raises
    ------
    MissingDependencyError
        JAX is not installed.

    Notes
    -----
    The machine code runs on the CPU, called by ``jax.pure_callback``. Gradients are computed in float64 by the adjoint
    of the steps, in reverse mode, first derivatives only. That with respect to a quaternion is that of its four
    entries.

    Examples
    --------
    >>> import kinetree as kt
    >>> roll = kt.simulation.rollout_to_jax(kt.models.cart_pole(), 0.02)                 # doctest: +SKIP
    >>> miss = lambda tau: (roll(jnp.zeros(2), jnp.zeros(2), tau)[0][-1, 1] - 1.0) ** 2  # doctest: +SKIP
    >>> jax.grad(miss)(jnp.zeros((50, 2))).shape                                         # doctest: +SKIP
    (50, 2)
    """
    jax = imported("jax", "rollouts of JAX arrays need the package jax, which is not installed: pip install jax.")
    h = number("rollout_to_jax: dt", dt, A_TIME, above=0.0)
    bridge = _Bridge(model, integrator, closure, checks, threads)
    jnp = jax.numpy

    def called(function, shapes, arrays):
        """A function of NumPy arrays on those of JAX, whose results have these shapes and the arrays' precision."""
        kind = jnp.result_type(jnp.float32, *arrays)
        results = [jax.ShapeDtypeStruct(shape, kind) for shape in shapes]

        def host(*given):
            return [np.asarray(x, kind) for x in function(*(np.asarray(x, float) for x in given))]

        return jax.pure_callback(host, results, *arrays, vmap_method="broadcast_all")

    @jax.custom_vjp
    def rolled(*arrays):
        given = dict(zip(bridge.names, arrays, strict=True))
        start, inputs = ([given[name] for name in names] for names in (bridge.start, bridge.over_time))
        batch = jnp.broadcast_shapes(*(x.shape[:-1] for x in start), *(x.shape[:-2] for x in inputs))
        rows = max(x.shape[-2] for x in inputs) + 1
        shapes = [(*batch, rows, x.shape[-1]) for x in start]
        return tuple(called(lambda *given: bridge.values(h, *given), shapes, arrays))

    def backward(arrays, cotangents):
        shapes, count = [x.shape for x in arrays], len(arrays)
        return tuple(
            called(lambda *given: bridge.pulled_back(h, given[:count], given[count:]), shapes, (*arrays, *cotangents))
        )

    rolled.defvjp(lambda *arrays: (rolled(*arrays), arrays), backward)

    def roll(*arrays, **named):
        return rolled(*(jnp.asarray(x) for x in bridge.arrays(arrays, named)))

    return roll
