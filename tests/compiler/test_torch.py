"""Functions for PyTorch: the machine code's values over the same memory, gradients of the compiled reverse mode."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import kinetree as kt
from kinetree.errors import MissingDependencyError, NonFiniteError, ShapeError, UnsupportedError
from kinetree.export.torch import to_torch


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="the package torch is not installed")


def tensors(torch, model, *batches, dtype="float64"):
    """Three tensors of nv entries that require gradients, each with its own leading axes."""
    rng = np.random.default_rng(6)
    kind = getattr(torch, dtype)
    return [torch.tensor(rng.uniform(-1, 1, (*b, model.nv)), dtype=kind, requires_grad=True) for b in batches]


def test_values_are_those_of_the_machine_code(torch):
    """The same bits in both precisions: it is the same call."""
    f = kt.compile(kt.load("arm7"), "aba", checks=False)
    for dtype in ("float64", "float32"):
        args = tensors(torch, f.model, (4,), (4,), (4,), dtype=dtype)
        found = to_torch(f)(*args)
        assert found.dtype == args[0].dtype
        np.testing.assert_array_equal(found.detach().numpy(), f(*(x.detach().numpy() for x in args)))


@pytest.mark.parametrize("batches", [((5,), (5,), (5,)), ((), (5,), (2, 5)), ((), (), ())])
def test_gradients_pass_gradcheck(torch, batches):
    """PyTorch's own comparison with differences, also where one row serves many states and its gradients add up."""
    f = kt.compile(kt.models.double_pendulum(), "aba")
    assert torch.autograd.gradcheck(to_torch(f), tensors(torch, f.model, *batches))


def test_gradients_of_several_outputs(torch):
    """Their cotangents add up: rotation and position of the second body."""
    f = kt.compile(kt.models.double_pendulum(), "pose", frame="lower")
    assert len(f.output_names) == 2
    assert torch.autograd.gradcheck(to_torch(f), tensors(torch, f.model, (3,)))


def test_only_what_requires_a_gradient_gets_one(torch):
    """The product is compiled for those inputs alone."""
    f = kt.compile(kt.models.double_pendulum(), "rnea")
    q, v, a = tensors(torch, f.model, (3,), (3,), (3,))
    to_torch(f)(q.detach(), v, a.detach()).sum().backward()
    assert v.grad is not None and q.grad is None and a.grad is None


def test_a_step_of_descent_reaches_a_known_torque(torch):
    """Newton's law backwards: minimizing |rnea(q, v, a) - tau|^2 over a finds a = aba(q, v, tau)."""
    model = kt.models.double_pendulum()
    rnea = to_torch(kt.compile(model, "rnea"))
    q, v, tau = (x.detach() for x in tensors(torch, model, (), (), ()))
    a = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([a], max_iter=50, tolerance_grad=1e-14, line_search_fn="strong_wolfe")

    def loss():
        optimizer.zero_grad()
        value = (rnea(q, v, a) - tau).square().sum()
        value.backward()
        return value

    optimizer.step(loss)
    np.testing.assert_allclose(a.detach(), kt.aba(model, q.numpy(), v.numpy(), tau.numpy()), rtol=1e-5)


def test_third_derivatives_are_refused(torch):
    """Hessian products are values: to differentiate them again must not give zero in silence."""
    f = kt.compile(kt.models.double_pendulum(), "rnea")
    q, v, a = tensors(torch, f.model, (), (), ())
    (slope,) = torch.autograd.grad(to_torch(f)(q, v, a).sum(), q, create_graph=True)
    (bend,) = torch.autograd.grad(slope.sum(), q, create_graph=True)
    with pytest.raises(UnsupportedError, match="third derivatives"):
        (bend.sum() + q.sum()).backward()


def test_gradient_of_a_derivative_is_refused(torch):
    """The message says which mode gives second derivatives."""
    f = kt.differentiate(kt.models.double_pendulum(), "rnea", "vjp", wrt="q")
    args = tensors(torch, f.model, (), (), (), ())
    value = to_torch(f)(*args)
    with pytest.raises(UnsupportedError, match="hvp"):
        value.sum().backward()


def test_checks_hold(torch):
    """As for arrays."""
    f = kt.compile(kt.models.double_pendulum(), "rnea")
    with pytest.raises(NonFiniteError, match="nan"):
        to_torch(f)(torch.full((2,), float("nan"), dtype=torch.float64), *tensors(torch, f.model, (), ()))


def test_mixed_types_are_refused(torch):
    """Which tensor has which is said; nothing is converted."""
    f = kt.compile(kt.models.double_pendulum(), "rnea")
    q, v, a = tensors(torch, f.model, (), (), ())
    with pytest.raises(ShapeError, match="v torch.float32"):
        to_torch(f)(q, v.float(), a)
    with pytest.raises(ShapeError, match="expected a PyTorch tensor"):
        to_torch(f)(q, np.zeros(2), a)


