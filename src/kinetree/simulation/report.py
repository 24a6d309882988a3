"""Reports of runs: findings with size, place and time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.algorithms.passive import joint_forces
from kinetree.html_text import preformatted
from kinetree.integrators.system import System, time_argument
from kinetree.simulation.contact_report import contact_findings, contact_notes, unsolved_energy
from kinetree.simulation.divergence import Finding, divergence
from kinetree.simulation.half_steps import half_steps
from kinetree.simulation.limits import bounded_coordinates
from kinetree.simulation.quadrature import accumulated, total
from kinetree.simulation.rounding import EPS, rounding

UNEXPLAINED = 0.01  # of the energy exchanged: less is not reported
QUATERNION = 1e-9  # of a quaternion's squared length
COUPLING = 1e-6  # [rad or m], the tolerance of algorithms
MOMENTUM = 1e-3  # of the largest momentum
COARSE = 1e-2  # tolerated change by half steps, relative to the motion
SATURATED = 0.05  # of the samples
DOUBTED = 10.0  # times the difference of sums over all samples and over every second one
STILL = 1e-6  # of the largest speed: a mechanism that moves no faster is at rest
AT_REST = 1e-3  # rad/s or m/s: a joint on its stop that is slower rests on it
UNLOADED = 1e-6  # of the largest force on a stop
TOGGLES, WINDOW = 8, 60  # so often a joint meets its stop again within so many samples: it bounces from step to step


@dataclass(frozen=True, slots=True)
class Report:
    """The findings of `Trajectory.report`.

    Attributes
    ----------
    opening : str
    findings : tuple of Finding
        The most serious first.
    energy_balance : str
        The table of the balance; empty if the run holds no energy.
    notes : tuple of str
        Remarks that are no findings: joints that rest on their stops.
    """

    opening: str
    findings: tuple[Finding, ...]
    energy_balance: str
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether no finding is serious."""
        return not any(finding.serious for finding in self.findings)

    _repr_html_ = preformatted

    def __str__(self) -> str:
        lines = [self.opening]
        if not self.findings:
            lines.append("Nothing is off: energy, momentum and constraints are accounted for.")
        lines += [f"{'!' if finding.serious else '-'} {finding.text}" for finding in self.findings]
        lines += self.notes
        return "\n".join([*lines, self.energy_balance] if self.energy_balance else lines)


def make_report(run) -> Report:
    """Examine a trajectory.

    Parameters
    ----------
    run : Trajectory

    Returns
    -------
    Report
    """
    opening = f"{run.model_name}: {run.duration:.6g} s with {run.integrator}, dt = {run.dt:g} s, {len(run)} samples" + (
        "; it ended early" if run.ended_early else ""
    )
    with np.errstate(all="ignore"):
        found = divergence(run) if run.metadata.failed else []
        if run.metadata.failed and not found:
            found = [Finding("failure", f"The run ended early: {run.metadata.failed}", None, float(run.time[-1]))]
        if run.metadata.interrupted:
            text = f"The run is partial: {run.metadata.interrupted}."
            found.append(Finding("interrupted", text, None, float(run.time[-1])))
        balance = run.energy_balance
        noise = rounding(run, balance.energies.values())
        checks = (_energy, _step, _stops, _saturation, _speed, _manifold, _momentum, _events)
        for check in checks:
            found += check(run, balance, noise)
        found += contact_findings(run)
    found.sort(key=lambda finding: not finding.serious)
    notes = (*_resting(run, balance, noise), *contact_notes(run))
    return Report(opening, tuple(found), balance.table(), notes)


