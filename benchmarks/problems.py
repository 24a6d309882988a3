"""The motions of the work-precision diagrams: five mechanisms that move freely, and where they end.

Each is smooth and conservative (no contacts, limits, friction, damping or control), so that what is compared is the
integration alone. Pendulum and top end where closed forms in Jacobi's elliptic functions say; the others where SciPy's
DOP853 ends at its tightest tolerances, and kinetree's embedded pair on the manifold must end there too.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np

TIGHT = {"rtol": 3e-14, "atol": 1e-14}  # the least that SciPy takes is 100 eps
AGREEMENT = 1e-8  # what two references may differ by
SEED = 20080101


@dataclass(frozen=True, slots=True)
class Problem:
    """A motion with its end.

    Attributes
    ----------
    name, about : str
    model : kinetree.Model
    q0, v0 : numpy.ndarray
        The start, shapes (nq,) and (nv,).
    duration : float
        [s].
    longest : float
        The longest step of methods with fixed steps [s].
    q, v : numpy.ndarray
        The end.
    reference : str
        Where the end is from.
    uncertainty : float
        How well it is known: the difference from a second method to it.
    """

    name: str
    about: str
    model: object
    q0: np.ndarray
    v0: np.ndarray
    duration: float
    longest: float
    q: np.ndarray
    v: np.ndarray
    reference: str
    uncertainty: float

    def error(self, q, v) -> float:
        """The largest entry of the difference from the end: along the manifold [rad, m], in velocity [per s]."""
        return distance(self.model, (q, v), (self.q, self.v))


def distance(model, found, expected) -> float:
    """The largest difference of two states, positions on the manifold; infinite where one is not finite."""
    import kinetree as kt

    if not (np.isfinite(found[0]).all() and np.isfinite(found[1]).all()):
        return math.inf
    return float(max(np.abs(kt.difference(model, *(kt.normalize(model, x[0]) for x in (expected, found)))).max(),
                     np.abs(found[1] - expected[1]).max()))  # fmt: skip


def pendulum() -> Problem:
    """A point mass on a rod of 1 m, let go at 2 rad."""
    import kinetree as kt

    model, start, duration = kt.models.pendulum(), 2.0, 10.0
    end = swing(start, math.sqrt(-float(model.gravity[2])), duration)
    return _with_end(model, [start], [0.0], "pendulum", "released at 2 rad", duration, 0.2, end)


def swing(start: float, frequency: float, t: float) -> tuple[np.ndarray, np.ndarray]:
    """Angle and rate at time t of a pendulum released at an angle; ``frequency`` is that of small oscillations.

    ``sin(q/2) = k sn(K + w t)`` with ``k = sin(start/2)``.
    """
    from scipy.special import ellipj, ellipk

    k = math.sin(0.5 * start)
    sn, cn, _, _ = ellipj(ellipk(k * k) + frequency * t, k * k)
    return np.array([2.0 * math.asin(k * sn)]), np.array([2.0 * k * frequency * cn])


def top() -> Problem:
    """The free asymmetric top of the tests."""
    import kinetree as kt
    from tests.integrators import asymmetric_top

    model, duration = kt.models.free_body(1.0, asymmetric_top.MOMENTS, gravity=(0.0, 0.0, 0.0)), 10.0
    states = []
    for t in (0.0, duration):
        w, R = asymmetric_top.motion(t)
        states.append(placed(model, asymmetric_top.quaternion(R), w))
    about = "moments 1, 2, 3 kg m^2, rates 1, 0, 2 rad/s"
    return _with_end(model, *states[0], "top", about, duration, 0.2, states[1])


def placed(model, quaternion, w) -> tuple[np.ndarray, np.ndarray]:
    """The state of a free body that turns in place."""
    q, v = np.array(model.neutral(), dtype=float), np.zeros(model.nv)
    q[-4:], v[:3] = quaternion, w
    return q, v


def chain() -> Problem:
    """Ten rods that hang from a hinge and swing, each bent a little against the one before."""
    import kinetree as kt

    model = kt.models.n_pendulum(10, length=0.2)
    q0 = np.full(10, 0.1)
    q0[0] = 1.0
    return _by_reference(model, q0, np.zeros(10), "chain", "ten rods of 0.2 m, the first at 1 rad", 1.0, 0.02)


def panda() -> Problem:
    """An arm that falls, its fingers fixed."""
    import kinetree as kt
    from tests.engines.robots import robot_path

    with open(robot_path("panda"), encoding="utf-8") as file:
        text = re.sub(r"<mimic [^>]*/>", "", file.read())
    text = re.sub(r'(<joint name="[^"]*finger_joint[^"]*" type=")prismatic"', r'\1fixed"', text)
    model = _bare(kt.load(text, floating_base=False, inertia="accept"))
    q0 = np.array([0.3, -0.6, 0.2, -1.8, 0.1, 1.2, 0.5])
    return _by_reference(model, q0, np.zeros(model.nv), "panda", "arm, falls from a bent posture", 0.5, 0.02)


def anymal() -> Problem:
    """A quadruped thrown into the air, its legs moving."""
    import kinetree as kt
    from tests.engines.robots import robot_path

    model = _bare(kt.load(robot_path("anymal_b"), floating_base=True, inertia="accept"))
    rng = np.random.default_rng(SEED)
    q0 = np.array(model.neutral(), dtype=float)
    q0[-12:] = rng.uniform(-0.5, 0.5, 12)
    v0 = np.concatenate(([1.0, 2.0, -1.0, 0.5, 0.0, 3.0], rng.uniform(-2.0, 2.0, 12)))
    return _by_reference(model, q0, v0, "anymal_b", "quadruped thrown, legs at up to 2 rad/s", 1.0, 0.02)


def _bare(model):
    return model.without_limits().replace(damping=0.0, dry_friction=0.0)


def _with_end(model, q0, v0, name, about, duration, longest, end) -> Problem:
    """A problem with a closed form, which the manifold's own integration must confirm."""
    q0, v0 = np.asarray(q0, dtype=float), np.asarray(v0, dtype=float)
    found = _on_manifold(model, q0, v0, duration)
    return _checked(Problem(name, about, model, q0, v0, duration, longest, *end, "closed form",
                            distance(model, found, end)))  # fmt: skip


def _by_reference(model, q0, v0, name, about, duration, longest) -> Problem:
    """A problem whose end is that of SciPy's DOP853 on the compiled dynamics."""
    from benchmarks.solvers import scipy_direct

    end, _ = scipy_direct(model, q0, v0, duration, "DOP853", **TIGHT).run()
    found = _on_manifold(model, q0, v0, duration)
    return _checked(Problem(name, about, model, q0, v0, duration, longest, *end, "DOP853 at 3e-14",
                            distance(model, found, end)))  # fmt: skip


def _on_manifold(model, q0, v0, duration):
    from benchmarks.solvers import adaptive

    return adaptive(model, q0, v0, duration, "dop853", **TIGHT).run()[0]


def _checked(problem: Problem) -> Problem:
    from benchmarks.verify import WrongAnswer

    if not problem.uncertainty <= AGREEMENT:
        raise WrongAnswer(f"{problem.name}: two references differ by {problem.uncertainty:.1e}, more than {AGREEMENT}")
    return problem


PROBLEMS = {"pendulum": pendulum, "top": top, "chain": chain, "panda": panda, "anymal_b": anymal}
