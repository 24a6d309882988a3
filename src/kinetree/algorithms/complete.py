"""The complete dynamics of a model: the tree, its passive joint forces and its constraints.

With couplings ``q = gamma(y)``, ``v = G ydot`` (G constant: each coupled joint turns with its master), the equation
of motion of the tree is projected on the independent velocities: ``G^T M G ydd = G^T (tau - c)`` (book, eq.
3.20-3.21).
"""

from __future__ import annotations

from kinetree.algorithms.bounded_rows import bounded_constraints, given_row_forces, given_wide_forces, without_rows
from kinetree.algorithms.constrained import (
    constrained_accelerations,
    eliminated_multipliers,
    remaining_rows,
    step_velocities,
)
from kinetree.algorithms.couplings import at_masters
from kinetree.algorithms.domain import CLOSED_LOOPS, CONSTRAINTS, IN_LOOPS, LIMITS, NOT_PASSING, UNIT_QUATERNIONS
from kinetree.algorithms.force_elements import force_state_rates
from kinetree.algorithms.forward_dynamics_multipliers import MULTIPLIERS
from kinetree.algorithms.forward_dynamics_reduced import (
    forward_dynamics_null_space,
    forward_dynamics_partitioning,
    forward_dynamics_pseudovelocities,
)
from kinetree.algorithms.implicit_forces import implicit_terms
from kinetree.algorithms.loop_inverse_dynamics import shared_with_loops
from kinetree.algorithms.mass_factors import forward_dynamics_crba
from kinetree.algorithms.matrices import minus, plus
from kinetree.algorithms.passive import law_forces, passive_terms
from kinetree.algorithms.projection import with_followers, with_given_motions
from kinetree.algorithms.rnea import rnea
from kinetree.algorithms.singular_positions import passing_solver
from kinetree.algorithms.spec import algorithm
from kinetree.algorithms.tendon_inertia import refuse_tendon_inertia, tendon_inertia, tendon_inertia_forces
from kinetree.errors import UnsupportedError
from kinetree.model.constrained import LOOP_REPAIR
from kinetree.spatial.scalar import is_zero
from kinetree.state_kinematics import Kinematics

COMPLETE = (UNIT_QUATERNIONS, LIMITS, CONSTRAINTS)
REDUCED = (forward_dynamics_null_space, forward_dynamics_partitioning, forward_dynamics_pseudovelocities)


@algorithm(
    inputs="q v a",
    optional="f_ext x u weights",
    outputs="tau",
    further="multipliers",
    static=("actuated",),
    domains=(*COMPLETE, CLOSED_LOOPS, NOT_PASSING, IN_LOOPS),
    methods={"rnea": "rnea", "world": "rnea_world", "newton_euler": "newton_euler"},
    symbols={
        "tau": "Actuator forces [N m or N]. A coupled joint has none of its own: its share appears at its master. In "
        "loops that need fewer motors than they have, those of the least norm."
    },
    raises="UnsupportedError",
)
def inverse_dynamics(
    model, q, v, a, f_ext=None, x=None, u=None, weights=None, *, actuated=None, multipliers=False, method=rnea
):
    """Forces that the actuators must exert for a given motion, with everything in the model.

    Notes
    -----
    Source: Featherstone (2008), table 5.1 for the tree, eq. 3.20 for the couplings, section 8.12 for loops;
    `passive_joint_forces` for the joints, `actuator_joint_forces` for actuators under the inputs u, zero by default.
    Loops share the load in many ways where all joints have motors: of all such forces these have the least
    ``sum(weights * tau**2)``, weights by default 1. `kinetree.closed_loops.torque_family` gives the others.
    Identity: ``forward_dynamics(q, v, inverse_dynamics(q, v, a)) = a`` for accelerations that respect the couplings
    and loops.

    See Also
    --------
    rnea, forward_dynamics
    """
    refuse_unsupported(model, "rnea", computed=computed_constraints(model), armatures=True)
    kin = Kinematics(model, q, v)
    found, wide = given_row_forces(model, kin, a), given_wide_forces(model, kin, a)
    tau = plus(method(model, q, v, a, f_ext), tendon_inertia_forces(model, q, v, a))
    needed = without_rows(model, kin, minus(tau, law_forces(model, q, v, x, u)), found, wide)
    tau, in_loops = at_masters(model, needed), {}
    if remaining_rows(model) or actuated is not None:
        tau, in_loops, needed = shared_with_loops(model, kin, needed, actuated, weights)
    found = {n: x for rows in found.values() for n, x in rows} | wide | in_loops
    return (tau, eliminated_multipliers(model, kin, needed, found)) if multipliers else tau


