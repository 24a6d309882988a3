"""The contact problem of a time step: rows, free rates and targets, for solvers outside of compiled code."""

from __future__ import annotations

from kinetree.algorithms.bounded_rows import row_laws, wide_rows
from kinetree.algorithms.complete import COMPLETE
from kinetree.algorithms.contacts import detect
from kinetree.algorithms.free_step import free_step, normal_target
from kinetree.algorithms.spec import algorithm


@algorithm(
    inputs="q v tau dt",
    optional="f_ext x u",
    outputs={
        "rows": ("n_impulses", "nv"),
        "rates": ("n_impulses",),
        "responses": ("n_impulses", "nv"),
        "velocities": ("nv",),
        "targets": ("n_contacts",),
        "compliance": ("n_contacts",),
        "laws": ("n_impulses", "4"),
    },
    domains=COMPLETE,
    symbols={
        "rows": "W of each impulse, (t1, t2, n) of each contact, then rows with bounded forces: the Delassus matrix is "
        "``W W^T`` [kg^-1/2, or (kg m^2)^-1/2].",
        "rates": "Rates of the rows at the end of the step without impulses [m/s or rad/s].",
        "responses": "Change of the joint velocities by a unit of each impulse [1/kg, 1/(kg m)].",
        "velocities": "Joint velocities at the end of the step without impulses [rad/s or m/s].",
        "targets": "Least normal rates at the end of the step [m/s].",
        "compliance": "Of the normals [1/kg].",
        "laws": "Of bounded rows: largest impulse of friction, the rate at which it sticks, least and greatest rate "
        "[N s or N m s; m/s or rad/s].",
    },
)
def contact_terms(model, q, v, tau, dt, f_ext=None, x=None, u=None):
    """Rows, free rates and targets of the impulses of a time step.

    Notes
    -----
    Source: Featherstone (2008), eq. 11.23-11.36 (``M = T^T H^-1 T`` by the LTDL factors of H), with the impulses of a
    step for forces; rows of loops are eliminated (eq. 8.3), so that ``W W^T`` is that of the closed mechanism. The step
    is that of `contact_step`: passive forces at its end.

    See Also
    --------
    contact_jacobian

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> ball = kt.models.free_shape("sphere", 0.1).with_contacts(ground=True)
    >>> still = np.zeros(6)
    >>> with kt.interpreted():
    ...     terms = kt.collision.contact_terms(ball, [0, 0, 0.1, 1, 0, 0, 0], still, still, 0.01)
    >>> rows, rates = terms[:2]
    >>> rates.round(12).tolist()  # it would fall
    [0.0, 0.0, -0.0981]
    >>> np.diag(rows @ rows.T).round(9).tolist()  # 7/2 and 1 of 1/m, m = 4.18879 kg
    [3.5, 3.5, 1.0]
    """
    step = free_step(model, q, v, tau, dt, f_ext, x, u)
    contacts = detect(model, step.kin)
    rows = [row for c in contacts for row in c.rows]
    laws = [[0.0] * 4 for _ in rows]
    rates = [rate for c in contacts for rate in c.rates(step.predicted)]
    bounded = {n: ({k: 1.0}, step.predicted[k], law) for k, n, law in _single(model, step, dt)}
    for n, each in wide_rows(model, step.kin, dt, step.predicted).items():
        bounded[n] = each.row, each.rate(step.predicted), each.law
    for n in sorted(bounded):
        row, rate, law = bounded[n]
        rows.append(row)
        rates.append(rate)
        laws.append([law.resistance, law.rest, law.lower, law.upper])
    W = [step.space.row(row) for row in rows]
    responses = [step.space.velocities([w.get(m, 0.0) for m in range(len(step.space.scale))]) for w in W]
    goals = [
        normal_target(c.pair, c.gap, dt, c.rates(step.before)[2], c.rates(step.predicted)[2]) for c in contacts
    ]
    dense = [[w.get(m, 0.0) for m in range(model.nv)] for w in W]
    return dense, rates, responses, step.predicted, [x for x, _ in goals], [x for _, x in goals], laws


def _single(model, step, dt):
    """Coordinate, number and law of the bounded rows of single velocities."""
    for k, found in row_laws(model, step.kin, dt, step.predicted).items():
        for n, law in found:
            yield k, n, law
