r"""The terms of the equation of free bodies under the constraints of their joints, compiled.

Sueda                      here
``f_m`` (eq. 1.21-1.22)    ``f``: gravity, gyroscopic forces, force elements and wrenches, in body coordinates
``G`` (eq. 1.69-1.70)      ``G``: entries of the rows at the bodies that they connect; ``Gdot v`` is ``bias``
``g(E)`` (eq. 1.81)        ``phi``
its rate by time           ``driven``: of prescribed motions, rows hold ``G Phi = driven``
``K_m, D_m``               entries of the blocks of bodies that force elements connect

For each joint coordinate there is a row ``w`` too: ``w . Phi`` is its rate where the joint is closed. Forces of the
joints act along these rows. Time adds ``offsets`` to the rates, where freedoms are carried by a moving frame. ``gaps``
are the distances [rad, m] of joints from the positions that were searched for them, where there is no formula.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from kinetree.algorithms.domain import GIVEN_MOTIONS
from kinetree.algorithms.force_elements import (
    actuator_cut_slopes,
    actuator_cuts,
    element_forces,
    gauss_newton_slopes,
)
from kinetree.algorithms.implicit_forces import exact_slopes, stepped_state_changes
from kinetree.algorithms.rnea import rnea
from kinetree.algorithms.spec import Spec
from kinetree.algorithms.tendon_inertia import tendon_rows
from kinetree.compiler.calls import plain_call
from kinetree.liegroup.se3 import log_se3
from kinetree.spatial.scalar import sqrt
from kinetree.state_kinematics import Kinematics

SLOPES = {"exact": exact_slopes, "gauss_newton": gauss_newton_slopes}


class Terms(NamedTuple):
    """Entries of the rows, and the forces, in one state."""

    G: object
    bias: object
    phi: object
    driven: object
    coordinates: object
    rows: object
    rates: object
    offsets: object
    f: object
    gaps: object


class CoupledTerms(NamedTuple):
    """The same of rows over the coordinates of joints."""

    K: object
    bias: object
    phi: object
    driven: object


def bodies_of(model, constraint) -> list[int]:
    """The moving bodies that a constraint connects."""
    return sorted({model.frame(name).body for name in constraint.frames} - {0})


def entries_of(model, constraint) -> list[int]:
    """The velocity coordinates of these bodies."""
    return [k for i in bodies_of(model, constraint) for k in _dofs(model, i)]


def coupled_bodies(model) -> list[tuple[int, int]]:
    """Pairs of bodies between which force elements act, each body with itself among them."""
    pairs = set()
    for force in model.laws:
        names = [*force.frames, *(name for joint in force.joints for name in model.loop_joint(joint).frames)]
        bodies = {model.frame(name).body for name in names} - {0}
        pairs |= set(product(bodies, bodies))
    return sorted(pairs)


def _dofs(model, body: int) -> range:
    return range(*model.v_slice[body].indices(model.nv))


def maximal_terms(model, q, v, f_ext=None, x=None, u=None):
    """The `Terms`: rows of the constraints and of the coordinates of joints, and f."""
    kin, still = Kinematics(model, q, v), Kinematics(model, q)
    G, bias, phi, driven, coordinates, rows, rates, offsets, gaps = ([] for _ in range(9))
    for c in model.constraints:
        places = entries_of(model, c)
        G += [row.get(k, 0.0) for row in c.rows(kin) for k in places]
        bias += c.bias(kin)
        phi += c.residual(kin) or [0.0] * c.count(model)
        driven += [-x for x in c.rate(still)] if c.time_dependent else [0.0] * c.count(model)
    for name, loop in model.loop_joints():
        coordinates += kin.loop_position(name)
        places = entries_of(model, loop)
        for n in range(loop.joint.nv):
            row = kin.row(name, n)
            rows += [row.get(k, 0.0) for k in places]
            rates.append(kin.rate_bias(name, n))
            offsets.append(still.rate(name, n) if loop.time_dependent else 0.0)
        if loop.joint_now(kin).searched:
            gaps.append(searched_gap(kin, name, loop))
    inertial = rnea(model, q, v, [0.0] * model.nv, f_ext)
    forces = element_forces(model, q, v, x, u)
    f = [f - p for f, p in zip(forces, inertial, strict=True)]
    return Terms(G, bias, phi, driven, coordinates, rows, rates, offsets, f, gaps)


def searched_gap(kin, name: str, loop):
    """The size of the displacement between a joint's pose and that at its position; nan is one, too."""
    joint = loop.joint_now(kin)
    error = log_se3(relative_pose(kin, loop) @ joint.transform(kin.loop_position(name)).inverse())
    return sqrt(sum((x * x for x in error), start=0.0))


def relative_pose(kin, loop):
    """The transform from a loop joint's predecessor frame to its successor frame."""
    return kin.relative(loop.predecessor, loop.successor, loop.X_P, loop.X_S).X


def coupled_terms(model, q, v):
    """The `CoupledTerms` of a model's constraints, in its own coordinates."""
    kin, still = Kinematics(model, q, v), Kinematics(model, q)
    K, bias, phi, driven = [], [], [], []
    for c in model.constraints:
        K += [[row.get(k, 0.0) for k in range(model.nv)] for row in c.rows(kin)]
        bias += c.bias(kin)
        phi += c.residual(kin) or [0.0] * c.count(model)
        driven += [-x for x in c.rate(still)] if c.time_dependent else [0.0] * c.count(model)
    return CoupledTerms(K, bias, phi, driven)


