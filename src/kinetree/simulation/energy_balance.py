"""The energy balance of a run: energy by kind, power and work of every source, momentum, drift, remainder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from kinetree.algorithms.element_powers import element_powers
from kinetree.algorithms.force_elements import dissipative_forces, element_energies
from kinetree.algorithms.manifold import may_change_chart
from kinetree.algorithms.passive import joint_forces
from kinetree.algorithms.spec import ALGORITHMS
from kinetree.compiler.function import Function
from kinetree.errors import KinetreeError
from kinetree.forces.registry import JOINT_FORCES
from kinetree.integrators.driven_power import driven_powers
from kinetree.integrators.system import System, time_argument
from kinetree.integrators.user_code import copied, lock
from kinetree.model.planar import PlanarModel
from kinetree.simulation.channels import BALANCE
from kinetree.simulation.components import Channel, Components, component_name
from kinetree.simulation.contacts import FORCE, world_wrenches
from kinetree.simulation.interpolation import arriving_velocities
from kinetree.simulation.quadrature import accumulated, entered, total
from kinetree.simulation.rounding import rounding

IMPULSES = "impulses"  # the source of the energy of events
NEGLIGIBLE = 1e-12  # of the energy exchanged: rounding, which the table leaves out


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class EnergyBalance:
    """Energies by kind, power and work of every source along a run, and the unexplained part.

    ``energy(t) - energy(0) = sum of works(t) + remainder(t)``. Powers and works are positive where energy
    enters the mechanism, so losses are negative.

    Attributes
    ----------
    time : (T,) array
        [s]
    energies : dict of str to (T,) array
        [J]: "kinetic" of the bodies, "armature", "gravity", "springs", "stops"; only kinds that are there.
    powers : dict of str to (T,) or (T, nv) array
        [W]: "controller" (or "joint forces", if they were given), "disturbance", "damping", "dry friction", "stops",
        by velocity coordinate; "external wrenches", "prescribed motions"; those of components.
    works : dict of str to (T,) or (T, nv) array
        Energy that entered by each source since the start [J]; by "impulses" from changes of state in an instant.
    remainder : (T,) array
        The unexplained part [J]: the error of the integrator, and of sums over samples that lie far apart.
    momentum : (T, 6) array
        Of the bodies, about the world's origin: [angular; linear] [kg m^2/s, kg m/s]. Planar models have 3 columns.
    momentum_error : (T, 6) array or None
        For floating mechanisms: momentum not explained by weight and wrenches. None for others, which exchange momentum
        with the world.
    quaternion_error, coupling_error : (T,) array
        Largest deviation of a quaternion's squared length from one; of a coupling.
    others : dict of str to array
        Channels of components that are no energies.
    counts : dict of str to int
        "steps", "rejections", "evaluations", as far as available.
    events : tuple of ImpulseEvent
        Changes of state in an instant.
    labels : tuple of str
        Names of the velocity coordinates, for the columns of powers and works.
    rounding : float
        Bound of the accumulated rounding of energies over the run [J]: smaller ones are meaningless.
    """

    time: np.ndarray
    energies: Mapping[str, np.ndarray]
    powers: Mapping[str, np.ndarray]
    works: Mapping[str, np.ndarray]
    remainder: np.ndarray
    momentum: np.ndarray
    momentum_error: np.ndarray | None
    quaternion_error: np.ndarray
    coupling_error: np.ndarray
    others: Mapping[str, np.ndarray]
    counts: Mapping[str, int]
    events: tuple
    labels: tuple[str, ...]
    units: Mapping[str, str] = field(default_factory=dict)
    rounding: float = 0.0

    def __post_init__(self) -> None:
        lock(*self.channels.values())

    @property
    def energy(self) -> np.ndarray:
        """Total energy [J], shape (T,)."""
        return sum(self.energies.values(), np.zeros(len(self.time)))

    @property
    def scale(self) -> float:
        """The energy exchanged in this run [J], the scale of the remainder."""
        exchanged = [np.ptp(energy) for energy in self.energies.values()]
        exchanged += [np.max(np.abs(total(work)), initial=0.0) for work in self.works.values()]
        kinetic = max(np.max(self.energies[name], initial=0.0) for name in ("kinetic", "armature"))
        return float(max([*exchanged, kinetic]))

    @property
    def negligible(self) -> float:
        """Negligible energy [J]: rounding, of the sums or of the run."""
        return max(NEGLIGIBLE * self.scale, self.rounding)

    @property
    def channels(self) -> dict[str, np.ndarray]:
        """All arrays by name: "energy.kinetic", "power.damping", "work.damping", "momentum", ..."""
        groups = {"energy": self.energies, "power": self.powers, "work": self.works}
        found = {f"{kind}.{name}": x for kind, group in groups.items() for name, x in group.items()}
        single = {name: getattr(self, name) for name in BALANCE if name not in groups}
        return found | {name: x for name, x in single.items() if x is not None} | dict(self.others)

    def work(self, source: str, joint: str | None = None) -> float:
        """Energy that a source gave over the whole run [J], or gave at one velocity coordinate.

        Parameters
        ----------
        source : str
            A name in ``works``.
        joint : str, optional
            A name in ``labels``.

        Returns
        -------
        float
        """
        if source not in self.works:
            return 0.0
        last = self.works[source][-1]
        if joint is None:
            return float(np.sum(last))
        return float(last[self.labels.index(joint)])

    def table(self) -> str:
        """The balance over the whole run as text."""
        energy = self.energy
        rows = [("energy at the start", energy[0], "")]
        for name, work in self.works.items():
            last = work[-1]
            if name == IMPULSES:
                rows.append((name, float(last), f"{len(self.events)} in all"))
            elif np.abs(work).max(initial=0.0) > self.negligible:
                rows.append((name, float(np.sum(last)), self._largest(last)))
        rows += [("remainder", self.remainder[-1], "error of the integration"), ("energy at the end", energy[-1], "")]
        width = max(len(name) for name, *_ in rows)
        lines = [f"{name:<{width}}  {value + 0.0: .6e} J  {more}".rstrip() for name, value, more in rows]
        kinds = ", ".join(
            f"{name} {x[0]:.4g} to {x[-1]:.4g}"
            for name, x in self.energies.items()
            if np.abs(x).max(initial=0.0) > self.negligible
        )
        lines.append(f"{'by kind':<{width}}   {kinds or 'none'} J")
        counts = ", ".join(f"{count} {name}" for name, count in self.counts.items() if count)
        return "\n".join([*lines, f"{'cost':<{width}}   {counts}"] if counts else lines)

    def __str__(self) -> str:
        return self.table()

    def __repr__(self) -> str:
        return f"Energy balance of {len(self.time)} samples: {', '.join(self.works)}"

    def _largest(self, work) -> str:
        """The joints that most of a work belongs to."""
        if np.ndim(work) == 0 or len(work) < 2 or not np.any(work):
            return ""
        order = np.argsort(-np.abs(work))[:2]
        return "most at " + ", ".join(f"{self.labels[k]} {work[k]:.3g}" for k in order if work[k])


def make_energy_balance(run) -> EnergyBalance:
    """The energy balance of a trajectory that has its model.

    Parameters
    ----------
    run : Trajectory

    Returns
    -------
    EnergyBalance

    Notes
    -----
    Source: the power theorem, d(T + U)/dt = tau . v + f . sigma + sum f_i . V_i - v . D v, with D the dissipative
    coefficients of `passive_terms` and f . sigma the `prescribed_power`. Joint forces that are constant over a step do
    the work tau . (q_n+1 - q_n), exactly, and so do the dissipative forces -D(q_n, v_n) v_n+1 of semi-implicit Euler;
    all other powers are integrated by cubics through four samples.
    """
    model, metadata, time = run.model, run.metadata, run.time
    if model is None:
        raise KinetreeError(
            "Trajectory.energy_balance needs the model: load it with Trajectory.load(path, model=model)."
        )
    system, now = System(model), time_argument(model, time)
    energies, channels = _energies(run), _sources(run, system, now)
    others, units = _component_channels(run, energies, channels)
    powers = {key: channel.values for key, channel in channels.items()}
    works = {
        key: accumulated(time, channel.values) if channel.work is None else channel.work
        for key, channel in channels.items()
    }
    if metadata.impulses:
        works[IMPULSES] = entered(time, [(x.time, x.energy) for x in metadata.impulses])
    energy = sum(energies.values())
    remainder = energy - energy[0] - sum((total(work) for work in works.values()), np.zeros(len(time)))
    momentum = system.function("momentum")(run.q, run.v, *now)
    return EnergyBalance(
        time=time,
        energies=energies,
        powers=powers,
        works=works,
        remainder=remainder,
        momentum=momentum,
        momentum_error=_momentum_error(model, run, momentum),
        quaternion_error=_quaternion_error(model, run.q),
        coupling_error=_coupling_error(model, run.q),
        others=others,
        counts=dict(metadata.counts),
        events=metadata.impulses,
        labels=run.coordinates.velocity_labels,
        units=units,
        rounding=rounding(run, energies.values()).energy,
    )


def _sources(run, system, now) -> dict[str, Channel]:
    """Power of each source: passive forces and elements, joint forces, wrenches, prescribed motions."""
    model, metadata, time, v = run.model, run.metadata, run.time, run.v
    channels = _passive_channels(run) | _element_channels(run)
    commanded, name = run.tau, "controller" if metadata.controlled else "joint forces"
    if metadata.disturbance is not None:
        commanded = commanded - metadata.disturbance
        channels["disturbance"] = Channel("power", metadata.disturbance * v)
    if np.any(commanded) or metadata.controlled:
        work = _constant_force_work(system, run, commanded) if metadata.constant_tau else None
        channels = {name: Channel("power", commanded * v, work=work)} | channels
    if metadata.wrenches is not None:
        power = _wrench_power(model, run, now, metadata.wrenches, v)
        work = None
        if metadata.constant_wrenches:  # constant from one sample to the next: by the mean of the velocities at both
            arriving = arriving_velocities(time, v, run.events)
            later = _wrench_power(model, run, now, np.roll(metadata.wrenches, 1, axis=0), arriving)
            work = _sums(0.5 * np.diff(time)[:, None] * (power[:-1] + later[1:])[:, None])[:, 0]
        channels["external wrenches"] = Channel("power", power, work=work)
    if model.time_dependent:
        work = metadata.driven_work
        work = None if work is None else (work - work[0])[:, 0]
        channels["prescribed motions"] = Channel("power", _driven_power(run, now), work=work)
    return channels


def _driven_power(run, now) -> np.ndarray:
    """Power of joints that depend on time, (T,)."""
    model = run.model
    forces = () if run.metadata.wrenches is None else (run.metadata.wrenches,)
    touching = [x.values for x in run.extra if x.name == FORCE]
    if touching and model.n_contacts:
        w, given = np.concatenate((run.v, run.x), axis=1), (*now, *forces, *([run.u] if model.nu else ()))
        return driven_powers(System(model, bool(forces)), run.q, w, run.a, *touching, given).sum(axis=-1)
    power = System(model, bool(forces)).function("prescribed_power")(run.q, run.v, run.a, *now, *forces)
    return power - sum(beyond for _, beyond in _element_powers(run)) if model.laws else power


def _component_channels(run, energies: dict, channels: dict) -> tuple[dict, dict]:
    """Sort the channels of components; those that are no energy, and their units."""
    others, units = {}, {}
    for component in Components(run.metadata.components).having("channels"):
        for label, channel in component.channels(run).items():
            work = None if channel.work is None else copied(channel.work)
            channel = Channel(channel.kind, copied(channel.values), channel.unit, work)
            key = label if label not in channels else f"{component_name(component)}: {label}"
            if channel.kind == "power":
                channels[key] = channel
            elif channel.kind == "energy":
                energies[key] = channel.values
            else:
                others[key], units[key] = channel.values, channel.unit
    return others, units


def _energies(run) -> dict[str, np.ndarray]:
    """Energy by kind, only kinds that the model can hold, but for motion and gravity."""
    model, q = run.model, list(run.q.T)
    armature = 0.5 * run.v**2 @ np.asarray(model.armature, dtype=float)
    found = {"kinetic": run.kinetic_energy - armature, "armature": armature, "gravity": run.potential_energy}
    stored = {kind.energy_channel: np.zeros(len(run)) for kind in JOINT_FORCES if kind.energy_channel}
    for _, force, at in joint_forces(model, q):
        if force.energy_channel:
            stored[force.energy_channel] = stored[force.energy_channel] + force.energy(at)
    for element, energy in zip(model.laws, element_energies(model.at(run.time), q) if model.laws else (), strict=True):
        stored[f"force {element.name}"] = energy
    return found | {name: energy for name, energy in stored.items() if np.any(energy)}


def _passive_channels(run) -> dict[str, Channel]:
    """Powers that forces of joints dissipate, by velocity coordinate."""
    model, time, v = run.model, run.time, run.v
    parts = {kind.power_channel: np.zeros_like(v) for kind in JOINT_FORCES if kind.power_channel}
    beyond = {name: np.zeros_like(v) for name in parts}
    for coordinates, force, at in joint_forces(model, list(run.q.T), list(v.T)):
        for k, d, depth in zip(coordinates, force.dissipative(at), force.depth(at), strict=True):
            if force.power_channel:
                parts[force.power_channel][:, k] += d
                beyond[force.power_channel][:, k] += np.abs(depth)
    channels = {name: Channel("power", -d * v**2) for name, d in parts.items() if np.any(d * v)}
    euler = getattr(run.metadata.method, "name", None) in ("semi_implicit", "time_stepping") and run.metadata.every == 1
    if euler and not any(getattr(component, "stops", False) for component in run.metadata.components):
        displacement = np.diff(time)[:, None] * arriving_velocities(time, v, run.events)[1:] ** 2
        return {name: replace(x, work=_sums(-parts[name][:-1] * displacement)) for name, x in channels.items()}
    for name in channels:
        if np.any(beyond[name]):
            work = _stop_work(time, v, parts[name], beyond[name])
            channels[name] = replace(channels[name], work=work)
    return channels


def _element_channels(run) -> dict[str, Channel]:
    """Powers of force elements that no stored energy explains, by velocity coordinate."""
    model, q, v = run.model, list(run.q.T), list(run.v.T)
    if model.time_dependent and model.laws:
        powers = {f"force {e.name}": power for e, (power, _) in zip(model.laws, _element_powers(run), strict=True)}
        return {name: Channel("power", np.broadcast_to(x, len(run))) for name, x in powers.items() if np.any(x)}
    now = model.at(run.time)
    columns = dissipative_forces(now, q, v, list(run.x.T), list(run.u.T)) if model.laws else ()
    forces = (np.stack([np.broadcast_to(x, len(run)) for x in tau], axis=1) for tau in columns)
    powers = {f"force {e.name}": f * run.v for e, f in zip(model.laws, forces, strict=True)}
    return {name: Channel("power", power) for name, power in powers.items() if np.any(power)}


def _element_powers(run) -> list[tuple]:
    now = run.model.at(run.time)
    return element_powers(now, list(run.q.T), list(run.v.T), list(run.x.T), list(run.u.T))


def _sums(gains: np.ndarray) -> np.ndarray:
    """Sums of the gains from each sample to the next, since the first."""
    return np.vstack((np.zeros(gains.shape[1]), np.cumsum(gains, axis=0)))


def _stop_work(time, v, damping, beyond) -> np.ndarray:
    """Work of the dampers of stops: where a joint meets or leaves its stop between two samples, only from there on.

    The part of the interval in contact is the displacement beyond the limit over the speed.
    """
    h, v0, v1, d0, d1 = np.diff(time)[:, None], v[:-1], v[1:], damping[:-1], damping[1:]
    displacement, speed = np.maximum(beyond[:-1], beyond[1:]), 0.5 * np.abs(v0 + v1)
    part = np.where((d0 > 0.0) & (d1 > 0.0), 1.0, np.minimum(displacement / np.maximum(speed * h, 1e-300), 1.0))
    return _sums(-0.5 * np.maximum(d0, d1) * (v0**2 + v1**2) * part * h)


def _constant_force_work(system, run, constant) -> np.ndarray | None:
    """Work of joint forces that are constant between samples: force times displacement."""
    model = system.model
    if len(run) < 2 or any(may_change_chart(model, i) for i in model.outward()):
        return None
    displacements = system.function("difference")(run.q[:-1], run.q[1:])
    return _sums(constant[:-1] * displacements)


def _wrench_power(model, run, now, wrenches, v) -> np.ndarray:
    """Power of external wrenches at the positions of the samples: the sum of f_i . V_i."""
    if isinstance(model, PlanarModel):
        return -np.sum(System(model).function("external_forces")(run.q, wrenches) * v, axis=1)
    twists = Function(ALGORITHMS["body_velocities"], model, (), {"reference": "world"}, False)
    return np.einsum("tbk,tbk->t", twists(run.q, v, *now), wrenches)


def _momentum_error(model, run, momentum) -> np.ndarray | None:
    """Momentum that weight and wrenches do not explain, of a mechanism that floats as a whole."""
    roots = [i for i in model.outward() if not model.parent[i]]
    if isinstance(model, PlanarModel) or model.time_dependent or not roots:
        return None
    for i in roots:
        own = model.v_slice[i]
        acted_on = model.joint_forces[i] or np.any(np.asarray(model.armature)[own])
        if own.stop - own.start != 6 or np.any(run.tau[:, own]) or acted_on or model.laws:
            return None
    weight = np.zeros((len(run), 6))
    gravity = np.array(list(model.gravity), dtype=float)
    if np.any(gravity):
        weight[:, 3:] = float(model.total_mass) * gravity
        weight[:, :3] = np.cross(System(model).function("center_of_mass")(run.q), weight[:, 3:])
    if run.metadata.wrenches is not None:
        weight = weight + run.metadata.wrenches[:, 1:].sum(axis=1)
    error = momentum - momentum[0] - accumulated(run.time, weight)
    if run.metadata.contacts:
        if run.metadata.every > 1:  # forces between the samples are unknown
            return None
        error -= _sums(world_wrenches(run)[:-1] * np.diff(run.time)[:, None])
    return error


def _quaternion_error(model, q) -> np.ndarray:
    worst = np.zeros(len(q))
    for i in model.outward():
        for defect in model.joints[i].defect(model.q_of(i, list(q.T))):
            worst = np.maximum(worst, np.abs(defect))
    return worst


def _coupling_error(model, q) -> np.ndarray:
    worst = np.zeros(len(q))
    for c in model.couplings:
        joint, master = (q[:, model.q_index(name).start] for name in c.joints)
        worst = np.maximum(worst, np.abs(joint - c.ratio * master - c.offset))
    return worst
