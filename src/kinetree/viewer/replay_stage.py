"""The replay of one run, or of several that are drawn over each other."""

from __future__ import annotations

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.viewer.camera import up_of
from kinetree.viewer.display import Display
from kinetree.viewer.nodes import BodyNodes, OverlayNodes
from kinetree.viewer.overlays import BODIES, Surfaces, overlays_of
from kinetree.viewer.playback import FRAME, Clock, sample_at, thinned
from kinetree.viewer.scene import Scene

SLIDE = 0.05  # [s] of the run between motions of the slider
SPEEDS = ("0.05", "0.1", "0.25", "0.5", "1", "2", "5", "10")


class Replayed:
    """One run with the nodes that draw it.

    Parameters
    ----------
    server : viser.ViserServer
    root : str
    run : Trajectory or CoupledRun
    role : str
    tint : tuple of 3 floats or None
    coarse : bool
    """

    def __init__(self, server, root: str, run, role: str, tint=None, coarse: bool = False) -> None:
        self.run, self.end = run, float(run.time[-1])
        run = thinned(run)
        self.time, self.overlays = run.time, overlays_of(run)
        model = getattr(run, "model", None)
        self.scene = None if model is None else Scene.of(model, role)
        self.poses = self.bodies = None
        if self.scene is not None:
            self.poses = self.scene.poses(run.q, run.time)
            self.bodies = BodyNodes(server, root, self.scene, tint, coarse)
            self.bounds = self.scene.bounds(run.q[:: max(len(run.q) // 50, 1)])
        else:
            points = np.concatenate([_points(x) for x in self.overlays])
            self.bounds = points.min(axis=0), points.max(axis=0)
        size = float((self.bounds[1] - self.bounds[0]).max())
        own = size if self.scene is None else float(np.subtract(*self.scene.bounds()[::-1]).max())
        self.drawn = OverlayNodes(server, f"{root} overlays", own or 1.0)

    def draw(self, t: float, shown: set[str]) -> None:
        """Draw the sample next to a time."""
        k = sample_at(self.time, t)
        if self.bodies is not None:
            self.bodies.move(self.poses[k])
        self.drawn.draw(self.overlays, shown, k)

    def remove(self) -> None:
        """Take it out of the scene."""
        self.drawn.remove()
        if self.bodies is not None:
            self.bodies.remove()


def _points(overlay) -> np.ndarray:
    return np.asarray(overlay.vertices if isinstance(overlay, Surfaces) else overlay.points).reshape(-1, 3)


class ReplayStage:
    """Replay with speed and scrubbing.

    Parameters
    ----------
    viewer : Viewer
    runs : sequence of Trajectory or CoupledRun
    role : str

    Attributes
    ----------
    drawn : float
        The time that was drawn last [s].
    frames : int
        How often it was drawn.
    """

    def __init__(self, viewer, runs, role: str) -> None:
        self._viewer, gui, server = viewer, viewer.server.gui, viewer.server
        self.actors = [
            Replayed(server, f"/run {k}", run, role, None if k == 0 else BODIES[(k - 1) % len(BODIES)], viewer.coarse)
            for k, run in enumerate(runs)
        ]
        self.clock = Clock(min(x.time[0] for x in self.actors), max(x.end for x in self.actors))
        self._shapes, self._dirty, self.drawn, self.frames = (role, viewer.coarse), True, -1.0, 0
        self._controls(gui)
        scenes = [x.scene for x in self.actors if x.scene is not None]
        overlays = [overlay for x in self.actors for overlay in x.overlays]
        self.display = Display(gui, scenes, overlays, role, viewer.coarse, self.refresh)
        if len(runs) > 1:
            with self.display.folder:
                gui.add_markdown("\n".join(f"- {line}" for line in _legend(self.actors)))

    def camera(self) -> tuple:
        """Box of all runs and the axis that points up."""
        lower = np.min([x.bounds[0] for x in self.actors], axis=0)
        upper = np.max([x.bounds[1] for x in self.actors], axis=0)
        model = next((x.scene.model for x in self.actors if x.scene is not None), None)
        up = np.array([0.0, 0.0, 1.0]) if model is None else up_of(model)
        return lower, upper, up

    def _controls(self, gui) -> None:
        clock = self.clock
        self.folder = gui.add_folder("Time")
        with self.folder:
            self._play = gui.add_button("Play")
            length = max(clock.end - clock.start, 1e-9)
            step = float(f"{max(length / 1000.0, FRAME / 10.0):.1g}")
            self._slider = gui.add_slider("time [s]", clock.start, clock.start + length, min(step, length), clock.start)
            self._speed = gui.add_dropdown("speed", SPEEDS, initial_value="1")
        self._slid = self._slider.value
        self._play.on_click(lambda _: self.pause() if clock.playing else self.play())
        self._slider.on_update(self._scrubbed)
        self._speed.on_update(self._faster)

    def _scrubbed(self, event) -> None:
        if event.client is not None:  # not moved by the replay itself
            self.refresh()

    def _faster(self, event) -> None:
        with self._viewer.lock:
            self.clock.speed = float(event.target.value)

    def play(self) -> None:
        """Start the replay."""
        with self._viewer.lock:
            self.clock.play()
            self._play.label = "Pause"
        self._viewer.wake()

    def pause(self) -> None:
        """Stop the replay."""
        with self._viewer.lock:
            self.clock.pause()
            self._play.label = "Play"
        self.refresh()

    def refresh(self) -> None:
        self._dirty = True
        self._viewer.wake()

    @property
    def period(self) -> float:
        """Seconds until the next drawing."""
        return FRAME if self.clock.playing else 3600.0

    def tick(self) -> None:
        """Draw the time of the clock, if it is another one and somebody looks."""
        dirty, self._dirty = self._dirty, False  # before the time is read: requests come from other threads
        if self._slider.value != self._slid:  # by a user, since it was written last
            self.clock.seek(self._slider.value)
            self._slid = self._slider.value
        t = self.clock.time
        if dirty and self.display.shapes != self._shapes:
            self._shapes = self.display.shapes
            self._viewer.lay_ground(self.display.coarse)
            for x in self.actors:
                if x.bodies is not None:
                    self.display.show(x.bodies, x.scene)
        if (t == self.drawn or not self._viewer.watched) and not dirty:
            return
        self.drawn, self.frames = t, self.frames + 1
        shown = self.display.shown
        for x in self.actors:
            x.draw(t, shown)
        if abs(self._slid - t) > SLIDE and self._slider.value == self._slid:
            self._slider.value = self._slid = float(f"{min(max(t, self.clock.start), self.clock.end):.6g}")

    def show(self, q, t) -> None:
        """Refuse positions."""
        raise KinetreeError("Viewer.show: this viewer replays runs; kt.view(model) shows positions.")

    def remove(self) -> None:
        """Take everything out of the page."""
        self.folder.remove()
        self.display.folder.remove()
        for x in self.actors:
            x.remove()


def _legend(actors) -> list[str]:
    names = []
    for k, x in enumerate(actors):
        name = getattr(x.run, "model_name", "run")
        how = "" if k == 0 else ", transparent"
        names.append(f"run {k + 1}: {name}, {getattr(x.run, 'integrator', '')}{how}")
    return names
