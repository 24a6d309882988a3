"""The path of a frame in a run: positions, rotations, velocities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinetree.algorithms.spec import ALGORITHMS
from kinetree.compiler.calls import plain_call
from kinetree.errors import KinetreeError, ShapeError, unknown_name
from kinetree.integrators.system import time_argument
from kinetree.once import once
from kinetree.simulation.channels import Quantity, frozen

XYZ = ("x", "y", "z")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FramePath:
    """Pose and velocity of a frame at the samples of a run, all in world axes.

    Attributes
    ----------
    name : str
    time : (T,) array
        [s]
    position : (T, 3) array
        Of the frame's origin, or of the given point, in the world [m].
    rotation : (T, 3, 3) array
        R_WF: takes coordinates in the frame to world coordinates [1].
    angular_velocity : (T, 3) array
        [rad/s]
    linear_velocity : (T, 3) array
        Of the same point as ``position`` [m/s].
    """

    name: str
    time: np.ndarray
    position: np.ndarray
    rotation: np.ndarray
    angular_velocity: np.ndarray
    linear_velocity: np.ndarray

    def __repr__(self) -> str:
        return f"<path of frame {self.name!r}: {len(self.time)} samples, {self.length:.4g} m>"

    @property
    def speed(self) -> np.ndarray:
        """Magnitude of the linear velocity [m/s], shape (T,)."""
        return np.linalg.norm(self.linear_velocity, axis=1)

    @property
    def length(self) -> float:
        """Length of the path, along straight lines between the samples [m]."""
        return float(np.linalg.norm(np.diff(self.position, axis=0), axis=1).sum())

    @property
    def channels(self) -> dict[str, Quantity]:
        """As channels: "tool.position", "tool.rotation", "tool.angular_velocity", "tool.linear_velocity"."""
        words = {
            "position": ("m", XYZ, ("axis",), "in the world"),
            "rotation": ("1", (), ("row", "column"), "takes coordinates in the frame to world coordinates"),
            "angular_velocity": ("rad/s", XYZ, ("axis",), "in world axes"),
            "linear_velocity": ("m/s", XYZ, ("axis",), "of the frame's origin, in world axes"),
        }
        return {
            f"{self.name}.{part}": Quantity(
                f"{self.name}.{part}", self.time, getattr(self, part), unit, labels,
                f"{part.replace('_', ' ')} of frame {self.name!r}, {more}", dims,
            )
            for part, (unit, labels, dims, more) in words.items()
        }  # fmt: skip


@once
def _call(name: str):
    return plain_call(ALGORITHMS[name])


def frame_path(run, name: str, point=None) -> FramePath:
    """Where a frame was: see `Trajectory.frame`.

    Parameters
    ----------
    run : Trajectory
    name : str
        A frame or a body of the model.
    point : (3,) array_like, optional
        In the frame [m].

    Returns
    -------
    FramePath
    """
    if run.model is None:
        raise KinetreeError("Trajectory.frame needs the model: load it with Trajectory.load(path, model=model).")
    model = getattr(run.model, "spatial", run.model)  # a planar model's paths are drawn in space
    names = [frame.name for frame in model.frames]
    if name not in names:
        raise unknown_name("frame", name, names, f"model {model.name!r}")
    now = {"t": time_argument(model, run.time)[0]} if model.time_dependent else {}
    R, p = _call("pose")(model, run.q, frame=name, **now)
    V = _call("velocity")(model, run.q, run.v, frame=name, reference="local_world_aligned", **now)
    w, velocity = V[:, :3], V[:, 3:]
    if point is not None:
        point = np.asarray(point, dtype=float)
        if point.shape != (3,):
            raise ShapeError(f"Trajectory.frame: point has shape {point.shape}, expected (3,): x, y, z in the frame.")
        arm = R @ point
        p, velocity = p + arm, velocity + np.cross(w, arm)
    return FramePath(name, run.time, *(frozen(np.array(x)) for x in (p, R, w, velocity)))
