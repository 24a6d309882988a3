"""An engine on bushings: natural frequencies and response from K and D, against a simulated imbalance.

You learn to mount a body on force elements, to drive a force by an input, to take the stiffness and damping matrices,
and to read the forces of single elements over a run.

    python examples/32_engine_mount.py

Output::

    natural frequencies: 5.3, 5.6, 7.1, 10.7, 11.6, 12.5 Hz
    imbalance of 400 N at 9.5 Hz: 1.01 mm by the matrices, 1.01 mm in the simulation
    largest force of a mount: 129 N, 120 N, 155 N, 127 N
"""

import numpy as np

import kinetree as kt

CORNERS = [(x, y, -0.2) for x in (-0.4, 0.4) for y in (-0.3, 0.3)]  # [m]
OMEGA, FORCE = 2.0 * np.pi * 9.5, 400.0  # of the imbalance [rad/s], [N]


def engine() -> kt.Model:
    """A rigid engine of 200 kg on four mounts, and two forces that turn together as those of an imbalance."""
    b = kt.ModelBuilder("engine", gravity=(0.0, 0.0, 0.0))
    b.add_body("engine", joint=kt.joints.Free(), mass=200.0, com=(0.02, 0.01, 0.0), inertia=(9.0, 16.0, 18.0))
    stiffness, damping = (8e4, 8e4, 1e5), (800.0, 800.0, 1000.0)
    for k, corner in enumerate(CORNERS):
        b.add_force(kt.forces.Bushing(f"mount {k}", "world", "engine", stiffness, 500.0, damping, 5.0, corner, corner))
    for name, axis in (("y", (0.0, 1.0, 0.0)), ("z", (0.0, 0.0, 1.0))):
        b.add_force(kt.forces.PointForce(f"imbalance {name}", "engine", axis, at=(0.1, 0.0, 0.1), scaled=True))
    return b.build()


def linear(model) -> tuple[np.ndarray, complex]:
    """Natural frequencies [Hz], and the complex amplitude of the engine's height under the imbalance [m]."""
    q, v = model.neutral(), np.zeros(6)
    M, K, D = kt.crba(model, q), kt.dynamics.stiffness_matrix(model, q, v), kt.dynamics.damping_matrix(model, q, v)
    frequencies = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)) / (2.0 * np.pi)
    along_y, along_z = (kt.dynamics.passive_joint_forces(model, q, v, u=u) for u in np.eye(2))
    response = np.linalg.solve(K - OMEGA**2 * M + 1j * OMEGA * D, FORCE * (along_y - 1j * along_z))
    return frequencies, response[5]


def simulated(model):
    """A run from rest, and the amplitude of the engine's height over its last ten turns [m]."""
    scales = {"y": lambda t: FORCE * np.cos(OMEGA * t), "z": lambda t: FORCE * np.sin(OMEGA * t)}
    inputs = kt.Inputs(control={f"imbalance {axis}.scale": scale for axis, scale in scales.items()})
    run = kt.simulate(model, model.neutral(), duration=2.5, dt=5e-4, inputs=inputs)
    late = run.time > run.time[-1] - 10.0 * 2.0 * np.pi / OMEGA
    waves = np.exp(1j * OMEGA * run.time[late])
    height = kt.pose(model, run.q[late], frame="engine").p_WF[:, 2]
    (a, b), *_ = np.linalg.lstsq(np.stack([waves.real, waves.imag], axis=1), height, rcond=None)
    return run, abs(a + 1j * b)


def main() -> None:
    model = engine()
    frequencies, response = linear(model)
    run, amplitude = simulated(model)
    print(f"natural frequencies: {', '.join(f'{x:.1f}' for x in frequencies)} Hz")
    print(f"imbalance of 400 N at 9.5 Hz: {1e3 * abs(response):.2f} mm by the matrices, "
          f"{1e3 * amplitude:.2f} mm in the simulation")  # fmt: skip
    found = kt.dynamics.forces_by_element(model, run.q[-500:], run.v[-500:], u=run.u[-500:])
    on_ground = np.linalg.norm(found.wrenches[:, :4, 0, 3:], axis=-1).max(axis=0)
    print(f"largest force of a mount: {', '.join(f'{x:.0f} N' for x in on_ground)}")


def check() -> None:
    """The response of the linear equations is that of the simulation; mounts push engine and ground alike, and damp."""
    model = engine()
    (_, response), (run, amplitude) = linear(model), simulated(model)
    assert abs(amplitude - abs(response)) < 5e-3 * amplitude
    found = kt.dynamics.forces_by_element(model, run.q[-1], run.v[-1], u=run.u[-1])
    assert np.allclose(found.wrenches[:4, 0], -found.wrenches[:4, 1]) and np.any(found.wrenches[:4, 1])
    assert all(run.energy_balance.work(f"force mount {k}") < 0.0 for k in range(4))


if __name__ == "__main__":
    main()
