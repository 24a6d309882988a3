"""Rollouts as functions of JAX and PyTorch, whose gradients are those of the adjoint steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinetree.arguments import a_method, a_model, checked, number
from kinetree.errors import ShapeError, UnsupportedError
from kinetree.export.wrapper import imported
from kinetree.integrators.closure import a_closure
from kinetree.simulation.options import A_TIME
from kinetree.simulation.reverse_pass import ReversePass
from kinetree.simulation.rollout_gradient import DifferentiableRollout


class _Bridge:
    """A rollout and its pullback on NumPy arrays: q0, v0, tau and, with inputs of force elements, control."""

    def __init__(self, model, integrator, closure, checks, threads) -> None:
        self.names = ("q0", "v0", "tau", *(("control",) if model.nu else ()))
        options = {"integrator": integrator, "closure": closure, "checks": checks, "threads": threads}
        self.differentiable = DifferentiableRollout(model, wrt=self.names[2:], **options)
        if self.model.nx:
            raise UnsupportedError(
                f"rollout of model {model.name!r}: functions of tensors do not take internal states of force elements. "
                "kinetree.rollout_gradient has their gradients.",
            )

    @property
    def model(self):
        return self.differentiable.rollout._base

    def arrays(self, tensors: tuple, named: dict) -> list:
        """The arrays in the order of `names`."""
        given = dict(zip(self.names, tensors, strict=False)) | named
        if len(given) != len(tensors) + len(named) or set(given) != set(self.names):
            raise TypeError(f"rollout: expected {', '.join(self.names)}, found {len(tensors)} arrays and {[*named]}")
        for name in self.names[2:]:
            if getattr(given[name], "ndim", 0) < 2:
                raise ShapeError(f"rollout: {name} needs an axis of time, (..., T, n), as a tensor.", name=name)
        return [given[name] for name in self.names]

    def values(self, dt: float, *arrays) -> list[np.ndarray]:
        """q and v of all instants."""
        q0, v0, tau, *control = arrays
        roller = self.differentiable.rollout
        found = roller(q0, v0, tau, dt, control=control[0] if control else None, dtype=np.float64)
        return [np.asarray(x) for x in found]

    def pulled_back(self, dt: float, arrays, cotangents) -> list[np.ndarray]:
        """Derivatives with respect to the arrays, in their shapes."""
        q0, v0, tau, *control = (np.asarray(x, dtype=float) for x in arrays)
        given = {"f_ext": None, "x0": None, "control": control[0] if control else None, "t0": None}
        call = ReversePass(self.differentiable, q0, v0, tau, dt, None, given)
        call.take_cotangents(*(np.asarray(x, dtype=float) for x in cotangents))
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
        tensors on the CPU with the shapes of `rollout`, tau and control with an axis of time.

    Raises
    ------
    MissingDependencyError
        PyTorch is not installed.
    UnsupportedError
        The model has internal states.

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
        return Rolled.apply(*bridge.arrays(tensors, named))

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
        the shapes of `rollout`, tau and control with an axis of time.

    Raises
    ------
    MissingDependencyError
        JAX is not installed.
    UnsupportedError
        The model has internal states.

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
        q0, v0, *inputs = arrays
        batch = jnp.broadcast_shapes(q0.shape[:-1], v0.shape[:-1], *(x.shape[:-2] for x in inputs))
        rows = max(x.shape[-2] for x in inputs) + 1
        shapes = [(*batch, rows, x.shape[-1]) for x in (q0, v0)]
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