def _energy(run, balance, noise):
    """Energy without a source, beyond a share of the energy exchanged.

    Losses of steps while a joint is on its soft stop count as the stop's, up to the loss of its damper; errors of sums
    over the samples are excluded.
    """
    scale, remainder = balance.scale, balance.remainder - _lost_at_stops(balance)
    off, least = np.abs(remainder), max(UNEXPLAINED * scale, noise.energy, unsolved_energy(run))
    if not off.max() > least:
        return
    doubt, source = _doubt(run, balance)
    if not (off - doubt).max() > least:
        apart = np.diff(run.time).max(initial=0.0)
        text = (
            f"Whether energy is accounted for is undecided: the samples are {apart:.3g} s apart, too far to sum "
            f"the power of {source!r} over them, which leaves {off.max():.2g} J unexplained. Record more often."
        )
        yield Finding("energy", text, None, float(run.time[int(np.argmax(off > least))]), serious=False)
        return
    n = int(np.argmax(off > least))
    k = _least_explained(run, max(n - 1, 0))
    worst = int(np.argmax(off))
    gained = "gained" if remainder[worst] > 0.0 else "lost"
    joint = run.coordinates.velocity_labels[k]
    every = run.metadata.every
    sparse = f" The samples are {every} steps apart, so the sums are coarse." if every > 1 else ""
    fix = "smaller tolerances" if run.steps is None else "a smaller dt, or an integrator of higher order"
    text = (
        f"Energy is not accounted for: {off[worst]:.3g} J {gained} without a source by t = {run.time[worst]:.6g} "
        f"s, {off[worst] / scale:.2g} of the energy exchanged; it passes {UNEXPLAINED:.0%} at "
        f"t = {run.time[n]:.6g} s, where the step errs most at joint {joint!r}. Try {fix}.{sparse}"
    )
    yield Finding("energy", text, joint, float(run.time[n]))


def _lost_at_stops(balance) -> np.ndarray:
    """Unexplained losses while stops took energy, up to the energy that they took; since the start, (T,) [J]."""
    if "stops" not in balance.energies or "stops" not in balance.works:
        return np.zeros(len(balance.time))
    taken = np.minimum(np.diff(total(balance.works["stops"])), 0.0)
    lost = np.clip(np.diff(balance.remainder), taken, 0.0)
    return np.concatenate(([0.0], np.cumsum(lost)))


def _doubt(run, balance) -> tuple[np.ndarray, str]:
    """Error bound of works that are sums over samples, since the start, (T,) [J], and the source of most of it.

    Two measures: the difference of the sums over all samples and over every second one; and, where there are steps
    between the samples, the work of changes of velocity that the accelerations at the samples do not explain, due to
    forces that act between them only.
    """
    time, found = balance.time, {}
    for name, power in balance.powers.items():
        work = total(accumulated(time, power))
        if len(time) < 3 or not np.array_equal(work, total(balance.works[name])):
            continue  # known better than from sums
        coarse = total(accumulated(time[::2], power[::2]))
        found[name] = np.interp(time, time[::2], np.maximum.accumulate(np.abs(coarse - work[::2])))
    if not found:
        return np.zeros(len(time)), ""
    source = max(found, key=lambda name: np.abs(total(balance.powers[name])).max())
    doubt = DOUBTED * sum(found.values())
    if run.steps is None or run.metadata.every > 1:
        speed, defect, inertia = _unexplained_velocities(run, slice(None))
        doubt[1:] += np.cumsum((inertia * defect * speed).sum(axis=1))
    return doubt, source


def _least_explained(run, n: int) -> int:
    """The velocity coordinate whose change from sample n to the next is least that of its accelerations, by energy."""
    n = min(n, len(run) - 2)
    if n < 0 or run.v.shape[1] < 2:
        return 0
    speed, defect, inertia = _unexplained_velocities(run, slice(max(n - 3, 0), min(n + 4, len(run))))
    return int(np.argmax((inertia * defect * speed).max(axis=0)))


