"""The complete hybrid dynamics of a model: the tree, its passive joint forces and its couplings."""

from __future__ import annotations

from kinetree.algorithms.bounded_rows import (
    given_row_forces,
    given_wide_forces,
    row_laws,
    split_forces,
    wide_rows,
    without_rows,
)
from kinetree.algorithms.complete import COMPLETE, computed_constraints, refuse_unsupported
from kinetree.algorithms.constrained import (
    WIDE,
    ConstrainedSystem,
    eliminated_multipliers,
    given_accelerations,
)
from kinetree.algorithms.couplings import at_masters, coupling_columns
from kinetree.algorithms.domain import CLOSED_LOOPS
from kinetree.algorithms.hybrid import entries_of, hybrid_aba, restricted_inertia
from kinetree.algorithms.joint_sets import READ, forward_joints
from kinetree.algorithms.loop_inverse_dynamics import SharedLoads
from kinetree.algorithms.matrices import minus, plus
from kinetree.algorithms.passive import law_forces
from kinetree.algorithms.rnea import rnea
from kinetree.algorithms.spec import algorithm
from kinetree.errors import CouplingError
from kinetree.spatial.scalar import is_zero
from kinetree.state_kinematics import Kinematics


@algorithm(
    inputs="q v tau a",
    optional="f_ext x u",
    outputs="a_all tau_all",
    further="multipliers",
    static=("forward",),
    domains=(*COMPLETE, CLOSED_LOOPS),
    methods={"aba": "hybrid_aba", "crba": "hybrid_crba", "recursive": "hybrid_recursive"},
    symbols=READ
    | {
        "tau": "Actuator forces [N m or N]; read for the joints in ``forward`` only, finite for all.",
        "forward": "Names of the joints whose force is known (forward dynamics), the base's among them if it floats. "
        "Each choice is a function of its own. Joints that a coupling connects are all named or none.",
        "tau_all": "Actuator forces of all joints, the given ones among them [N m or N]. Where a coupled joint moves "
        "as prescribed, its share appears at its master.",
        "ConstraintError": "; or one of two coupled joints is in ``forward`` and the other is not.",
    },
    raises="SingularityError UnsupportedError",
)
def hybrid_dynamics(model, q, v, tau, a, f_ext=None, x=None, u=None, *, forward, multipliers=False, method=hybrid_aba):
    """Accelerations of joints whose actuator force is known, and actuator forces of joints that move as prescribed.

    Notes
    -----
    Source: Featherstone (2008), section 9.2 for the tree, eq. 9.3 and 3.20 with couplings; `passive_joint_forces` and
    `actuator_joint_forces` for the joints. Prescribed motion: a robot whose legs follow a gait, a base on a shaking
    table, joints under control so stiff that integrating it would need small steps. The method is that of `hybrid_aba`,
    which needs the fewest operations of the three, short chains of joints in general directions excepted. Of coupled
    joints the master's
    acceleration is read. The forces of loops are unique where each has as many joints in ``forward`` as it has
    independent rows: inverse dynamics of a closed mechanism names its unactuated joints. Where there are fewer, the
    given accelerations have to keep loops closed, and of all forces of the other joints those of least norm are given.
    Identities: with all joints in ``forward`` this is `forward_dynamics`, with none `inverse_dynamics`.

    See Also
    --------
    forward_dynamics, inverse_dynamics, hybrid_aba, hybrid_crba, hybrid_recursive, floating_base_inverse_dynamics

    Examples
    --------
    A cart is shaken and the pole hangs freely; the force that the cart needs:

    >>> import kinetree as kt, numpy as np
    >>> model = kt.load("cart_pole").without_limits()
    >>> zero = np.zeros(2)
    >>> a, tau = kt.hybrid_dynamics(model, zero, zero, zero, [3.0, 0.0], forward=model.joint_names[1:])
    >>> bool(np.allclose(kt.forward_dynamics(model, zero, zero, tau), a)), float(a[0]), float(tau[1])
    (True, 3.0, 0.0)
    """
    refuse_unsupported(model, "hybrid_aba", computed=computed_constraints(model))
    fd = forward_joints(model, forward)
    passive = law_forces(model, q, v, x, u)
    if model.constraints:
        found = _constrained(model, q, v, tau, a, f_ext, fd, passive)
        return found if multipliers else found[:2]
    force = plus(tau, passive)
    a_all, tau_all = method(model, q, v, force, a, f_ext, forward=fd)
    tau_all = minus(tau_all, passive)
    found = a_all, _given(model, tau_all, tau, fd)
    return (*found, []) if multipliers else found


