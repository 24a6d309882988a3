"""Functions for PyTorch: tensors in and out, with gradients from the compiled derivative.

The value is the compiled function's, the gradient that of its compiled vector-Jacobian product (reverse mode on the
graph, `kinetree.differentiate`), which costs about three evaluations; the gradient of the gradient is the compiled
Hessian product. Tensors share their memory with the arrays that are computed on; CPU tensors take the machine code,
CUDA tensors the kernels of `kinetree.export.cuda`.
"""

from __future__ import annotations

from kinetree.algorithms.spec import ALGORITHMS
from kinetree.arguments import a_compiled_function, checked
from kinetree.compiler.fused import flattened
from kinetree.errors import ShapeError, UnsupportedError
from kinetree.export.cuda import to_cuda
from kinetree.export.wrapper import Wrapper, imported
from kinetree.once import made_once, once


@checked(function=a_compiled_function)
def to_torch(function) -> TorchFunction:
    """A compiled function as a differentiable function of PyTorch tensors.

    Parameters
    ----------
    function : Function
        Made by `kinetree.compile`. Its checks hold as for arrays.

    Returns
    -------
    TorchFunction
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
    the part along the sphere is the one with a meaning. Gradients can be differentiated once more (``create_graph``,
    ``torch.func.hessian`` in reverse mode); third derivatives are refused. ``torch.func.grad``, ``vjp``, ``jacrev`` and
    ``vmap`` take the function; forward mode does not.

    Examples
    --------
    >>> import kinetree as kt
    >>> from kinetree.export.torch import to_torch
    >>> aba = to_torch(kt.compile(kt.models.double_pendulum(), "aba"))                 # doctest: +SKIP
    >>> q = torch.zeros(1000, 2, dtype=torch.float64, requires_grad=True)               # doctest: +SKIP
    >>> aba(q, q, q).square().sum().backward()                                          # doctest: +SKIP
    """
    return TorchFunction(function)


class TorchFunction(Wrapper):
    """A compiled function called with tensors; made by `torch`.

    Attributes
    ----------
    function : Function
        The compiled function.
    """

    package = "PyTorch"

    def __init__(self, function) -> None:
        torch = imported(
            "torch", "functions for PyTorch need the package torch, which is not installed: pip install torch."
        )
        super().__init__(function)
        self._runner = _Runner(torch, self)
        self._value = _nodes(self._runner)

    def __call__(self, *tensors, **named):
        tensors = self.bound(tensors, named)
        self._runner.check(tensors)
        results = self._value.apply(*tensors)
        return self.function._pack(results) if self.function.spec.parts else results

    def __reduce__(self):
        return to_torch, (self.function,)


def _nodes(runner: _Runner):
    """The function as a node of PyTorch's graph; its gradient is a node too, and the gradient of that."""
    Node = runner.torch.autograd.Function

    class Value(Node):
        @staticmethod
        def forward(*tensors):
            return runner.run(runner.function, tensors)

        @staticmethod
        def setup_context(context, inputs, output):
            context.save_for_backward(*inputs)

        @staticmethod
        def backward(context, *cotangents):
            needed = context.needs_input_grad
            wrt = tuple(name for name, need in zip(runner.names, needed, strict=True) if need)
            found = iter(Gradient.apply(wrt, *context.saved_tensors, *cotangents))
            return tuple(next(found) if need else None for need in needed)

        @staticmethod
        def vmap(info, in_dims, *tensors):
            results = Value.apply(*runner.in_front(info.batch_size, in_dims, tensors, runner.shapes))
            return results, (0,) * len(results) if isinstance(results, tuple) else 0

    class Gradient(Node):
        """Cotangents of the inputs ``wrt`` from those of the outputs."""

        @staticmethod
        def forward(wrt, *tensors):
            return runner.gradient(wrt, tensors)

        @staticmethod
        def setup_context(context, inputs, output):
            context.wrt = inputs[0]
            context.save_for_backward(*inputs[1:])

        @staticmethod
        def backward(context, *directions):
            found = Curvature.apply(context.wrt, *context.saved_tensors, *directions)
            found, changes = iter(found[: len(context.wrt)]), found[len(context.wrt) :]
            return None, *(next(found) if name in context.wrt else None for name in runner.names), *changes

        @staticmethod
        def vmap(info, in_dims, wrt, *tensors):
            shapes = [*runner.shapes, *runner.result_shapes]
            moved = runner.in_front(info.batch_size, in_dims[1:], tensors, shapes)
            kept = dict(zip(runner.names, runner.leading(in_dims[1:], tensors, runner.shapes), strict=True))
            size = info.batch_size
            results = [x.reshape(size, *kept[name], *x.shape[x.ndim - runner.ranks[name] :])
                       for name, x in zip(wrt, Gradient.apply(wrt, *moved), strict=True)]  # fmt: skip
            return tuple(results), (0,) * len(results)

    class Curvature(Node):
        """Hessian products, and products of the Jacobian: the rates of a gradient along directions of ``wrt``."""

        @staticmethod
        def forward(wrt, *tensors):
            return runner.curvature(wrt, tensors)

        @staticmethod
        def setup_context(context, inputs, output):
            pass

        @staticmethod
        def backward(context, *_):
            raise UnsupportedError(f"{runner.function.name}: third derivatives are not available in PyTorch.")

    return Value


