"""A robot of an MJCF file under its own servos: targets by name, saturation, and gains that vary within a batch.

You learn to drive the actuators of a file: controls are inputs by the actuators' names, activations are internal
states, and gains are numbers of the model.

    python examples/28_servos.py --plot servos.png

Output::

    3 servos: shoulder, elbow, wrist; internal states: wrist.activation
    after 1.5 s: shoulder ... rad, elbow ... rad, wrist ... rad; the shoulder was at its limit of 60 N m for ... s
    gains of 100 to 400 N m/rad in one call: the shoulder sags by ... to ... rad
"""

import argparse

import numpy as np

import kinetree as kt

ARM = """<mujoco model="arm"><worldbody>
  <body name="upper"><joint name="shoulder" axis="0 1 0" damping="1" armature="0.1"/>
    <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.05"/>
    <body name="lower" pos="0.4 0 0"><joint name="elbow" axis="0 1 0" damping="0.5" armature="0.05"/>
      <geom type="capsule" fromto="0 0 0 0.35 0 0" size="0.04"/>
      <body name="hand" pos="0.35 0 0"><joint name="wrist" axis="0 1 0" damping="0.1" armature="0.01"/>
        <geom type="capsule" fromto="0 0 0 0.15 0 0" size="0.03"/></body></body></body></worldbody>
  <actuator><position name="shoulder" joint="shoulder" kp="200" kv="20" forcerange="-60 60"/>
    <position name="elbow" joint="elbow" kp="100" kv="8" ctrlrange="-2 2"/>
    <position name="wrist" joint="wrist" kp="30" kv="1" timeconst="0.1"/></actuator></mujoco>"""
TARGETS = {"shoulder": -1.2, "elbow": lambda t: 0.8 * np.sin(3.0 * t), "wrist": 0.5}


def moved(targets=TARGETS, duration: float = 1.5):
    """The arm from rest with its targets, and the forces of the servos."""
    arm = kt.load(ARM)
    run = kt.simulate(arm, duration=duration, dt=1e-3, inputs=kt.Inputs(control=targets))
    return arm, run, kt.dynamics.actuator_forces(arm, run.q, run.v, x=run.x, u=run.u)


def sags(gains: np.ndarray) -> np.ndarray:
    """Deviations at which the servo of the stretched arm holds its weight, for several gains in one call."""
    arm = kt.load(ARM)
    angles = -kt.gravity_forces(arm, np.zeros(3))[0] / gains
    servo = kt.compile(arm, "actuator_forces").with_parameters({"shoulder.bias_parameters.1": -gains})
    forces = servo(angles[:, None] * [1.0, 0.0, 0.0], np.zeros(3))[:, 0]
    assert np.allclose(forces, kt.gravity_forces(arm, np.zeros(3))[0])
    return np.abs(angles)


def main(plot: str | None = None) -> None:
    arm, run, forces = moved()
    states = ", ".join(arm.state_names)
    print(f"{arm.n_actuators} servos: {', '.join(arm.actuator_names)}; internal states: {states}")
    saturated = 1e-3 * np.count_nonzero(np.abs(forces[:, 0]) >= 60.0)
    ends = ", ".join(f"{name} {q:.3f} rad" for name, q in zip(arm.joint_names, run.q[-1], strict=True))
    print(f"after 1.5 s: {ends}; the shoulder was at its limit of 60 N m for {saturated:.2f} s")
    most, *_, least = sags(np.array([100.0, 200.0, 400.0]))
    print(f"gains of 100 to 400 N m/rad in one call: the shoulder sags by {least:.3f} to {most:.3f} rad")
    if plot:
        run.plot(path=plot)


def check() -> None:
    """Forces stay in their range, the energy balance closes, and the shoulder rests where its servo bears the load."""
    arm, run, forces = moved({"shoulder": -1.2, "wrist": 0.5}, duration=3.0)
    assert np.abs(forces[:, 0]).max() == 60.0
    assert np.abs(run.energy_balance.remainder).max() < 1e-2 * run.energy_balance.scale
    assert abs(forces[-1, 0] - kt.gravity_forces(arm, run.q[-1])[0]) < 0.1
    assert abs(run.x[-1, 0] - 0.5) < 1e-9


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--plot", metavar="FILE", help="write the figure here")
    main(parser.parse_args().plot)
