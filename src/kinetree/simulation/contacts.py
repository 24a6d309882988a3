"""Contacts of a run: gaps, points and forces of all candidate points over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from kinetree.arguments import a_name, checked
from kinetree.collision.axes import contact_axes
from kinetree.errors import KinetreeError, unknown_name
from kinetree.integrators.system import System, time_argument
from kinetree.simulation.channels import Quantity, frozen
from kinetree.spatial import Vector3

FORCE = "contact_force"
AXES = ("t1", "t2", "n")
PLACES = {  # channels that follow from the positions: the unit, the columns of each candidate, the meaning
    "contact_gap": ("m", ("",), "gaps of candidate points of contact"),
    "contact_point": ("m", (".x", ".y", ".z"), "candidate points of contact, world coordinates"),
    "contact_normal": ("1", (".x", ".y", ".z"), "normals of contacts from the first to the second body, world axes"),
}


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate point of contact of a run.

    Attributes
    ----------
    label : str
        As in ``model.contact_labels``.
    pair : str
        Name of its pair of shapes.
    first, second : str
        Names of the bodies, "world" for the ground; forces act on the second, the opposite ones on the first.
    friction : float
        Coefficient of friction [1].
    """

    label: str
    pair: str
    first: str
    second: str
    friction: float


@dataclass(frozen=True, slots=True)
class Touch:
    """An interval in which a candidate point was in contact.

    Attributes
    ----------
    label : str
        Of the candidate point.
    begin, end : float
        First sample with a force, and the first one without [s]; the end of the run where the contact lasts.
    largest : float
        Largest normal force [N].
    impulse : float
        Of the normal force over the interval [N s].
    """

    label: str
    begin: float
    end: float
    largest: float
    impulse: float


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Contacts:
    """Contact of a run: ``run.contacts``. Arrays have a row for each sample and a column for each candidate point.

    ``run.contacts["foot"]`` are those of a candidate point, a pair of shapes or a body.

    Attributes
    ----------
    time : (T,) array
        Sample times [s].
    candidates : tuple of Candidate
    forces : (T, n, 3) array
        Forces on the second bodies along the axes (t1, t2, n) of each contact [N]: two tangents and the normal, from
        the first to the second body. A force is the mean one over the step that begins at the sample.
    gaps : (T, n) array
        Distances of the surfaces [m], negative where they penetrate.
    points : (T, n, 3) array
        The middle between both surfaces, world coordinates [m].
    normals : (T, n, 3) array
        World axes [1].

    Examples
    --------
    >>> import kinetree as kt
    >>> run = kt.simulate(kt.models.free_shape("box"), duration=0.2, ground=True)
    >>> len(run.contacts), round(float(run.contacts.normal_forces[-1].sum()), 6)  # the weight of 1 kg
    (4, 9.81)
    """

    time: np.ndarray
    candidates: tuple[Candidate, ...]
    forces: np.ndarray
    gaps: np.ndarray
    points: np.ndarray
    normals: np.ndarray

    def __len__(self) -> int:
        return len(self.candidates)

    def __repr__(self) -> str:
        return f"<contacts of {len(self)} candidate points over {len(self.time)} samples>"

    def __str__(self) -> str:
        """A line for each candidate point that was in contact."""
        width = max((len(x) for x in self.labels), default=0)
        lines = []
        for k, label in enumerate(self.labels):
            force, touching = self.normal_forces[:, k], self.touching[:, k]
            if touching.any():
                mean = float(force[touching].mean())
                lines.append(f"{label:<{width}}  {touching.mean():5.0%} of the samples, mean {mean:.4g} N, largest "
                             f"{force.max():.4g} N, least gap {self.gaps[:, k].min():.3g} m")  # fmt: skip
        rest = len(self) - len(lines)
        return "\n".join([*lines, f"{rest} candidate points never touch"] if rest else lines)

    @checked(name=a_name)
    def __getitem__(self, name: str) -> Contacts:
        """The contacts of a candidate point, of all points of a pair, or of a body."""
        chosen = [k for k, x in enumerate(self.candidates) if name in (x.label, x.pair, x.first, x.second)]
        if not chosen:
            bodies = dict.fromkeys(body for x in self.candidates for body in (x.second, x.first))
            raise unknown_name("contact or body", name, (*self.labels, *bodies), "the contacts of this run")
        return Contacts(
            self.time, tuple(self.candidates[k] for k in chosen),
            *(frozen(x[:, chosen]) for x in (self.forces, self.gaps, self.points, self.normals)),
        )  # fmt: skip

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the candidate points."""
        return tuple(x.label for x in self.candidates)

    @property
    def normal_forces(self) -> np.ndarray:
        """Normal forces, not negative, shape (T, n) [N]."""
        return self.forces[..., 2]

    @property
    def friction_forces(self) -> np.ndarray:
        """Lengths of the tangential forces, shape (T, n) [N]."""
        return np.hypot(self.forces[..., 0], self.forces[..., 1])

    @property
    def touching(self) -> np.ndarray:
        """Whether there is a force, shape (T, n), bool."""
        return self.forces[..., 2] > 0.0

    @property
    def world_forces(self) -> np.ndarray:
        """Forces on the second bodies in world axes, shape (T, n, 3) [N]."""
        axes = contact_axes(Vector3(*np.moveaxis(self.normals, -1, 0)))
        columns = np.stack([np.stack(np.broadcast_arrays(*axis), axis=-1) for axis in axes], axis=-2)
        return np.einsum("tna,tnax->tnx", self.forces, columns)

    @checked(body=a_name)
    def on(self, body: str) -> np.ndarray:
        """Sum of the contact forces on a body.

        Parameters
        ----------
        body : str

        Returns
        -------
        (T, 3) array
            In world axes [N].
        """
        own = self[body]
        signs = np.array([(x.second == body) - float(x.first == body) for x in own.candidates])
        return np.einsum("n,tnx->tx", signs, own.world_forces)

    @property
    def touches(self) -> tuple[Touch, ...]:
        """Intervals in which candidate points were in contact, in the order of their beginning, as samples resolve."""
        found, steps = [], np.append(np.diff(self.time), 0.0)
        for k, label in enumerate(self.labels):
            force, touching = self.normal_forces[:, k], self.touching[:, k].astype(int)
            edges = np.flatnonzero(np.diff(touching, prepend=0, append=0))
            for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
                part = slice(first, last)
                end = float(self.time[min(last, len(self.time) - 1)])
                impulse = float(force[part] @ steps[part])
                found.append(Touch(label, float(self.time[first]), end, float(force[part].max()), impulse))
        return tuple(sorted(found, key=lambda x: x.begin))


def candidates_of(model) -> tuple[Candidate, ...]:
    """The candidate points of a model, as data of a run."""
    found = []
    for pair in model.contacts:
        first, second = (model.body_names[model.frame(frame).body] for frame in pair.frames)
        found += [Candidate(label, pair.name, first, second, float(pair.friction)) for label in pair.labels]
    return tuple(found)


def force_channel(time, candidates: Sequence[Candidate], forces) -> Quantity:
    """The channel of contact forces, (T, 3 n) [N]."""
    labels = tuple(f"{x.label}.{axis}" for x in candidates for axis in AXES)
    return Quantity(
        FORCE, time, frozen(forces), "N", labels, "contact forces on the second bodies along the axes of the contacts",
        (f"{FORCE} column",),
    )  # fmt: skip


def contacts_of(run) -> Contacts | None:
    """The contacts of a run; None of a run without any."""
    kept, candidates = run.metadata.kept, run.metadata.contacts
    if candidates and "contacts" not in kept:
        arrays = {x.name: x.values for x in (*run.extra, *place_channels(run))}
        missing = [name for name in (FORCE, *PLACES) if name not in arrays]
        if missing:
            raise KinetreeError(
                f"Trajectory.contacts: the run of {run.model_name!r} has no {missing[0]}; load it with its model: "
                "Trajectory.load(path, model=model)."
            )
        shape = (len(run), len(candidates))
        forces, gaps, points, normals = (
            frozen(arrays[name].reshape(*shape, *parts))
            for name, parts in ((FORCE, (3,)), ("contact_gap", ()), ("contact_point", (3,)), ("contact_normal", (3,)))
        )
        kept["contacts"] = Contacts(run.time, candidates, forces, gaps, points, normals)
    return kept.get("contacts")


def world_wrenches(run) -> np.ndarray:
    """Sum of the contact forces of the world, [moment about its origin; force], (T, 6) [N m, N]."""
    contacts = run.contacts
    signs = [(x.first == "world") - float(x.second == "world") for x in contacts.candidates]
    force = np.array(signs)[:, None] * contacts.world_forces
    return np.concatenate((np.cross(contacts.points, force), force), axis=2).sum(axis=1)


def place_channels(run) -> tuple[Quantity, ...]:
    """The channels of ``PLACES`` that the run does not have among those added, from its positions and its model."""
    present = {x.name for x in run.extra}
    if FORCE not in present or present >= PLACES.keys() or run.model is None or not run.model.n_contacts:
        return ()
    kept = run.metadata.kept
    if "contact places" not in kept:
        points, normals, gaps = System(run.model).function("contact_points", checks=False)(
            run.q, *time_argument(run.model, run.time)
        )
        values = dict(zip(PLACES, (gaps, points, normals), strict=True))
        kept["contact places"] = tuple(
            Quantity(
                name, run.time, frozen(values[name].reshape(len(run), -1)), unit,
                tuple(f"{x.label}{part}" for x in run.metadata.contacts for part in parts), about, (f"{name} column",),
            )
            for name, (unit, parts, about) in PLACES.items()
        )  # fmt: skip
    return tuple(x for x in kept["contact places"] if x.name not in present)


def as_data(candidates: Sequence[Candidate]) -> list[dict]:
    """Candidates as plain data of files."""
    return [asdict(x) for x in candidates]