class _Runner:
    """Evaluates a function and its derivatives on tensors without copies."""

    def __init__(self, torch, wrapper: TorchFunction) -> None:
        self.torch, self.wrapper, self.function = torch, wrapper, wrapper.function
        function, self.names = wrapper.function, wrapper.plain.input_names
        self.shapes = [function.spec.shape(name, function.model) for name in self.names]
        self.result_shapes = [function.spec.shape(name, function.model) for name in function.output_names]
        self.ranks = {name: len(shape) for name, shape in zip(self.names, self.shapes, strict=True)}
        self.derivative = once(self._derivative)
        self._on_device: dict[int, object] = {}

    def check(self, tensors) -> None:
        f = self.function
        for name, x in zip(self.names, tensors, strict=True):
            if not isinstance(x, self.torch.Tensor):
                raise ShapeError(f"{f.name}: {name} is a {type(x).__name__}, expected a PyTorch tensor.", name=name)
        if len({(x.dtype, x.device) for x in tensors}) > 1 or tensors[0].dtype not in (
            self.torch.float64,
            self.torch.float32,
        ):
            found = ", ".join(f"{name} {x.dtype} on {x.device}" for name, x in zip(self.names, tensors, strict=True))
            raise ShapeError(f"{f.name}: tensors must all be float64 or all float32, on one device; found {found}.")

    def gradient(self, wrt: tuple[str, ...], tensors):
        """Cotangents of the inputs ``wrt``; ``tensors`` are the inputs and the cotangents of the outputs."""
        found = self.run(self.derivative("vjp", wrt), tensors)
        return self._summed(wrt, tensors, found if isinstance(found, tuple) else (found,))

    def curvature(self, wrt: tuple[str, ...], tensors):
        """Rates along directions of ``wrt`` of the results of `gradient`, and of its cotangents' factors."""
        inputs, tensors = tensors[: len(self.names)], tensors[len(self.names) :]
        count = len(self.result_shapes)
        cotangents, directions = tensors[:count], tensors[count:]
        bent = self.run(self.derivative("hvp", wrt), (*inputs, *directions, *cotangents))
        along = self.run(self.derivative("jvp", wrt), (*inputs, *directions))
        bent, along = (x if isinstance(x, tuple) else (x,) for x in (bent, along))
        return *self._summed(wrt, inputs, bent), *along

    def _summed(self, wrt, tensors, found):
        """Where one row served many states, their shares add up."""
        shapes = {name: x.shape for name, x in zip(self.names, tensors, strict=False)}
        return tuple(x.sum_to_size(shapes[name]) for name, x in zip(wrt, found, strict=True))

    def _derivative(self, mode: str, wrt: tuple[str, ...]):
        f = self.wrapper.plain
        if f.name not in ALGORITHMS and not f.spec.parts:
            what = "it is a derivative itself" if hasattr(f, "_request") else "only whole algorithms have one"
            raise UnsupportedError(
                f"{f.name} has no gradient in PyTorch: {what}. For second derivatives use "
                'kinetree.differentiate(..., mode="hvp").'
            )
        return self.wrapper.derivative(mode, wrt)

    def leading(self, in_dims, tensors, shapes) -> list[tuple[int, ...]]:
        """The leading axes of each tensor beside the one that is mapped over."""
        dims = zip(in_dims, tensors, shapes, strict=False)
        return [tuple(x.shape[: x.ndim - len(s)]) if d is None else tuple(x.movedim(d, 0).shape[1 : x.ndim - len(s)])
                for d, x, s in dims]  # fmt: skip

    def in_front(self, size: int, in_dims, tensors, shapes):
        """Every tensor with the axis that is mapped over in front, its other leading axes aligned behind."""
        leading = self.leading(in_dims, tensors, shapes)
        most = max(map(len, leading))
        moved = []
        for d, x, s, axes in zip(in_dims, tensors, shapes, leading, strict=True):
            x = x.expand(size, *x.shape) if d is None else x.movedim(d, 0)
            moved.append(x.reshape(size, *(1,) * (most - len(axes)), *axes, *s))
        return moved

    def run(self, function, tensors):
        torch = self.torch
        tensors = [x.detach().contiguous() for x in tensors]
        if tensors[0].is_cuda:
            if self.wrapper.plain is not self.function:
                raise UnsupportedError(f"{function.name}: numbers that differ from state to state need CPU tensors.")
            device = made_once(self._on_device, id(function), to_cuda, function)
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
