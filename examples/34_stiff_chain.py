"""A hanging chain braced by stiff springs: implicit steps, and their linear equations by conjugate gradients.

You learn which steps are stable for springs of any stiffness, what they do to a vibration, and how to solve their
equations without a matrix, preconditioned by the articulated-body factorization.

    python examples/34_stiff_chain.py

Output::

    rk4: ...
    linearly_implicit: the energy rises by at most ... J
    bdf1: the energy rises by at most ... J
    bdf2: the energy rises by at most ... J
    conjugate gradients: ... iterations, ... without the preconditioner
"""

import numpy as np

import kinetree as kt
from kinetree.integrators import System
from kinetree.integrators.conjugate_gradients import MatrixFreeStep

LINKS, STIFFNESS, DT = 8, 1e7, 1e-2  # [N/m], [s]


def chain() -> kt.Model:
    b, names = kt.ModelBuilder("braced chain"), ["world", *(f"link{n}" for n in range(1, LINKS + 1))]
    for parent, name in zip(names, names[1:], strict=False):
        drop = ((0.0, 0.0, -0.1 if parent != "world" else 0.0), (0.0, 0.0, 0.0))
        b.add_body(name, parent, kt.joints.Revolute((0, 1, 0)), placement=drop, mass=0.1, com=(0, 0, -0.05),
                   inertia=1e-4 * np.eye(3))  # fmt: skip
    side = (0.02, 0.0, -0.05)
    springs = [  # across every joint but the first, relaxed when the chain hangs straight; one from end to end
        kt.forces.PointSpring(f"brace{n}", names[n], names[n + 1], STIFFNESS, 0.1, 0.0, side, side)
        for n in range(1, LINKS)
    ]
    springs.append(kt.forces.PointSpring("stay", names[1], names[-1], STIFFNESS, 0.1 * (LINKS - 1), 0.0, side, side))
    return b.build().with_forces(*springs)


def rise(method) -> float:
    """The largest increase of the energy [J] in a second, from a pushed start."""
    v = np.zeros(LINKS)
    v[0] = 3.0
    run = kt.simulate(chain(), v0=v, duration=1.0, dt=DT, integrator=method)
    return float((run.energy - run.energy[0]).max())


def iterations(preconditioned: bool) -> int:
    """Of one step, at most in ten."""
    method, rest, state = MatrixFreeStep(System(chain()), preconditioned), np.zeros(LINKS), None
    state = np.zeros(LINKS), np.linspace(0.0, 1.0, LINKS)
    for n in range(10):
        state = method.step(n * DT, DT, *state, lambda t: rest, lambda t: ())
    return max(method.iterations)


def check() -> None:
    assert all(rise(method) < 0.05 for method in ("linearly_implicit", "bdf1", "bdf2"))
    assert iterations(True) <= 2 < iterations(False)


def main() -> None:
    try:
        print(f"rk4: the energy rises by at most {rise('rk4'):.2g} J")
    except kt.errors.SimulationError as error:
        print(f"rk4: {str(error)[:90]} ...")
    for method in ("linearly_implicit", "bdf1", "bdf2"):
        print(f"{method}: the energy rises by at most {max(rise(method), 0.0):.1g} J")
    print(f"conjugate gradients: {iterations(True)} iterations, {iterations(False)} without the preconditioner")


if __name__ == "__main__":
    main()
    check()
