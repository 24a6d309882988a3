"""Accuracy of the dynamics of a model: the digits that are right, and the causes of errors."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np

from kinetree.algorithms.spec import ALGORITHMS
from kinetree.arguments import a_model, a_number, a_seed, a_whole_number, an_array, checked
from kinetree.compiler.calls import plain_call
from kinetree.compiler.function import compile
from kinetree.errors import ModelError, ShapeError
from kinetree.html_text import preformatted
from kinetree.identify.consistency import pseudo_inertia
from kinetree.model import Model
from kinetree.model.inertial_parameters import inertial_parameters
from kinetree.model.seeds import generator

rnea, crba = (plain_call(ALGORITHMS[name]) for name in ("rnea", "crba"))

STATES = 20
POOR = 1e6  # scaled condition numbers above it are worth a line
LOST = 1e-3  # relative errors of single precision above it are, too
EPS = float(np.finfo(float).eps)
FAR = 2.0  # radii of gyration


@dataclass(frozen=True, slots=True)
class Error:
    """The error of one algorithm in one precision.

    Parameters
    ----------
    algorithm : str
        "crba and solve" is M^-1 (tau - c) by dense factors.
    precision : str
        "double" or "single".
    worst, median : float
        Relative error of the states, in a norm without units: each joint's entry times the root of its inertia.
    joint : str
        Where the error is worst.
    """

    algorithm: str
    precision: str
    worst: float
    median: float
    joint: str

    @property
    def digits(self) -> float:
        """Decimal digits that are right in the worst state."""
        return digits(self.worst)


@dataclass(frozen=True, slots=True)
class Condition:
    """The condition number of the mass matrix, and the joint at fault.

    Parameters
    ----------
    value : float
        By which relative errors of joint forces can grow on their way to accelerations.
    joint : str
        With the largest share in the motion that resists least.
    """

    value: float
    joint: str

    @property
    def digits(self) -> float:
        """Decimal digits of accelerations, if joint forces are right to double precision."""
        return digits(EPS * self.value)


@dataclass(frozen=True, slots=True)
class FarBody:
    """A body whose frame is far from its mass.

    Parameters
    ----------
    name : str
    distance : float
        Of its center of mass from the origin of its frame [m].
    radius_of_gyration : float
        About its center of mass, the largest of the three [m].
    """

    name: str
    distance: float
    radius_of_gyration: float

    @property
    def ratio(self) -> float:
        """The distance in radii of gyration; errors grow with its square."""
        return self.distance / self.radius_of_gyration


@dataclass(frozen=True, slots=True)
class Ratio:
    """The largest of some quantity among the bodies over the smallest.

    Parameters
    ----------
    what : str
        "mass", or "inertia": the largest principal moment about the center of mass.
    value : float
    largest, smallest : str
        The bodies.
    """

    what: str
    value: float
    largest: str
    smallest: str


@dataclass(frozen=True, slots=True, eq=False)
class AccuracyReport:
    """Accuracy of the dynamics of a model.

    Parameters
    ----------
    model : str
        Its name.
    states : int
        Number of states; the condition numbers are those of the worst one.
    condition : Condition
        Of the mass matrix as it is, in SI units.
    scaled_condition : Condition
        Of the mass matrix with rows and columns scaled to a unit diagonal: that of the mechanism, independent of units.
    errors : tuple of Error
        Measured against the same calculation in extended precision (double precision for "single"). Of double precision
        there are none on machines without a longer type.
    far : tuple of FarBody
        Bodies whose frames are far from their mass.
    ratios : tuple of Ratio
        Of the masses and of the rotational inertias.

    Notes
    -----
    ``str(report)`` is a table, ``report.findings`` lists the faults, ``report.to_json()`` is for other programs.
    """

    model: str
    states: int
    condition: Condition
    scaled_condition: Condition
    errors: tuple[Error, ...]
    far: tuple[FarBody, ...]
    ratios: tuple[Ratio, ...]

    def error(self, algorithm: str, precision: str = "double") -> Error:
        """The errors of one algorithm.

        Parameters
        ----------
        algorithm : str
        precision : str
            "double" or "single".
        """
        for entry in self.errors:
            if (entry.algorithm, entry.precision) == (algorithm, precision):
                return entry
        raise ModelError(f"accuracy of model {self.model!r}: nothing was measured for {algorithm} in {precision}")

    @property
    def findings(self) -> tuple[str, ...]:
        """Causes of lost digits, with the joint or body at fault and a remedy."""
        found = []
        if self.scaled_condition.value > POOR:
            found.append(
                f"the mass matrix has the scaled condition number {self.scaled_condition.value:.1e}: joint "
                f"{self.scaled_condition.joint!r} hardly resists, so accelerations keep "
                f"{self.scaled_condition.digits:.0f} digits; an armature there helps, and so do fewer bodies in a row"
            )
        for entry in self.errors:
            if entry.precision == "single" and not entry.worst <= LOST:
                found.append(
                    f"{entry.algorithm} in single precision is off by {entry.worst:.1e}, most at {entry.joint!r}; "
                    "use double precision"
                )
        found += [
            f"the center of mass of body {body.name!r} is {body.ratio:.0f} radii of gyration from its frame's origin, "
            f"which costs up to {2.0 * math.log10(body.ratio):.1f} digits; put the frame near the mass"
            for body in self.far
        ]
        return tuple(found)

    def rows(self) -> Iterator[tuple[str, str]]:
        """Label and text of each line of the table."""
        yield "accuracy of", f"{self.model}, {self.states} state{'s' if self.states > 1 else ''}"
        for label, entry in (("condition of M", self.condition), ("scaled", self.scaled_condition)):
            yield label, f"{entry.value:.4g}, weakest at {entry.joint!r}: {entry.digits:.1f} digits of accelerations"
        for entry in self.errors:
            worst = f"{entry.digits:.1f} digits, off by {entry.worst:.1e} at {entry.joint!r}"
            yield f"{entry.algorithm}, {entry.precision}", f"{worst} (median {entry.median:.1e})"
        for ratio in self.ratios:
            yield f"{ratio.what} ratio", f"{ratio.value:.3g}, {ratio.largest!r} to {ratio.smallest!r}"
        if not self.far:
            yield "frames", f"every center of mass within {FAR:g} radii of gyration of its frame's origin"
        for finding in self.findings:
            yield "note", finding

    def as_data(self) -> dict:
        """The report as dicts, lists, strings and numbers."""
        return {**asdict(self), "findings": list(self.findings)}

    def to_json(self, indent: int | None = None) -> str:
        """The report as JSON; numbers that are not finite are null.

        Parameters
        ----------
        indent : int, optional
            As for ``json.dumps``.
        """
        return json.dumps(finite_or_none(self.as_data()), indent=indent, allow_nan=False)

    _repr_html_ = preformatted

    def __str__(self) -> str:
        rows = list(self.rows())
        width = max(len(label) for label, _ in rows)
        return "\n".join(f"{label:{width}}  {text}" for label, text in rows)


@checked(model=a_model, q=an_array, v=an_array, a=an_array, states=a_whole_number, seed=a_seed, t=a_number)
def accuracy(
    model: Model, q=None, v=None, a=None, *, states: int | None = None, seed: int | None = None, t: float = 0.0
) -> AccuracyReport:
    """Accuracy of the dynamics in digits: condition of M, errors of the algorithms, bodies at fault.

    Parameters
    ----------
    model : Model
    q : (..., nq) array, optional
        Positions [rad or m]; random ones by default.
    v : (..., nv) array, optional
        Velocities [rad/s or m/s]; standard normal by default.
    a : (..., nv) array, optional
        Accelerations for which forces are computed [rad/s^2 or m/s^2]; standard normal by default.
    states : int, optional
        Number of random states, unless q (or a batch of v or a) determines it; default 20.
    seed : int, optional
        Of the random arrays; default 0.
    t : float
        Time [s], for models that depend on it.

    Returns
    -------
    AccuracyReport

    Raises
    ------
    ModelError
        Nothing can move, or ``states`` is below 1.
    ShapeError, NonFiniteError, QuaternionError

    Notes
    -----
    Source: Featherstone (2008), sections 10.1 and 10.2: causes of round-off, and the sensitivity of accelerations
    to forces; van der Sluis, "Condition numbers and equilibration of matrices" (1969): a unit diagonal is within a
    factor nv of the best scaling.
    The algorithms are those that you call: compiled, or interpreted inside ``kt.interpreted()``. Forces are made from
    accelerations, because a typical acceleration needs forces that hide its weak directions, while typical forces
    accelerate almost along these alone. Errors are those of the arithmetic: every precision starts from numbers that it
    can hold.

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> arm = kt.models.zigzag_arm(6)
    >>> report = kt.accuracy(arm, np.deg2rad([75, -75, 75, -75, 75, -75]), np.zeros(6), np.ones(6))
    >>> round(report.condition.value, 4), report.error("aba").digits > 13.0
    (725.3876, True)
    """
    if model.nv == 0:
        raise ModelError(f"accuracy: nothing can move in model {model.name!r}, so there are no dynamics")
    if states is not None and states < 1:
        raise ModelError(f"accuracy: states is {states}, expected at least 1", states=states)
    q, v, a = _states(model, q, v, a, states, seed)
    time = {"t": t} if model.time_dependent else {}
    M = crba(model, q, **time)
    size = np.sqrt(np.diagonal(M, axis1=-2, axis2=-1))
    # A joint without inertia of its own at this position has no scale: errors count as they are.
    size = np.where(size > 0.0, size, 1.0)
    plain, scaled = _worst_condition(model, M), _worst_condition(model, M / (size[:, :, None] * size[:, None, :]))
    errors = []
    if np.finfo(np.longdouble).eps < EPS:
        errors += _measured(model, q, v, a, size, time, np.float64, np.longdouble, "double")
    single = (x.astype(np.float32).astype(float) for x in (q, v, a))
    errors += _measured(model, *single, size, time, np.float32, np.float64, "single")
    return AccuracyReport(
        model.name, len(q), plain, scaled, tuple(errors), tuple(far_bodies(model)), tuple(inertia_ratios(model))
    )


def digits(error: float) -> float:
    """Decimal digits that are right at this relative error: 0 to 16."""
    return -math.log10(max(error, EPS / 2.0)) if error < 1.0 else 0.0


def _states(model: Model, q, v, a, states: int | None, seed: int | None):
    if seed is not None and all(x is not None for x in (q, v, a)):
        raise ShapeError("accuracy: q, v and a are given, so there is nothing random; leave seed out.", option="seed")
    rng = generator("accuracy", 0 if seed is None else seed)
    arrays = {"q": (q, model.nq), "v": (v, model.nv), "a": (a, model.nv)}
    given = {name: np.asarray(x, float) for name, (x, _) in arrays.items() if x is not None}
    for name, x in given.items():
        if x.ndim == 0 or x.shape[-1] != arrays[name][1]:
            raise ShapeError(f"accuracy: {name} has shape {x.shape}, expected (..., {arrays[name][1]})", shape=x.shape)
    batch = np.broadcast_shapes(*(x.shape[:-1] for x in given.values()))
    is_counted = "q" in given or batch
    if is_counted and states is not None:
        raise ShapeError(f"accuracy: {next(iter(given))} determines the number of states; leave states out.")
    count = math.prod(batch) if is_counted else STATES if states is None else states
    found = {name: np.broadcast_to(x, (*batch, x.shape[-1])).reshape(-1, x.shape[-1]) for name, x in given.items()}
    if "q" not in found:
        found["q"] = np.array([model.random_q(rng) for _ in range(count)])
    for name in ("v", "a"):
        if name not in found:
            found[name] = rng.standard_normal((count, model.nv))
    return [np.array(np.broadcast_to(found[name], (count, arrays[name][1]))) for name in ("q", "v", "a")]


def _worst_condition(model: Model, M: np.ndarray) -> Condition:
    """Of the worst state; the joint by the largest entry of the singular vector of the least singular value."""
    _, s, Vt = np.linalg.svd(M)
    with np.errstate(divide="ignore"):
        condition = s[:, 0] / s[:, -1]
    k = int(np.argmax(condition))
    return Condition(float(condition[k]), model.velocity_labels[int(np.argmax(np.abs(Vt[k, -1])))])


def _measured(model: Model, q, v, a, size, time: Mapping, dtype, longer, precision: str) -> list[Error]:
    """The errors of each algorithm in one precision, against the same in a longer one from the same numbers."""

    def both(function, *arrays):
        return [np.asarray(function(*(x.astype(d) for x in arrays), **time), longer) for d in (dtype, longer)]

    forces, exact_forces = both(partial(rnea, model), q, v, a)
    M, exact_M = both(partial(crba, model), q)
    tau = exact_forces.astype(dtype)
    # Without checks: at a singular position accelerations are not finite, so that their error is infinite.
    accelerations, exact = both(compile(model, "aba", checks=False), q, v, tau)
    bias = np.asarray(rnea(model, *(x.astype(dtype) for x in (q, v, np.zeros_like(v))), **time), dtype)
    try:
        solved = np.linalg.solve(M.astype(dtype), (tau - bias)[..., None])[..., 0]
    except np.linalg.LinAlgError:
        solved = np.full(tau.shape, np.nan)
    matrix_size = size[:, :, None] * size[:, None, :]
    return [
        _error(model, "rnea", precision, forces / size, exact_forces / size),
        _error(model, "crba", precision, M / matrix_size, exact_M / matrix_size),
        _error(model, "aba", precision, accelerations * size, exact * size),
        _error(model, "crba and solve", precision, solved * size, exact * size),
    ]


def _error(model: Model, name: str, precision: str, found: np.ndarray, exact: np.ndarray) -> Error:
    axes = tuple(range(1, exact.ndim))
    difference = np.abs(found - exact)
    difference[~np.isfinite(difference)] = np.inf
    scale = np.max(np.abs(exact), axis=axes)
    relative = np.max(difference, axis=axes) / np.where(scale > 0.0, scale, 1.0)
    worst = int(np.argmax(relative))
    entry = np.unravel_index(int(np.argmax(difference[worst])), exact.shape[1:])
    label = model.velocity_labels[int(entry[-1])]
    return Error(name, precision, float(relative[worst]), float(np.median(relative)), label)


# Bodies that cost digits by their numbers alone ----------------------------------------------------------------------


def far_bodies(model: Model) -> list[FarBody]:
    """The bodies whose center of mass is more than two radii of gyration from their frame, farthest first.

    Parameters
    ----------
    model : Model

    Returns
    -------
    list of FarBody
        Point masses, which have no radius of gyration, are left out.

    Notes
    -----
    Source: Featherstone (2008), section 10.1.
    """
    found = []
    for name, m, c, gyration in _bodies(model):
        if m > 0.0 and gyration > 0.0 and c > FAR * gyration:
            found.append(FarBody(name, c, gyration))
    return sorted(found, key=lambda body: -body.ratio)


def inertia_ratios(model: Model) -> Iterator[Ratio]:
    """The ratios of the masses and of the rotational inertias of the bodies that have some.

    Parameters
    ----------
    model : Model
    """
    bodies = list(_bodies(model))
    quantities = {"mass": [(m, name) for name, m, _, _ in bodies],
                  "inertia": [(m * gyration**2, name) for name, m, _, gyration in bodies]}  # fmt: skip
    for what, values in quantities.items():
        values = [entry for entry in values if entry[0] > 0.0]
        if len(values) > 1:
            (low, smallest), (high, largest) = min(values), max(values)
            yield Ratio(what, high / low, largest, smallest)


def _bodies(model: Model) -> Iterator[tuple[str, float, float, float]]:
    """Name, mass, distance of the center of mass and largest radius of gyration."""
    model = getattr(model, "spatial", model)  # of a planar one the mechanism in space
    for name, J in zip(model.body_names[1:], pseudo_inertia(inertial_parameters(model).reshape(-1, 10)), strict=True):
        m, h = float(J[3, 3]), J[:3, 3]
        if not m > 0.0:
            yield name, m, 0.0, 0.0
            continue
        P = J[:3, :3] - np.outer(h, h) / m  # second moments about the center of mass
        moments = np.linalg.eigvalsh(P)
        largest = float(moments[1] + moments[2])  # a principal moment of inertia is the sum of the other two
        residue = 1e-13 * float(np.trace(J[:3, :3]))
        gyration = math.sqrt(largest / m) if largest > residue else 0.0
        yield name, m, float(np.linalg.norm(h)) / m, gyration


def finite_or_none(x):
    """Without numbers that JSON does not have."""
    if isinstance(x, dict):
        return {key: finite_or_none(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [finite_or_none(value) for value in x]
    return None if isinstance(x, float) and not math.isfinite(x) else x
