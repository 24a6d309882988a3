"""Functions for PyTorch: tensors in and out, with gradients from the compiled derivative.

The value is the compiled function's, the gradient that of its compiled vector-Jacobian product (reverse mode on the
graph, `kinetree.differentiate`), which costs about three evaluations. Tensors share their memory with the arrays that
are computed on; CPU tensors take the machine code, CUDA tensors the kernels of `kinetree.compile.cuda`.
"""

from __future__ import annotations

from collections.abc import Callable

from kinetree.algorithms.spec import ALGORITHMS
from kinetree.compile.fused import flattened
from kinetree.errors import MissingDependencyError, ShapeError, UnsupportedError


def torch(function) -> Callable:
    """A compiled function as a differentiable function of PyTorch tensors.

    Parameters
    ----------
    function : Function
        Made by `kinetree.compile`. Its checks hold as for arrays.

    Returns
    -------
    callable
        ``g(*tensors)`` with the inputs of the function: float64 or float32, all of one type and device, of shape
        ``(..., *shape)`` with leading axes that broadcast (on CUDA devices: that are equal or absent). One tensor, or a
        tuple of them, or the named tuple of several quantities. Gradients flow to every input that requires one.

    Raises
    ------
    MissingDependencyError
        PyTorch is not installed.
    ShapeError
        Tensors of different types or devices.

    Notes
    -----
    The gradient with respect to a position that holds quaternions is that of its four entries, as if they were free:
    the part along the sphere is the one with a meaning. Gradients are values: they cannot be differentiated again
    (`kinetree.differentiate` with mode "hvp" gives products with second derivatives).

    Examples
    --------
    >>> import kinetree as kt
    >>> from kinetree.compile.torch import torch as for_torch
    >>> aba = for_torch(kt.compile(kt.models.double_pendulum(), "aba"))                 # doctest: +SKIP
    >>> q = torch.zeros(1000, 2, dtype=torch.float64, requires_grad=True)               # doctest: +SKIP
    >>> aba(q, q, q).square().sum().backward()                                          # doctest: +SKIP
    """
    try:
        import torch
    except ImportError as error:
        raise MissingDependencyError(
            "functions for PyTorch need the package torch, which is not installed: pip install torch."
        ) from error
    runner = _Runner(torch, function)

    class KinetreeFunction(torch.autograd.Function):
        @staticmethod
        def forward(context, *tensors):
            context.save_for_backward(*tensors)
            return runner.value(tensors)

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(context, *cotangents):
            return runner.gradient(context.saved_tensors, cotangents, context.needs_input_grad)

    names = function.input_names

    def call(*tensors, **named):
        if named:
            tensors = (*tensors, *(named[name] for name in names[len(tensors) :]))
        if len(tensors) != len(names):
            raise TypeError(f"{function.name} takes the tensors {', '.join(names)}")
        runner.check(tensors)
        results = KinetreeFunction.apply(*tensors)
        return function._result(*results) if function.spec.parts else results

    call.__name__ = call.__qualname__ = function.name
    call.__doc__ = f"{function.name}({', '.join(names)}) for model {function.model.name!r}, in PyTorch."
    return call


class _Runner:
    """Evaluates a function and its vector-Jacobian products on tensors without copies."""

    def __init__(self, torch, function) -> None:
        self.torch, self.function = torch, function
        self._products: dict[tuple[str, ...], object] = {}
        self._on_device: dict[int, object] = {}

    def check(self, tensors) -> None:
        f = self.function
        for name, x in zip(f.input_names, tensors, strict=True):
            if not isinstance(x, self.torch.Tensor):
                raise ShapeError(f"{f.name}: {name} is a {type(x).__name__}, expected a PyTorch tensor.", name=name)
        if len({(x.dtype, x.device) for x in tensors}) > 1 or tensors[0].dtype not in (
            self.torch.float64,
            self.torch.float32,
        ):
            found = ", ".join(
                f"{name} {x.dtype} on {x.device}" for name, x in zip(f.input_names, tensors, strict=True)
            )
            raise ShapeError(f"{f.name}: tensors must all be float64 or all float32, on one device; found {found}.")

    def value(self, tensors):
        return self._run(self.function, tensors)

    def gradient(self, tensors, cotangents, needed):
        """The cotangents of the inputs, None for those that need none."""
        f = self.function
        wrt = tuple(name for name, need in zip(f.input_names, needed, strict=True) if need)
        product = self._products.get(wrt)
        if product is None:
            if f.name not in ALGORITHMS and not f.spec.parts:
                raise UnsupportedError(
                    f"{f.name} has no gradient in PyTorch: it is a derivative itself. For second derivatives use "
                    'kinetree.differentiate(..., mode="hvp").'
                )
            from kinetree.compile.derivative_functions import differentiate

            name, optional = f.spec.parts or f.name, f.input_names[len(f.spec.inputs) :]
            product = self._products[wrt] = differentiate(
                f.model, name, "vjp", wrt=wrt, optional=optional, tangent=False, checks=False, **f.static,
            )  # fmt: skip
        shapes = [f.spec.shape(name, f.model) for name in f.input_names]
        splits = [x.ndim - len(shape) for x, shape in zip(tensors, shapes, strict=True)]
        batch = self.torch.broadcast_shapes(*(x.shape[:split] for x, split in zip(tensors, splits, strict=True)))
        results = self._run(product, (*tensors, *cotangents))
        found = dict(zip(wrt, results if isinstance(results, tuple) else (results,), strict=True))
        gradients = []
        for name, x in zip(f.input_names, tensors, strict=True):
            gradient = found.get(name)
            if gradient is not None and gradient.shape != x.shape:  # one row for many states: theirs add up
                gradient = gradient.expand(*batch, *gradient.shape[len(batch) :]).sum_to_size(x.shape)
            gradients.append(gradient)
        return tuple(gradients)

    def _run(self, function, tensors):
        torch = self.torch
        tensors = [x.detach().contiguous() for x in tensors]
        if tensors[0].is_cuda:
            from kinetree.compile.cuda import cuda

            device = self._on_device.get(id(function))
            if device is None:
                device = self._on_device[id(function)] = cuda(function)
            import cupy

            with cupy.cuda.ExternalStream(torch.cuda.current_stream(tensors[0].device).cuda_stream):
                results = device(*tensors)
            to_tensor = torch.from_dlpack
        else:
            results = function(*(x.numpy() for x in tensors))
            dtype = tensors[0].dtype

            def to_tensor(x):  # single numbers are no arrays
                return torch.as_tensor(x, dtype=dtype)

        if isinstance(results, tuple):
            return tuple(to_tensor(x) for x in flattened(results))
        return to_tensor(results)
