"""Errors of position of the loop joints of a model, and the constrained dynamics in which they are held."""

from __future__ import annotations

from kinetree.algorithms.kinematics import world_transforms
from kinetree.algorithms.spec import Spec
from kinetree.compiler.derivative_functions import derivative_spec
from kinetree.compiler.function import Function
from kinetree.errors import UnsupportedError
from kinetree.forces.registry import COEFFICIENTS
from kinetree.integrators.implicit import force_slopes, residual, stage, times_tangent


class LoopClosure:
    """The loops of a model as compiled functions.

    With errors of position phi(q), one row for each direction in which a loop joint does not move, and ``G = dphi/dq``
    along the manifold, the constrained dynamics are ``ID(q, v, dv/dt) = tau + G^T lam``, ``phi(q) = 0``.

    Parameters
    ----------
    model : Model
        With at least one active loop joint, and no other constraints or couplings.
    wrenches : bool
        Whether there are external wrenches.

    Attributes
    ----------
    tree : Model
        The model without its loop joints.
    rows : tuple of str
        The loop joint of every row of phi.
    error, rate_of_rate : Function
        ``error(q) -> phi``; ``rate_of_rate(q, v, v) -> dG/dt v``.
    jacobian : Function
        ``jacobian(q) -> G``.
    stage : Function
        ``stage(q, x0, w0, a, tau, x1, w1) -> (r, A, phi, G T)`` at a step's end, see `kinetree.integrators.implicit`.
    """

    __slots__ = ("error", "jacobian", "rate_of_rate", "rows", "stage", "tree")

    def __init__(self, model, wrenches: bool = False) -> None:
        loops = tuple(loop for loop in model.loops if loop.active)
        self.tree = model.without_unsupported()
        _refuse(model, loops)
        counts = [6 - loop.joint.nv for loop in loops]
        self.rows = tuple(loop.name for loop, count in zip(loops, counts, strict=True) for _ in range(count))
        nc, nv = len(self.rows), "nv"

        def loop_error(model, q):
            X_0 = world_transforms(model, q)
            phi = []
            for loop in loops:
                P, S = model.frame(loop.predecessor), model.frame(loop.successor)
                X_P, X_S = loop.X_P @ P.X_FB @ X_0[P.body], loop.X_S @ S.X_FB @ X_0[S.body]
                phi += loop.joint.implicit(X_S @ X_P.inverse())[0]
            return phi

        def constrained_stage(model, q, x0, w0, a, tau, x1, w1, f_ext=None):
            xi, Q, w = stage(model, q, x0, w0, a, x1, w1)
            dq, dv, M = force_slopes(model, Q, w, a, f_ext)
            dq, n = times_tangent(model, dq, xi), range(model.nv)
            A = [[M[m][k] + w1 * dv[m][k] + x1 * dq[m][k] for k in n] for m in n]
            G = jacobian.function(model, Q)
            return residual(model, Q, w, a, tau, f_ext), A, loop_error(model, Q), times_tangent(model, G, xi)

        error = Spec("loop_error", loop_error, {"q": ("nq",)}, {}, {"phi": (nc,)})
        jacobian = _derivative(error, "jacobian", "phi")
        along = _derivative(error, "jvp", "phi")

        def loop_rate(model, q, v):
            return along.function(model, q, v)

        rate = Spec("loop_rate", loop_rate, {"q": ("nq",), "v": (nv,)}, {}, {"phi_dot": (nc,)})
        nested = _derivative(rate, "jvp", "phi_dot")
        arrays = {"q": ("nq",)} | {x: (nv,) for x in ("x0", "w0", "a", "tau")} | {"x1": (), "w1": ()}
        outputs = {"r": (nv,), "A": (nv, nv), "phi": (nc,), "G": (nc, nv)}
        at_end = Spec("constrained_stage", constrained_stage, arrays, {"f_ext": ("nb", 6)}, outputs)
        present = ("f_ext",) if wrenches else ()
        self.error, self.jacobian, self.rate_of_rate = (self._function(s) for s in (error, jacobian, nested))
        self.stage = self._function(at_end, present)

    def _function(self, spec: Spec, present: tuple = ()) -> Function:
        return Function(spec, self.tree, present, {}, False)


def _derivative(spec: Spec, mode: str, of: str) -> Spec:
    return derivative_spec(spec, mode, ("q",), (of,))


def _refuse(model, loops) -> None:
    """Say what is not a matter of loop joints."""
    others = [str(x) for x in model.unsupported if not any(str(loop) == str(x) for loop in loops)]
    others += [f"coupling of {c.joint!r}" for c in model.couplings]
    moving = [f"joint {model.joint_name(i)!r}, which depends on time" for i in model.outward()
              if model.joints[i].time_dependent]  # fmt: skip
    loaded = [f"springs, dampers or limits of {loop}" for loop in loops
              if any(getattr(loop, what) for what in COEFFICIENTS)]  # fmt: skip
    if not loops:
        raise UnsupportedError(
            f"model {model.name!r} has no active loop joint; simulate its tree with integrator='generalized_alpha'.",
            model=model.name,
        )
    if found := others + moving + loaded:
        raise UnsupportedError(
            f"model {model.name!r}: constrained integration knows loop joints alone, not {'; '.join(found[:4])}.",
            model=model.name,
            found=tuple(found),
        )