def _given(model, x, given, joints):
    """x with the given entries for these joints."""
    x = list(x)
    for i in joints:
        x[model.v_slice[i]] = given[model.v_slice[i]]
    return x


def _constrained(model, q, v, tau, a, f_ext, fd, passive):
    """The four steps of eq. 9.3 on the independent velocities."""
    _refuse_divided(model, fd)
    free = {k for i in fd for k in range(model.v_slice[i].start, model.v_slice[i].stop)}
    columns = coupling_columns(model)
    forward = [column for column in columns if column[0][0] in free]
    a_all = [0.0] * model.nv
    for column in columns:
        for k, ratio in column:
            a_all[k] = 0.0 if k in free else a[column[0][0]] * ratio
    kin = Kinematics(model, q, v)
    for k, a_k in given_accelerations(model, kin).items():
        a_all[k] = a_all[k] + a_k
    known = list(a_all)
    given = {k: x for k, x in enumerate(known) if k not in free or not is_zero(x)}
    system = ConstrainedSystem(model, restricted_inertia(model, q, fd), kin, given, forward)
    reached, shared = {k for column in forward for k, _ in column}, None
    if len(system.rows) > len(forward) or any(reached.isdisjoint(row) for row in system.rows):
        shared = SharedLoads(system, columns, forward, a_all)
    c = rnea(model, q, v, a_all, f_ext)
    rest = minus(plus(entries_of(model, tau, fd), passive), c)
    laws = {k: rows for k, rows in row_laws(model, kin).items() if k in free}
    rest = [sum((law.force for _, law in laws.get(k, ())), start=f) for k, f in enumerate(rest)]
    wide = {n: each for n, each in wide_rows(model, kin).items() if not reached.isdisjoint(each.row)}
    for each in wide.values():
        rest = [f + each.row[k] * each.law.force if k in each.row else f for k, f in enumerate(rest)]
    found, lam, totals = system.bounded_accelerations(rest, system.k, laws, wide, dict(enumerate(known)))
    for k in reached:
        a_all[k] = known[k] + found[k]

    bounded = split_forces(laws, system.columns, totals)
    found = given_row_forces(model, kin, a_all)
    found = {k: [(n, bounded.get(n, x)) for n, x in rows] for k, rows in found.items()}
    in_wide = given_wide_forces(model, kin, a_all)
    in_wide |= {n: totals[WIDE, n] + each.law.force for n, each in wide.items()}
    needed = without_rows(model, kin, minus(rnea(model, q, v, a_all, f_ext), passive), found, in_wide)
    numbers, rows = system.numbers, system.rows
    if shared:
        numbers, rows, lam = shared.numbers, shared.rows, shared.multipliers(needed, lam)
    for row, x in zip(rows, lam, strict=True):
        needed = [f - row[k] * x if k in row else f for k, f in enumerate(needed)]
    found = {n: x for rows in found.values() for n, x in rows} | in_wide | dict(zip(numbers, lam, strict=True))
    rest = [x - tau[k] if k in free else x for k, x in enumerate(needed)]
    multipliers = eliminated_multipliers(model, kin, rest, found)
    return a_all, _given(model, at_masters(model, needed), tau, fd), multipliers


def _refuse_divided(model, fd):
    for c in model.couplings:
        follows, leads = (model.joint(name) in fd for name in c.joints)
        if follows != leads:
            one, other = c.joints if follows else reversed(c.joints)
            raise CouplingError(
                f"hybrid_dynamics: joint {one!r} is in forward and joint {other!r} is not, but they move "
                "together: name both or neither.",
                joint=c.joint,
                master=c.master,
            )