def test_without_torch_the_error_says_what_to_install(monkeypatch):
    """The import is tried when the function is made."""
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(MissingDependencyError, match="pip install torch"):
        to_torch(kt.compile(kt.models.double_pendulum(), "rnea"))


@pytest.mark.parametrize("batches", [((5,), (5,), (5,)), ((), (3,), (2, 3)), ((), (), ())])
def test_second_derivatives_pass_gradgradcheck(torch, batches):
    """PyTorch's comparison of the Hessian products with differences of gradients, broadcast inputs included."""
    f = kt.compile(kt.models.double_pendulum(), "aba")
    assert torch.autograd.gradgradcheck(to_torch(f), tensors(torch, f.model, *batches))


def test_a_gradient_in_a_loss_counts(torch):
    """A penalty on a gradient plus something else: no part of the second derivative is dropped."""
    f = kt.compile(kt.models.double_pendulum(), "rnea")
    q, v, a = tensors(torch, f.model, (), (), ())
    (slope,) = torch.autograd.grad(to_torch(f)(q, v, a).sum(), q, create_graph=True)
    (slope.sum() + 3.0 * q.sum()).backward()
    hvp = kt.differentiate(f.model, "rnea", "hvp", wrt=("q", "v"))
    numbers = [x.detach().numpy() for x in (q, v, a)]
    along_q, along_v = hvp(*numbers, np.ones(2), np.zeros(2), np.ones(2))
    np.testing.assert_allclose(q.grad, along_q + 3.0, rtol=1e-12)
    np.testing.assert_allclose(v.grad, along_v, rtol=1e-12)


def test_function_transforms(torch):
    """torch.func's vmap, jacrev and grads per sample are those of a loop over the states."""
    model = kt.models.double_pendulum()
    f = kt.compile(model, "aba")
    g = to_torch(f)
    q, v, tau = (x.detach() for x in tensors(torch, model, (4,), (3, 4), ()))
    mapped = torch.func.vmap(torch.func.vmap(g, (0, 0, None)), (None, 0, None))(q, v, tau)
    np.testing.assert_array_equal(mapped, f(q.numpy(), v.numpy(), tau.numpy()))
    columns = torch.func.vmap(g, (None, 1, None), out_dims=1)(q[:3], v, tau)  # leading axes inside the mapped one
    np.testing.assert_array_equal(columns, torch.stack([g(q[:3], v[:, k], tau) for k in range(4)], 1))
    with pytest.raises(ShapeError):
        g(q, v[:, :3], tau)

    J = torch.func.jacrev(g, argnums=(0, 1, 2))(q[0], v[0, 0], tau)
    exact = kt.differentiate(model, "aba", wrt=("q", "v", "tau"))(q[0].numpy(), v[0, 0].numpy(), tau.numpy())
    for found, expected in zip(J, exact, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)
    per_sample = torch.func.vmap(torch.func.grad(lambda *x: g(*x).sum(), argnums=(0, 2)), (0, 0, None))(q, v[0], tau)
    back = kt.differentiate(model, "aba", "vjp", wrt=("q", "tau"))
    for k in range(4):
        expected = back(q[k].numpy(), v[0, k].numpy(), tau.numpy(), np.ones(2))
        for found, x in zip(per_sample, expected, strict=True):
            np.testing.assert_allclose(found[k], x, rtol=1e-12, atol=1e-14)


def test_numbers_of_every_state(torch):
    """A function with a set of numbers for each state: its values, and gradients that pass gradcheck."""
    model = kt.models.double_pendulum()
    f = kt.compile(model, "aba").with_parameters({"gravity.z": np.linspace(-9.0, -1.0, 3)})
    args = tensors(torch, model, (3,), (), (3,))
    np.testing.assert_array_equal(to_torch(f)(*args).detach(), f(*(x.detach().numpy() for x in args)))
    assert torch.autograd.gradcheck(to_torch(f), args)


def test_arguments_by_name(torch):
    """As for arrays: any may be named, and none is ignored."""
    model = kt.models.double_pendulum()
    g = to_torch(kt.compile(model, "rnea"))
    q, v, a = (x.detach() for x in tensors(torch, model, (), (), ()))
    assert torch.equal(g(q, a=a, v=v), g(q, v, a))
    with pytest.raises(TypeError, match="rnea: missing v, a"):
        g(q=q)
    with pytest.raises(TypeError, match="unexpected argument 'qd'"):
        g(q, v, a, qd=v)


def test_copies_and_processes(torch):
    """Functions for PyTorch are pickled as the functions that they are made of."""
    model = kt.models.double_pendulum()
    g = to_torch(kt.compile(model, "rnea"))
    args = tensors(torch, model, (2,), (2,), (2,))
    again = pickle.loads(pickle.dumps(g))
    assert torch.equal(again(*args), g(*args)) and again.__name__ == "rnea"
