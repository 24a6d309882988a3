"""A rubber beam in the hand of an arm: finite elements and joints in one system.

You learn to make an elastic solid, to attach its nodes to a frame of a robot, and to simulate both with a controller.

    python examples/29_beam_on_an_arm.py

Output::

    beam of 0.75 kg, 200 tetrahedra, 27 nodes in the hand; steps of 5 ms
    the arm turns by 1 rad in 0.6 s, and the beam's tip swings by up to ... mm in the hand
    at rest the tip hangs ... mm lower; torque of the shoulder ... N m, ... of it for the beam
"""

import sys

import numpy as np

import kinetree as kt

START, TURN, TIME = np.array([0.0, 0.9, 0.0, 0.9, 0.0, 0.0, 0.0, 0.0, 0.0]), 1.0, 0.6
RUBBER = kt.deformables.Material(young_modulus=2e6, poisson_ratio=0.4, density=1000.0, viscosity=5e-3, mass_damping=2.0)


def scene() -> kt.deformables.Coupled:
    """The arm, and a beam whose first 60 mm are in its hand."""
    arm = kt.load("arm7")
    R, p = kt.pose(arm, START, frame="tool")
    beam = kt.deformables.beam((0.3, 0.05, 0.05), (10, 2, 2), RUBBER, origin=p, rotation=R[:, [2, 0, 1]])
    held = np.flatnonzero((beam.nodes - p) @ R[:, 2] < 0.061)
    return kt.deformables.Coupled(arm, beam, kt.deformables.Attachment(held, "tool"), q=START)


def controller(arm):
    """Computed torques of the arm alone: it does not have the beam in its model."""

    def law(t, q, v):
        s = min(t / TIME, 1.0)
        target = START + TURN * s**3 * (10.0 - 15.0 * s + 6.0 * s * s) * np.eye(len(q))[0]
        return kt.inverse_dynamics(arm, q, v, 900.0 * (target - q) - 60.0 * v)

    return law


def simulated(duration: float = 2.0):
    """The scene, its run, and the position of the tip in the hand (T, 3) [m]."""
    found = scene()
    run = found.simulate(duration, 5e-3, START, controller=controller(found.model), progress=False)
    R, p = kt.pose(found.model, run.q, frame="tool")
    tip = found.bodies[0].nearest(p[0] + 0.3 * R[0][:, 2])
    return found, run, np.einsum("tji,tj->ti", R, run.x[:, tip] - p)


def main(plot: str | None = None) -> None:
    found, run, tip = simulated()
    beam, moved = found.bodies[0], 1e3 * np.linalg.norm(tip - tip[-1], axis=1)
    count, swing = len(beam.elements[0].nodes), moved[run.time > 0.1].max()
    print(f"beam of {beam.mass:.2f} kg, {count} tetrahedra, {len(found.points)} nodes in the hand; steps of 5 ms")
    print(f"the arm turns by {TURN:g} rad in {TIME} s, and the beam's tip swings by up to {swing:.1f} mm in the hand")
    arm, q = found.model, run.q[-1]
    tau, alone = controller(arm)(2.0, q, run.v[-1])[1], kt.gravity_forces(arm, q)[1]
    print(f"at rest the tip hangs {moved[0]:.1f} mm lower; torque of the shoulder {tau:.2f} N m,", end=" ")
    print(f"{tau - alone:.2f} of it for the beam")
    if plot:
        run.plot(frames=5, path=plot)


def check() -> None:
    """At rest the motors of shoulder and elbow carry the arm and the beam where it hangs."""
    found, run, _ = simulated()
    arm, beam, q = found.model, found.bodies[0], run.q[-1]
    R, p = kt.pose(arm, q, frame="tool")
    loaded = kt.surgery.add_payload(arm, "tool", beam.mass, R.T @ (beam.masses @ run.x[-1] / beam.mass - p))
    tau, still = controller(arm)(2.0, q, run.v[-1]), np.zeros(arm.nv)
    assert np.abs(run.v[-1]).max() < 1e-2
    assert np.abs(tau - kt.inverse_dynamics(loaded, q, still, still))[:4].max() < 0.02


if __name__ == "__main__":
    main(*sys.argv[1:])
