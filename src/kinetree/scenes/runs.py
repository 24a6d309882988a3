"""Runs of scenes in all formulations that apply, with the published results beside them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from kinetree.arguments import a_word, checked, choice
from kinetree.integrators.methods import FIXED_STEP, Adaptive
from kinetree.scenes import differentiable, linkages, trees
from kinetree.scenes.accelerations import ACCELERATIONS, states
from kinetree.scenes.charts import ChartedBDF2
from kinetree.scenes.expected import EXACT, IMPLICIT, VELOCITY_EULER
from kinetree.scenes.scene import Expected, Scene
from kinetree.scenes.velocity_euler import ReducedEuler, VelocityEuler, consistent_start
from kinetree.simulation.options import Inputs
from kinetree.simulation.simulate import simulate

ADAPTIVE = Adaptive("dop853", rtol=1e-11, atol=1e-11)
EXACT_MOTIONS = ("adaptive", *ACCELERATIONS)
EULER = {"velocity_euler": VelocityEuler, "redmax_euler": ReducedEuler}
NOT_INCLUDED = {"27": "Internal friction revolute", "28": "Internal friction spherical",
                "29": "Internal friction prismatic", "30": "Internal friction four-bar linkage",
                "31": "External friction", "33": "External friction four-bar linkage"}  # fmt: skip
"""Scenes with contact or friction by staggered projections, whose published values depend on a QP solver."""


def _with_expected(scene: Scene) -> Scene:
    found = {"velocity_euler": VELOCITY_EULER.get(scene.key), "exact": EXACT.get(scene.key)}
    found |= {name: IMPLICIT.get((scene.key, name)) for name in ("bdf1", "bdf2")}
    return replace(scene, expected={name: x for name, x in found.items() if x is not None})


SCENES: dict[str, Scene] = {
    scene.key: _with_expected(scene)
    for scene in (*sorted((*trees.SCENES, *linkages.SCENES), key=lambda s: int(s.key)), *differentiable.SCENES)
}
"""All scenes by their number; those of differentiable REDMAX begin with "d"."""


@dataclass(frozen=True)
class SceneRun:
    """A run of a scene in one formulation.

    Attributes
    ----------
    scene : Scene
    formulation : str
    time : (N,) array
        [s]
    q, v : (N, nq) and (N, nv) arrays
        [rad, cm] and per second.
    kinetic_energy, potential_energy : (N,) arrays
        The second less that of the start [erg].
    expected : Expected or None
        The published end.
    """

    scene: Scene
    formulation: str
    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    kinetic_energy: np.ndarray
    potential_energy: np.ndarray
    expected: Expected | None

    @property
    def energy(self) -> np.ndarray:
        """The sum of both energies [erg], (N,)."""
        return self.kinetic_energy + self.potential_energy

    @property
    def drift(self) -> float:
        """The largest change of the energy over the largest kinetic energy of the run."""
        return float(np.abs(self.energy - self.energy[0]).max() / self.kinetic_energy.max())

    @property
    def conserves(self) -> bool:
        """Whether the energy of the motion is constant: the drift is an error then."""
        return self.scene.conservative and self.formulation in EXACT_MOTIONS

    @property
    def error(self) -> float:
        """The deviation from the published energy at the end, relative to it or to the largest kinetic energy."""
        if self.expected is None:
            return 0.0
        size = max(abs(self.expected.energy), 1e-3 * self.kinetic_energy.max())
        return float(abs(self.energy[-1] - self.expected.energy) / size)

    @property
    def state_error(self) -> float:
        """The largest deviation from the published end state, relative to the largest entry."""
        if self.expected is None or not self.expected.q:
            return 0.0
        found = [self.scene.in_source_order(x[-1]) for x in (self.q, self.v)]
        given = [np.array(x) for x in (self.expected.q, self.expected.v)]
        return max(float(np.abs(x - y).max() / max(np.abs(y).max(), 1.0)) for x, y in zip(found, given, strict=True))


def formulations(scene: Scene) -> tuple[str, ...]:
    """The formulations of a scene but for the integrators of `simulate` with fixed steps."""
    published = [name for name in scene.expected if name != "exact"]
    reduced = ["redmax_euler"] * ("velocity_euler" in published)
    return *published, *reduced, *(("adaptive", *ACCELERATIONS) if scene.has_exact_motion else ())


@checked(key=a_word, formulation=a_word)
def run(key: str, formulation: str = "adaptive") -> SceneRun:
    """Run a scene.

    Parameters
    ----------
    key : str
        Its number, such as "5", or "d12" of differentiable REDMAX; `SCENES` has all.
    formulation : str
        "velocity_euler": the linearly implicit Euler of REDMAX. "adaptive": the embedded pair 8(5,3) with tolerances of
        1e-11. "redmax_euler": the linearly implicit Euler by `kinetree.redmax.velocities`. "bdf1", "bdf2", "rk4", ...:
        fixed steps by the integrators of `kinetree.simulate`, of the scene's length.
        "maximal", "redmax": accelerations in maximal coordinates, or by the Jacobian of REDMAX, integrated by SciPy's
        DOP853 with tolerances of 1e-10, in some seconds.

    Returns
    -------
    SceneRun

    Raises
    ------
    UnknownNameError
        There is no such scene, or the formulation does not apply to it.

    Examples
    --------
    >>> found = run("-1", "velocity_euler")
    >>> round(float(found.energy[-1]), 6)
    -3697.454569
    """
    scene = SCENES[choice("scene", key, SCENES, "the scenes of REDMAX")]
    known = dict.fromkeys((*formulations(scene), *(FIXED_STEP if scene.has_exact_motion else ())))
    choice("formulation", formulation, known, f"those of scene {key!r}")
    if formulation in EULER:
        time, q, v = EULER[formulation](scene).states()
    elif formulation == "bdf2" and scene.charts:
        time = scene.dt * np.arange(round(scene.duration / scene.dt) + 1)
        q, v = ChartedBDF2(scene.build, len(scene.tree.joint_names)).states(*scene.start, scene.dt, len(time) - 1)
    elif formulation in ACCELERATIONS:
        time, q, v = states(scene, formulation)
    else:
        time, q, v = _simulated(scene, formulation)
    T, V = scene.energies(q, v)
    ends = dict.fromkeys(EXACT_MOTIONS, "exact") | dict.fromkeys(EULER, "velocity_euler")
    expected = scene.expected.get(ends.get(formulation, formulation))
    return SceneRun(scene, formulation, time, q, v, T, V - V[0], expected)


def _simulated(scene: Scene, name: str):
    """A run by `simulate`, piece by piece where joint forces jump."""
    (q, v), start, pieces = consistent_start(scene), 0.0, []
    integrator = ADAPTIVE if name == "adaptive" else name
    for end in (*(end for end, _ in scene.torques if end < scene.duration), scene.duration):
        inputs = Inputs(tau=scene.tau(start))
        found = simulate(scene.model, q, v, duration=end - start, dt=scene.dt, integrator=integrator, inputs=inputs)
        q, v = found.q[-1], found.v[-1]
        first = int(bool(pieces))
        pieces.append((start + found.time[first:], found.q[first:], found.v[first:]))
        start = end
    return tuple(np.concatenate(part) for part in zip(*pieces, strict=True))


def rows(runs) -> list[tuple[str, ...]]:
    """A table of runs: formulation, energy at the end, the published one, the deviations of energy and state, drift.

    Parameters
    ----------
    runs : iterable of SceneRun

    Returns
    -------
    list of tuple of str
        The first row has the headings.
    """
    table = [("scene", "title", "formulation", "energy", "expected", "deviation", "of the state", "drift")]
    for found in runs:
        given = found.expected
        table.append((
            found.scene.key, found.scene.title, found.formulation, f"{found.energy[-1]:.10g}",
            "" if given is None else f"{given.energy:.10g}", "" if given is None else f"{found.error:.1e}",
            f"{found.state_error:.1e}" if given is not None and given.q else "",
            f"{found.drift:.1e}" if found.conserves else "",
        ))  # fmt: skip
    return table


def as_text(table: list[tuple[str, ...]]) -> str:
    """Rows of texts as lines, with columns of equal width."""
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join("  ".join(x.ljust(w) for x, w in zip(row, widths, strict=True)).rstrip() for row in table)
