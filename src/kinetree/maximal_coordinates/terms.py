r"""The terms of the equation of free bodies under the constraints of their joints, compiled.

Sueda                      here
``f_m`` (eq. 1.21-1.22)    ``f``: gravity, gyroscopic forces, force elements and wrenches, in body coordinates
``G`` (eq. 1.69-1.70)      ``G``: entries of the rows at the bodies that they connect; ``Gdot v`` is ``bias``
``g(E)`` (eq. 1.81)        ``phi``
``K_m, D_m``               entries of the blocks of bodies that force elements connect

For each joint coordinate there is a row ``w`` too: ``w . Phi`` is its rate where the joint is closed. Forces of the
joints act along these rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from kinetree.algorithms.force_elements import element_forces, gauss_newton_slopes
from kinetree.algorithms.implicit_forces import exact_slopes
from kinetree.algorithms.rnea import rnea
from kinetree.algorithms.spec import Spec
from kinetree.compiler.calls import plain_call
from kinetree.state_kinematics import Kinematics

SLOPES = {"exact": exact_slopes, "gauss_newton": gauss_newton_slopes}


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
    """G, Gdot v, phi, coordinates of the joints with their rows and the bias of their rates, and f."""
    kin = Kinematics(model, q, v)
    G, bias, phi, coordinates, rows, rates = [], [], [], [], [], []
    for c in model.constraints:
        places = entries_of(model, c)
        G += [row.get(k, 0.0) for row in c.rows(kin) for k in places]
        bias += c.bias(kin)
        phi += c.residual(kin) or [0.0] * c.count(model)
    for name, loop in model.loop_joints():
        coordinates += kin.loop_position(name)
        places = entries_of(model, loop)
        for n in range(loop.joint.nv):
            row = kin.row(name, n)
            rows += [row.get(k, 0.0) for k in places]
            rates.append(kin.rate_bias(name, n))
    inertial = rnea(model, q, v, [0.0] * model.nv, f_ext)
    forces = element_forces(model, q, v, x, u)
    return G, bias, phi, coordinates, rows, rates, [f - p for f, p in zip(forces, inertial, strict=True)]


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
    """The compiled function of `maximal_terms` for a model of free bodies."""
    nc, loops = model.nc, [loop for _, loop in model.loop_joints()]
    sizes = {
        "G": sum(c.count(model) * len(entries_of(model, c)) for c in model.constraints),
        "bias": nc,
        "phi": nc,
        "coordinates": sum(loop.joint.nq for loop in loops),
        "rows": sum(loop.joint.nv * len(entries_of(model, loop)) for loop in loops),
        "rates": sum(loop.joint.nv for loop in loops),
        "f": model.nv,
    }
    return _compiled("maximal_terms", maximal_terms, sizes, {"f_ext": ("nb", 6)})


def slopes_of(model, method: str):
    """The compiled function of K and D by one of `SLOPES`."""
    size = 36 * len(coupled_bodies(model))
    function = {"exact": exact_maximal_slopes, "gauss_newton": gauss_newton_maximal_slopes}[method]
    return _compiled(function.__name__, function, {"K": size, "D": size}, {})


def _compiled(name: str, function, sizes, more):
    optional = {**more, "x": ("nx",), "u": ("nu",)}
    outputs = {what: (size,) for what, size in sizes.items()}
    return plain_call(Spec(name, function, {"q": ("nq",), "v": ("nv",)}, optional, outputs, body_frames=True))


def block_places(model) -> Iterator[tuple[int, int]]:
    """Rows and columns of the entries of K and D."""
    for i, j in coupled_bodies(model):
        yield from product(_dofs(model, i), _dofs(model, j))
