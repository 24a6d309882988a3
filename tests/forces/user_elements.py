"""Force elements of a user's own, with internal states, inputs and forces that are the derivative of no law."""

from dataclasses import dataclass

from kinetree.forces import ForceElement, norm
from kinetree.spatial import Vector3


@dataclass(frozen=True)
class Drag(ForceElement):
    """Quadratic drag on a point of a frame, and a linear one on its rotation."""

    name: str
    frame: str
    linear: float
    quadratic: float
    at: tuple = (0.1, -0.2, 0.3)
    passive = True

    def force(self, kin):
        v, w = kin.velocity(self.frame, self.at), kin.angular_velocity(self.frame)
        yield v, -self.quadratic * norm(v) * v
        yield w, -self.linear * w


@dataclass(frozen=True)
class Thruster(ForceElement):
    """A thrust along the z axis of a frame that follows its input with a lag, and the moment of its propeller."""

    name: str
    frame: str
    idle: float
    time_constant: float
    drag: float
    states, inputs = ("thrust",), ("command",)

    def initial_state(self):
        return [self.idle]

    def force(self, kin, x, u):
        axis = kin.rotation(self.frame) @ Vector3(0.0, 0.0, 1.0)
        return [
            (kin.velocity(self.frame), axis * x.thrust),
            (kin.angular_velocity(self.frame), axis * (-self.drag * x.thrust)),
        ]

    def state_rate(self, kin, x, u):
        return [(u.command - x.thrust) / self.time_constant]


@dataclass(frozen=True)
class ActivatedMuscle(ForceElement):
    """A tension by activation, and a filtered length: two states, of which one depends on the motion."""

    name: str
    joint: str
    start: str
    end: str
    strength: float
    time_constant: float
    frame_fields = ("start", "end")
    states, inputs = ("activation", "filtered"), ("excitation",)

    def initial_state(self):
        return [0.3, 0.5]

    def length(self, kin):
        return norm(kin.point(self.end) - kin.point(self.start)) + 0.3 * kin.coordinate(self.joint)

    def tension(self, length, rate, x, u):
        return self.strength * x.activation * (1.0 + length + 0.2 * rate) + 0.1 * x.filtered

    def state_rate(self, kin, x, u):
        length = self.length(kin)
        rate = kin.time_derivative(length)
        return [(u.excitation - x.activation) / self.time_constant, 3.0 * (length + 0.1 * rate - x.filtered)]


@dataclass(frozen=True)
class Servo(ForceElement):
    """A joint force with a set point: an input, and no state."""

    name: str
    joint: str
    gain: float
    damping: float
    inputs = ("position", "bias")

    def force(self, kin, x, u):
        rate = kin.rate(self.joint)
        return [(rate, self.gain * (u.position - kin.coordinate(self.joint)) - self.damping * rate + u.bias)]
