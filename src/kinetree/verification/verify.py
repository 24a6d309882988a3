"""``kt.verify``: the dynamics of a model by independent methods on random states, compared."""

from __future__ import annotations

import time
from collections.abc import Callable

from kinetree.arguments import a_model, a_seed, a_truth_value, a_whole_number, checked, progress_bar
from kinetree.errors import ModelError
from kinetree.model.planar import refuse_planar
from kinetree.verification import (
    bounded_checks,
    data_checks,
    derivative_methods,
    engines,
    force_checks,
    identities,
    joint_identities,
    loop_checks,
    loop_derivative_checks,
    methods,
    source,
    time_checks,
    variants,
)
from kinetree.verification.check import Check
from kinetree.verification.diagnosis import findings
from kinetree.verification.report import Verification
from kinetree.verification.states import States


def all_checks() -> list[Check]:
    """Every line of the table, in its order."""
    return [
        *source.CHECKS, *data_checks.CHECKS, *joint_identities.CHECKS, *methods.checks(), *identities.CHECKS,
        *force_checks.CHECKS, *loop_checks.checks(), *bounded_checks.CHECKS, *time_checks.CHECKS,
        *derivative_methods.CHECKS, *loop_derivative_checks.CHECKS, *variants.CHECKS, *engines.CHECKS,
    ]  # fmt: skip


@checked(
    model=a_model, states=a_whole_number, seed=a_seed, fast=a_truth_value, modified=a_truth_value,
    progress=progress_bar,
)  # fmt: skip
def verify(
    model,
    states: int = 8,
    *,
    seed: int = 0,
    fast: bool = False,
    modified: bool = False,
    progress: Callable[[int, int, str], None] | bool | None = None,
) -> Verification:
    """Compute every quantity by all independent methods, on random states, and report deviations beyond rounding.

    Parameters
    ----------
    model : Model
    states : int
        Random states within limits; the same for the same seed.
    seed : int
    fast : bool
        Compile nothing: the algorithms are interpreted, on all states at once. For big models.
    modified : bool
        The model differs from its file on purpose (a payload, surgery). By default a difference is a finding, with the
        verdict "changed".
    progress : bool or callable, optional
        True or False force a bar on stderr on or off; by default there is one in terminals. A callable is called
        with ``(done, total, what)``.

    Returns
    -------
    Verification
        Iterable rows; ``ok``, ``off``, ``findings``, ``to_json()``; its text is a table.

    Raises
    ------
    ModelError
        The model has no bodies or ``states`` is 0.
    UnsupportedError
        The model is planar; ``model.spatial`` is the same in three dimensions.

    Notes
    -----
    Tolerances are not chosen: they are bounds of the rounding of a method, 2^-53 for each of about 16 operations per
    body on the longest path, times the sizes of all terms that are summed, times the sizes of the entries of M^-1 where
    M is solved with (`kinetree.verification.terms`); for finite differences also the difference of two steps.
    Source: Featherstone (2008), chapters 5 to 7 and 9, for the methods; Higham (2002), section 3.1, for sums.

    Examples
    --------
    >>> import kinetree as kt
    >>> result = kt.verify(kt.models.double_pendulum(), fast=True)
    >>> result.ok
    True
    >>> max(result, key=lambda row: row.ratio or 0.0).ratio < 1.0
    True
    """
    if model.nb < 2 or states < 1:
        raise ModelError(f"verify: model {model.name!r} has {model.nb - 1} bodies and {states} states; "
                         "expected at least one of each.", model=model.name, states=states)  # fmt: skip
    refuse_planar(model, "verify")
    from kinetree.simulation.progress import Progress

    start, rows, checks = time.perf_counter(), [], all_checks()
    report = progress if callable(progress) else None
    bar = Progress(f"verifying {model.name}", len(checks), False if report else progress)
    try:
        s = States(model, states, seed, compiled=not fast, modified=modified)
        for done, check in enumerate(checks):
            what = f"{check.quantity}: {check.method}"
            if report:
                report(done, len(checks), what)
            bar.tick(done, what)
            rows.append(check.row(s))
    finally:
        bar.close()
    condition = float(s.condition.max()) if model.nv else 1.0
    seconds = time.perf_counter() - start
    return Verification(
        model.name, tuple(rows), states, seed, fast, condition, seconds, findings(rows, checks), model.unsupported
    )