@algorithm(
    inputs="q v tau",
    optional="f_ext x u",
    outputs="a",
    further="multipliers",
    domains=(*COMPLETE, CLOSED_LOOPS),
    methods={
        "auto": "forward_dynamics",
        "aba": "aba",
        "crba": "forward_dynamics_crba",
        "divide_and_conquer": "divide_and_conquer",
        "world": "aba_world",
        "inverse_inertias": "aba_inverse_inertias",
        "implicit_joints": "aba_implicit_joints",
        "null_space": "forward_dynamics_null_space",
        "partitioning": "forward_dynamics_partitioning",
        "pseudovelocities": "forward_dynamics_pseudovelocities",
        "dense": "forward_dynamics_dense",
        "sparse": "forward_dynamics_sparse",
        "clusters": "forward_dynamics_clusters",
        "inverse_mass_products": "forward_dynamics_inverse_mass_products",
        "pivoted": "forward_dynamics_pivoted",
    },
    symbols={"tau": "Actuator forces [N m or N]; a force at a coupled joint acts on its master through the coupling."},
    raises="SingularityError UnsupportedError",
)
def forward_dynamics(model, q, v, tau, f_ext=None, x=None, u=None, *, multipliers=False, method=None):
    """Accelerations under given actuator forces, with everything in the model.

    Notes
    -----
    Source: Featherstone (2008), table 7.1 for the tree, or tables 6.2, 6.3 and 6.5 where these take fewer operations
    (arms of up to 7 joints, trees that branch early), unless ``method`` names an algorithm; with constraints see
    `kinetree.algorithms.constrained` ("auto": by multipliers), `kinetree.algorithms.forward_dynamics_multipliers` and
    `kinetree.algorithms.forward_dynamics_reduced`. With ``multipliers=True`` all these give multipliers:
    those of "pivoted" are the least ones, and it does so at singular positions, too; with the others, rows that others
    imply have none.

    See Also
    --------
    aba, inverse_dynamics
    """
    dense = method is None or method is forward_dynamics_crba
    refuse_unsupported(model, "aba", computed=computed_constraints(model), armatures=dense)
    passive = law_forces(model, q, v, x, u)
    force = plus(tau, passive)
    if method is None or (dense and (model.constraints or model.armatures)):
        added, bias = tendon_inertia(model, q, v)
        given = model, q, v, minus(force, bias), f_ext, model.armature, added
        return constrained_accelerations(*given, multipliers=multipliers, solver=passing_solver(model))
    if method in MULTIPLIERS or (model.constraints and method in REDUCED):
        return method(model, q, v, force, f_ext, multipliers=multipliers)
    if model.constraints:
        raise UnsupportedError(
            f"forward_dynamics: model {model.name!r} has constraints ({model.constraints[0]}), which methods 'auto', "
            "'crba', 'dense', 'sparse', 'clusters', 'inverse_mass_products' and 'pivoted' solve for by multipliers, "
            "'null_space', 'partitioning' and 'pseudovelocities' in fewer unknowns; the others are those of trees"
        )
    a = method(model, q, v, force, f_ext)
    return (a, []) if multipliers else a


@algorithm(
    inputs="q v tau dt",
    optional="f_ext x u",
    outputs="a",
    domains=COMPLETE,
    symbols={"tau": "Actuator forces [N m or N].", "a": "``(v_next - v) / dt`` [rad/s^2 or m/s^2]."},
    raises="SingularityError",
)
def semi_implicit_acceleration(model, q, v, tau, dt, f_ext=None, x=None, u=None):
    """The acceleration of one step whose passive joint forces are taken at the end of the step.

    Notes
    -----
    Source: Sueda, eq. 1.30 and 2.72-2.79 for the joints: ``(M + h D + h^2 K) a = tau - c + elastic - (D + h K) v``
    with the diagonal damping D and stiffness K of the joints; dry friction counts as damping ``tau_c / max(|v|,
    v_s)``, so it can stop a motion but never reverse it. Stable for any damping and stiffness of the joints. Other
    force elements add their Gauss-Newton slopes, which are positive semidefinite for springs and dampers along lengths.
    """
    if bounded_constraints(model):
        v_next = semi_implicit_velocities(model, q, v, tau, dt, f_ext, x, u)
        return [(after - before) / dt for after, before in zip(v_next, v, strict=True)]
    terms = semi_implicit_terms(model, q, v, tau, dt, f_ext, x, u)
    return constrained_accelerations(model, q, v, *terms, solver=passing_solver(model))


