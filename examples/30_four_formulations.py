"""One chain in four formulations: joint coordinates, REDMAX, maximal coordinates, and one degree of freedom.

You learn to move between joint coordinates and those of the bodies, to read forces in joints from maximal coordinates,
and to reduce a chain whose joints turn alike to one degree of freedom by a second Jacobian.

    python examples/30_four_formulations.py

Output::

    accelerations of 5 rods agree to ... in joint, REDMAX and maximal coordinates
    upper hinge: 49.1 N at rest, up to 108.2 N in the swing of the curled chain
    1 s in maximal coordinates: hinges 0.7 mm apart, ... mm after closing them
"""

import numpy as np

import kinetree as kt

N, DT = 5, 5e-3


def chain():
    """Rods of 1 m and 1 kg on hinges, and the same chain with all angles alike."""
    rods = kt.models.n_pendulum(N)
    first, *others = rods.joint_names
    return rods, rods.with_constraints(*(kt.constraints.Coupling(name, first) for name in others))


def accelerations() -> list[np.ndarray]:
    """Those of one state by ABA, by REDMAX, and by all bodies with all hinges."""
    (rods, _), q, v, tau = chain(), np.linspace(0.1, 0.9, N), np.linspace(-1.0, 1.0, N), np.zeros(N)
    M_r, f_r = kt.redmax.equation(rods, q, v, tau)
    state = (system := kt.maximal(rods)).state(q, v)
    of_bodies = system.accelerations(*state, tau).accelerations
    return [kt.aba(rods, q, v, tau), np.linalg.solve(M_r, f_r), system.reduced_accelerations(*state, of_bodies)]


def curl(duration: float = 1.5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Angle [rad], force in the upper hinge [N] and energy [J] of the curled chain that falls, each (steps,)."""
    curled, angle, rate, found = chain()[1], 0.6, 0.0, []
    system = kt.maximal(curled)
    for _ in range(round(duration / DT)):
        q, v = np.full(N, angle), np.full(N, rate)
        wrench = system.accelerations(*system.state(q, v)).wrenches[0]
        energy = kt.kinetic_energy(curled, q, v) + kt.potential_energy(curled, q)
        found.append((angle, np.linalg.norm(wrench[3:]), energy))
        M_R, f_R = kt.redmax.hyper_reduced(curled, q, v, np.zeros(N))  # one by one
        rate += DT * f_R[0] / M_R[0, 0]
        angle += DT * rate
    return tuple(np.array(found).T)


def drift() -> tuple[float, float]:
    """How far the hinges open in 1 s of steps of the bodies, and after they are closed [m]."""
    system = kt.maximal(chain()[0])
    q, v = system.state(np.full(N, 0.3), np.zeros(N))
    for _ in range(round(1.0 / DT)):
        q, v, *_ = system.step(q, v, dt=DT, baumgarte=20.0)
    return tuple(np.abs(system.equation(x, v).phi).max() for x in (q, system.closed(q)))


def main() -> None:
    misfit, (_, force, _) = np.ptp(accelerations(), axis=0).max(), curl()
    print(f"accelerations of {N} rods agree to {misfit:.0e} in joint, REDMAX and maximal coordinates")
    print(f"upper hinge: {N * 9.81:.1f} N at rest, up to {force.max():.1f} N in the swing of the curled chain")
    gap, closed = drift()
    print(f"1 s in maximal coordinates: hinges {1e3 * gap:.1g} mm apart, {1e3 * closed:.0e} mm after closing them")


def check() -> None:
    """All formulations agree; the curled chain conserves energy; hinges stay closed."""
    assert np.ptp(accelerations(), axis=0).max() < 1e-10
    angle, force, energy = curl()
    assert np.ptp(energy) < 0.02 * N * 9.81 * np.ptp(np.cos(angle)) * N and force.max() > N * 9.81
    gap, closed = drift()
    assert closed < 1e-9 < gap < 2e-2


if __name__ == "__main__":
    main()
