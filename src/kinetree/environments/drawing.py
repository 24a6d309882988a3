"""Pictures of environments: the shapes of the mechanism, or sticks where it has none, by matplotlib."""

from __future__ import annotations

import numpy as np

SIZE = (640, 480)  # pixels
ZOOM = 1.5  # the box around everything in reach has corners where nothing moves
MARK = 0.03  # of the reach: radius of the balls that mark points
RED = (0.84, 0.19, 0.15)


class Pictures:
    """Draws the states of a task; shapes are prepared once.

    Parameters
    ----------
    task : Task

    Notes
    -----
    Meshes are those that the live viewer shows, without the images of their materials; bodies whose mesh files are
    missing, or cannot be read because trimesh is not installed, are sticks.
    """

    def __init__(self, task) -> None:
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # no window, whatever the user's backend
        from matplotlib.figure import Figure

        from kinetree.viewer.scene import Scene

        self._task, self._scene, self._drawing = task, Scene.of(task.model), None
        figure = Figure(figsize=(SIZE[0] / 100.0, SIZE[1] / 100.0), dpi=100)
        self._canvas, self._axes = FigureCanvasAgg(figure), figure.add_axes((0.0, 0.0, 1.0, 1.0))

    def draw(self, state, k: int) -> np.ndarray:
        """The mechanism of environment k, (height, width, 3) of bytes.

        Parameters
        ----------
        state : State
        k : int
        """
        from kinetree.viewer.recording import direction_of
        from kinetree.viewer.shaded import Drawing

        recording = self._recording(state, k)
        if self._drawing is None:
            direction = direction_of(*recording.runs[0].boxes[0])
            self._drawing = Drawing(recording, direction, ZOOM, SIZE[0] / SIZE[1])
        self._drawing.show(recording)
        self._drawing.draw(self._axes, 0.0)
        self._canvas.draw()
        return np.array(self._canvas.buffer_rgba())[..., :3]

    def _recording(self, state, k: int):
        """The state, seen so that everything in reach is in the picture; a free base is followed over the ground."""
        from kinetree.viewer.overlays import Points
        from kinetree.viewer.recording import Recording, at_position, floor_height

        task, q = self._task, state.q[k]
        reach, free = task.reach, task.model.joints[1].nq == 7
        marks = Points("marks", task.marks(state)[k][None], MARK * reach, RED, shown=True)
        run = at_position(self._scene, q, (marks,) if marks.points.size else ())
        low, high = reach * np.array([[-1.0, -1.0, -1.0 + free], [1.0, 1.0, 1.0 + free]])
        center = np.array([*q[:2], 0.0]) if free else np.zeros(3)
        floors = [height for part in run.parts if (height := floor_height(part)) is not None]
        radius = 0.5 * float(np.linalg.norm(high - low))
        floor = floors[0] if floors else float((center + low)[2])
        return Recording((run,), center + low, center + high, radius, floor, False)