def tendon_terms(model, q, v):
    """Rows of the rates of the lengths of tendons with inertia over the velocities of joints, and their bias."""
    found = list(tendon_rows(model, Kinematics(model, q, v)))
    return [[row.get(k, 0.0) for k in range(model.nv)] for _, row, _ in found], [rate for *_, rate in found]


def internal_states_after(model, q, v, x, dt, v_next, u=None):
    """Internal states of the force elements after a step of linearly implicit Euler, with the twists at its end."""
    changes = stepped_state_changes(model, q, v, x, u, dt, v_next)
    return [x_k + dx for x_k, dx in zip(x, changes, strict=True)]


def exact_maximal_slopes(model, q, v, x=None, u=None):
    """K = -df/dq and D = -df/dv of the force elements, block by block."""
    return _blocks(model, *exact_slopes(model, q, v, x, u))


def gauss_newton_maximal_slopes(model, q, v, x=None, u=None):
    """The same with leaves taken as linear in the coordinates, symmetric."""
    return _blocks(model, *gauss_newton_slopes(model, q, v, x, u))


def _blocks(model, K, D):
    places = [(r, c) for i, j in coupled_bodies(model) for r in _dofs(model, i) for c in _dofs(model, j)]
    return [K[r][c] for r, c in places], [D[r][c] for r, c in places]


def terms_of(model):
    """The function that gives the `Terms` of a model of free bodies, compiled."""
    nc, loops = model.nc, [loop for _, loop in model.loop_joints()]
    sizes = {
        "G": sum(c.count(model) * len(entries_of(model, c)) for c in model.constraints),
        "bias": nc,
        "phi": nc,
        "driven": nc,
        "coordinates": sum(loop.joint.nq for loop in loops),
        "rows": sum(loop.joint.nv * len(entries_of(model, loop)) for loop in loops),
        "rates": sum(loop.joint.nv for loop in loops),
        "offsets": sum(loop.joint.nv for loop in loops),
        "f": model.nv,
        "gaps": sum(loop.joint.at(0.0).searched for loop in loops),
    }
    call = _compiled("maximal_terms", maximal_terms, sizes, {"f_ext": ("nb", 6)})
    return lambda *arrays, **given: Terms(*call(*arrays, **given))


def coupled_terms_of(model):
    """The function that gives the `CoupledTerms` of a model, compiled."""
    outputs = {"K": (model.nc, model.nv), **dict.fromkeys(("bias", "phi", "driven"), (model.nc,))}
    inputs = {"q": ("nq",), "v": ("nv",)}
    call = plain_call(Spec("coupled_terms", coupled_terms, inputs, {}, outputs, domains=(GIVEN_MOTIONS,)))
    return lambda *arrays, **given: CoupledTerms(*call(*arrays, **given))


def tendon_terms_of(model):
    """The compiled function of `tendon_terms`."""
    n, inputs = len(model.armatures), {"q": ("nq",), "v": ("nv",)}
    outputs = {"L": (n, model.nv), "bias": (n,)}
    return plain_call(Spec("tendon_terms", tendon_terms, inputs, {}, outputs))


def actuator_cuts_of(model):
    """The compiled function of `actuator_cuts`."""
    inputs, optional, outputs = {"q": ("nq",), "v": ("nv",)}, {"x": ("nx",), "u": ("nu",)}, {"tau": ("nv",)}
    return plain_call(Spec("actuator_cuts", actuator_cuts, inputs, optional, outputs, body_frames="laws"))


def exact_cut_slopes(model, q, v, x=None, u=None):
    """``-df/dq`` and ``-df/dv`` of `actuator_cuts`."""
    return exact_slopes(model, q, v, x, u, of=actuator_cuts)


def cut_slopes_of(model, method: str):
    """The compiled function of the slopes of `actuator_cuts` by one of `SLOPES`."""
    function = {"exact": exact_cut_slopes, "gauss_newton": actuator_cut_slopes}[method]
    inputs, optional = {"q": ("nq",), "v": ("nv",)}, {"x": ("nx",), "u": ("nu",)}
    outputs = dict.fromkeys("KD", (model.nv, model.nv))
    return plain_call(Spec(function.__name__, function, inputs, optional, outputs, body_frames="laws"))


def states_after_of(model):
    """The compiled function of `internal_states_after`."""
    inputs = {"q": ("nq",), "v": ("nv",), "x": ("nx",), "dt": (), "v_next": ("nv",)}
    outputs = {"x_next": ("nx",)}
    name, function = "internal_states_after", internal_states_after
    spec = Spec(name, function, inputs, {"u": ("nu",)}, outputs, domains=(GIVEN_MOTIONS,), body_frames=True)
    return plain_call(spec)


def slopes_of(model, method: str):
    """The compiled function of K and D by one of `SLOPES`."""
    size = 36 * len(coupled_bodies(model))
    function = {"exact": exact_maximal_slopes, "gauss_newton": gauss_newton_maximal_slopes}[method]
    return _compiled(function.__name__, function, {"K": size, "D": size}, {})


def _compiled(name: str, function, sizes, more):
    optional = {**more, "x": ("nx",), "u": ("nu",)}
    outputs = {what: (size,) for what, size in sizes.items()}
    inputs = {"q": ("nq",), "v": ("nv",)}
    return plain_call(Spec(name, function, inputs, optional, outputs, domains=(GIVEN_MOTIONS,), body_frames=True))


def block_places(model) -> Iterator[tuple[int, int]]:
    """Rows and columns of the entries of K and D."""
    for i, j in coupled_bodies(model):
        yield from product(_dofs(model, i), _dofs(model, j))