def semi_implicit_velocities(model, q, v, tau, dt, f_ext=None, x=None, u=None):
    """Velocities at the end of the step of `semi_implicit_acceleration`."""
    if bounded_constraints(model):
        force, f_ext, diagonal, added = semi_implicit_terms(model, q, v, tau, dt, f_ext, x, u)
        return step_velocities(model, q, v, force, dt, f_ext, diagonal, added)
    a = semi_implicit_acceleration(model, q, v, tau, dt, f_ext, x, u)
    return [v_k + dt * a_k for v_k, a_k in zip(v, a, strict=True)]


def semi_implicit_terms(model, q, v, tau, dt, f_ext, x, u):
    """Joint forces, wrenches, the diagonal beside the bodies' mass matrix, and further terms added to it."""
    refuse_unsupported(model, "aba", [*bounded_constraints(model), *stepped_constraints(model)], armatures=True)
    elastic, damping, stiffness = passive_terms(model, q, v, x, u, elements=False)
    implicit = [d + dt * k for d, k in zip(damping, stiffness, strict=True)]
    force = [tau[k] + elastic[k] - implicit[k] * v[k] for k in range(model.nv)]
    diagonal = [model.armature[k] + dt * implicit[k] for k in range(model.nv)]
    added, bias = tendon_inertia(model, q, v)
    force = minus(force, bias)
    if model.laws:
        of_laws, of_elements = implicit_terms(model, q, v, dt, x, u)
        added, force = plus(added, of_laws) if added else of_laws, plus(force, of_elements)
        if all(is_zero(x) for k, row in enumerate(added) for m, x in enumerate(row) if m != k):  # laws of joints alone
            diagonal, added = [d + row[k] for k, (d, row) in enumerate(zip(diagonal, added, strict=True))], None
    return force, f_ext, diagonal, added


def step_accelerations(model, q, w, tau, f_ext=None, u=None, *, multipliers=False):
    """The rate of ``w = (v, x)`` for steps: `forward_dynamics` and x', prescribed coordinates where they have to be.

    So other coordinates move as in a model that has no such freedoms, whatever the points at which a method looks.
    """
    refuse_unsupported(model, "aba", computed=stepped_constraints(model), armatures=True)
    v, x = w[: model.nv], w[model.nv :]
    q, v = with_given_motions(model, q, v) if model.has_given_motions else (q, v)
    q, v = with_followers(model, q, v) if model.constraints else (q, v)
    a = forward_dynamics(model, q, v, tau, f_ext, x, u, multipliers=multipliers)
    a, *lam = a if multipliers else (a,)
    a = [*a, *force_state_rates(model, q, v, x, u)] if x else a
    return (a, *lam) if multipliers else a


def stepped_constraints(model) -> list:
    """The constraints that steps keep: equalities."""
    return [c for c in model.constraints if c.row_kind == "equality"]


def computed_constraints(model, loops=True):
    """The constraints for which accelerations are solved: all equalities and bounded rows, or those without frames."""
    return [c for c in model.constraints if c.row_kind in ("equality", "box") and (loops or not c.frames)]


def refuse_unsupported(model, bare, computed=(), armatures=False):
    """Raise UnsupportedError for physics of the model that is not computed here, instead of leaving it out.

    ``bare`` names the algorithm that computes the same of the tree alone; ``computed`` are constraints that the caller
    solves for; ``armatures``: it computes inertia along tendons.
    """
    if not armatures:
        refuse_tendon_inertia(model, "this algorithm or method")
    solved = {str(c) for c in computed}
    left = remaining_rows(model)
    given = (str(c) for c in model.constraints if c.time_dependent or c.row_kind != "equality" or c in left)
    names = tuple(name for name in dict.fromkeys((*model.unsupported, *given)) if name not in solved)
    if not names:
        return
    shown = "; ".join(names[:4]) + (f"; ... ({len(names)} in all)" if len(names) > 4 else "")
    raise UnsupportedError(
        f"model {model.name!r} has parts that the complete dynamics do not compute yet: {shown}. {bare} computes the "
        "tree alone; model.without_unsupported() is a copy without them, and forces of actuators can be given by tau "
        "or a controller" + f". {LOOP_REPAIR}" * bool(model.unheld),
        unsupported=names,
    )
