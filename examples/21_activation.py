"""Two muscles of an elbow: force elements with an internal state, the activation, and an input, the excitation.

You learn to give a force element of your own states and inputs: simulations integrate them with the motion, rollouts
take the inputs over time, and derivatives are exact.

    python examples/21_activation.py

Output::

    elbow after 0.5 s: ... rad, activations ... and ...; ... J unexplained
    d(acceleration of the elbow)/d(activation) = ... and ... 1/s^2
    1000 random excitations in one call: the elbow ends between ... and ... rad
"""

from dataclasses import dataclass

import numpy as np

import kinetree as kt
from kinetree.forces import ForceElement, norm
from kinetree.spatial.scalar import exp, where

Q0, REST, UPRIGHT = np.array([0.0, 0.4]), np.zeros(2), np.zeros(3)


@dataclass(frozen=True)
class Muscle(ForceElement):
    name: str
    start: str
    end: str
    strength: float  # [N]
    rest_length: float  # [m]

    frame_fields, states, inputs = ("start", "end"), ("activation",), ("excitation",)

    def length(self, kin):
        return norm(kin.point(self.end) - kin.point(self.start))

    def tension(self, length, rate, x, u):
        stretch = (length / self.rest_length - 1.0) / 0.45
        return self.strength * x.activation * exp(-stretch * stretch) * (1.0 + 0.3 * rate / self.rest_length)

    def state_rate(self, kin, x, u):  # it rises within 15 ms and falls within 50 ms
        return [(u.excitation - x.activation) / where(u.excitation > x.activation, 0.015, 0.05)]


def arm() -> kt.Model:
    b = kt.ModelBuilder.of(kt.load("double_pendulum").replace(damping=2.0))
    for name, side in (("flexor", -0.06), ("extensor", 0.06)):
        b.add_frame(f"{name} origin", "upper_rod", ((side, 0.0, -0.7), UPRIGHT))
        b.add_frame(f"{name} insertion", "lower_rod", ((side, 0.0, -0.15), UPRIGHT))
        b.add_force(Muscle(name, f"{name} origin", f"{name} insertion", strength=300.0, rest_length=0.45))
    return b.build()


def run() -> kt.Trajectory:
    inputs = kt.Inputs(control={"flexor.excitation": lambda t: 0.6 if t < 0.3 else 0.1, "extensor.excitation": 0.1})
    return kt.simulate(arm(), Q0, duration=0.5, dt=5e-4, integrator="rk4", inputs=inputs)


def main() -> None:
    done, slope = run(), kt.differentiate(arm(), "forward_dynamics", wrt="x")(Q0, REST, REST, [0.3, 0.3])
    print("elbow after 0.5 s: {:.3f} rad, activations {:.3f} and {:.3f}".format(done.q[-1, 1], *done.x[-1]), end="; ")
    print(f"{np.abs(done.energy_balance.remainder).max():.0e} J unexplained")
    print("d(acceleration of the elbow)/d(activation) = {:.2f} and {:.2f} 1/s^2".format(*slope[1]))
    control = np.random.default_rng(0).uniform(size=(1000, 1, 2))
    q = kt.rollout(arm(), Q0, None, None, 1e-3, steps=500, control=control, record=kt.Record(every=500)).q[:, -1, 1]
    print(f"1000 random excitations in one call: the elbow ends between {q.min():.2f} and {q.max():.2f} rad")


def check() -> None:
    """The energy balance closes, and an activation decays with its time constant."""
    done = run()
    assert np.abs(done.energy_balance.remainder).max() < 1e-3 * done.energy_balance.scale
    decay = np.exp((0.3 - done.time[600:]) / 0.05)
    assert np.allclose(done.x[600:, 0], 0.1 + (done.x[600, 0] - 0.1) * decay, atol=1e-6)


if __name__ == "__main__":
    main()