def _unexplained_velocities(run, window: slice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Between samples: speeds, and changes of velocity not explained by the accelerations; the inertias."""
    v, a, t = run.v[window], run.a[window], run.time[window]
    defect = np.abs(np.diff(v, axis=0) - 0.5 * np.diff(t)[:, None] * (a[1:] + a[:-1]))
    n = (window.start or 0) + len(t) // 2
    inertia = np.diagonal(System(run.model).function("crba")(run.q[n], *time_argument(run.model, run.time[n])))
    return np.maximum(np.abs(v[1:]), np.abs(v[:-1])), defect, inertia


def _step(run, balance, noise):
    """The effect of half steps."""
    on_stop = np.zeros(run.v.shape, dtype=bool)  # joints that come to rest on soft stops do not matter
    for coordinates, force, at in joint_forces(run.model, list(run.q.T)):
        for k, depth in zip(coordinates, force.depth(at), strict=True):
            on_stop[:, k] |= depth != 0.0
    compared = half_steps(run, noise.velocity, on_stop)
    if compared is None or not compared.share > max(COARSE, compared.rounding):
        return
    joint = run.coordinates.velocity_labels[compared.entry]
    better = run.dt * min((COARSE / compared.share) ** (1.0 / max(compared.order, 1)), 0.5)
    text = (
        f"dt = {run.dt:g} s is large for this motion: half steps change the velocities by {compared.share:.2g} of "
        f"the largest ones within {compared.stretch:.3g} s, most at joint {joint!r}, half of that by "
        f"t = {compared.time:.6g} s. About {better:.1g} s would bring it to {COARSE:.0%}."
    )
    yield Finding("step", text, joint, compared.time, serious=compared.share > 10.0 * COARSE)


def _stops(run, balance, noise):
    """Joints that chatter at a stop, by more than rounding."""
    model = run.model
    for _, j, k in bounded_coordinates(model) if "stops" in balance.energies else ():
        x = run.q[:, j]
        excess = np.maximum(x - float(model.upper[k]), float(model.lower[k]) - x)
        clear = np.flatnonzero(np.abs(excess) > noise.velocity[k] * run.duration)
        beyond = excess[clear] > 0.0
        entries = clear[1:][beyond[1:] & ~beyond[:-1]]
        close = [n for n in range(len(entries) - TOGGLES) if entries[n + TOGGLES] - entries[n] <= WINDOW]
        if close:
            first = float(run.time[entries[close[0]]])
            joint = run.coordinates.velocity_labels[k]
            text = (
                f"Joint {joint!r} jitters at its stop from t = {first:.6g} s on: it meets it {len(entries)} "
                "times. A smaller dt, more limit_damping, or integrator='semi_implicit' removes it."
            )
            yield Finding("stop", text, joint, first)


def _saturation(run, balance, noise):
    """Joint forces that are at the same largest value repeatedly, or beyond the limit of the motor."""
    limits = np.asarray(run.model.effort_limit, dtype=float)
    # At rest a force that stays is no limit: only samples before the motion has ended count.
    speed = np.maximum.accumulate(np.abs(run.v).max(axis=1, initial=0.0)[::-1])[::-1]
    moves = speed > max(STILL * speed.max(initial=0.0), noise.velocity.max(initial=0.0))
    for k, joint in enumerate(run.coordinates.velocity_labels):
        size = np.abs(run.tau[:, k])
        top = size.max(initial=0.0)
        if top > limits[k] * (1.0 + 1e-9) + noise.force:
            time = float(run.time[np.argmax(size > limits[k] * (1.0 + 1e-9) + noise.force)])
            message = (
                f"The force at joint {joint!r} goes beyond the model's effort_limit of {limits[k]:g} from "
                f"t = {time:.6g} s on, up to {top:.4g}: no motor gives that. Clip it in the controller."
            )
            yield Finding("saturation", message, joint, time, serious=False)
            continue
        at_top = (size >= top * (1.0 - 1e-12)) & moves
        if run.metadata.controlled and top > noise.force and SATURATED < at_top.mean() and np.ptp(size) > 1e-6 * top:
            time = float(run.time[np.argmax(at_top)])
            message = (
                f"The controller saturates at joint {joint!r}: {top:.4g} in {at_top.mean():.0%} of the samples, "
                f"first at t = {time:.6g} s."
            )
            yield Finding("saturation", message, joint, time, serious=False)


def _speed(run, balance, noise):
    """Joints faster than their motors."""
    limits = np.asarray(run.model.velocity_limit, dtype=float)
    over = np.abs(run.v) > limits * (1.0 + 1e-9) + noise.velocity
    if not over.any():
        return
    n, k = (int(x) for x in np.argwhere(over)[0])
    joint = run.coordinates.velocity_labels[k]
    fast = int(over.any(axis=0).sum())
    who = f"{joint!r} and {fast - 1} other{'s' if fast > 2 else ''} move" if fast > 1 else f"{joint!r} moves"
    text = (
        f"Joint {who} faster than the model's velocity_limit ({limits[k]:g}), from "
        f"t = {run.time[n]:.6g} s on. The dynamics do not use it."
    )
    yield Finding("velocity", text, joint, float(run.time[n]), serious=False)


def _manifold(run, balance, noise):
    """Quaternions off unit length, violated couplings."""
    for kind, error, most, what in (
        ("quaternion", balance.quaternion_error, QUATERNION, "the squared length of a quaternion is off by"),
        (
            "coupling",
            balance.coupling_error,
            max(COUPLING, 16.0 * EPS * np.abs(run.q).max(initial=0.0)),
            "a coupling is off by",
        ),
    ):
        if error.max(initial=0.0) > most:
            t = float(run.time[int(np.argmax(error > most))])
            text = f"The state left its manifold: {what} {error.max():.3g}, more than {most:g} from t = {t:.6g} s on."
            yield Finding(kind, text, None, t)


def _momentum(run, balance, noise):
    """Momentum of floating mechanisms, beyond that of weight and wrenches."""
    if balance.momentum_error is None:
        return
    for what, part, least in (
        ("angular", slice(0, 3), noise.angular_momentum),
        ("linear", slice(3, 6), noise.linear_momentum),
    ):
        error = np.linalg.norm(balance.momentum_error[:, part], axis=1)
        size = np.linalg.norm(balance.momentum[:, part], axis=1).max()
        moving = float(np.sqrt(2.0 * run.kinetic_energy.max() * max(float(run.model.total_mass), 1e-300)))
        scale = max(size, moving if what == "linear" else 1e-3 * moving)
        if error.max() > max(MOMENTUM * scale, least):
            t = float(run.time[int(np.argmax(error > MOMENTUM * scale))])
            text = (
                f"The {what} momentum drifts by {error.max() / scale:.2g} of its size without a cause, more than "
                f"{MOMENTUM:g} from t = {t:.6g} s on: the integrator's error. A smaller dt or a higher order helps."
            )
            yield Finding("momentum", text, None, t, serious=error.max() > 10.0 * MOMENTUM * scale)


def _events(run, balance, noise):
    """Impulse events that added energy."""
    gains = [impulse for impulse in balance.events if impulse.energy > max(UNEXPLAINED * balance.scale, noise.energy)]
    if not gains:
        return
    first = gains[0]
    text = f"The event {first.label!r} at t = {first.time:.6g} s gave {first.energy:.3g} J to the mechanism."
    yield Finding("event", text, first.joint or None, first.time, serious=False)


def _resting(run, balance, noise) -> list[str]:
    """A sentence on the joints that rest on their stops at the end of a run; none if none does.

    Parameters
    ----------
    run : Trajectory
    balance : EnergyBalance
    noise : Rounding

    Returns
    -------
    list of str
    """
    c, force = run.coordinates, np.zeros(run.v.shape[1])
    if "force.stops" in balance.others:  # hard ones, which are no part of the model as simulated
        force = balance.others["force.stops"][-1].copy()
    for coordinates, stop, at in joint_forces(run.model, run.q[-1].tolist()):
        if stop.beyond_limits:
            force[list(coordinates)] = stop.elastic(at)
    least = max(noise.force, UNLOADED * float(np.abs(force).max(initial=0.0)))
    found = [
        f"{c.velocity_labels[k]!r} ({'lower' if force[k] > 0.0 else 'upper'}, {abs(force[k]):.3g} {c.force_units[k]})"
        for k in np.flatnonzero((np.abs(force) > least) & (np.abs(run.v[-1]) < AT_REST))
    ]
    return [f"At rest on their stops at the end, with the stops' forces: {', '.join(found)}."] if found else []
