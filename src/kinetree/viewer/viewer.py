"""The live viewer: a page in a browser that shows a model or replays runs."""

from __future__ import annotations

import atexit
import html
import threading
import time
import traceback

import numpy as np

from kinetree.arguments import a_truth_value, array, choice, refuse, text, whole
from kinetree.errors import KinetreeError
from kinetree.viewer import server as servers
from kinetree.viewer.camera import FIELD_OF_VIEW, first_view
from kinetree.viewer.nodes import ground, lines
from kinetree.viewer.part import Part, pose_matrix
from kinetree.viewer.replay_stage import ReplayStage
from kinetree.viewer.scene import ROLES

DETAILS = ("full", "coarse")
OFFER = 1.0 / 40.0  # [s] of wall time between positions that a running simulation shows
MANY = 50_000  # triangles: without a graphics card, shadows of more take seconds
RISE = 0.02  # of the size: a grid is drawn at height zero if the robot does not reach farther below


class Viewer:
    """A page that shows a model or replays runs; made by `kinetree.view`.

    Attributes
    ----------
    url : str
        Address of the page.
    host : str
    port : int
    coarse : bool
        Whether coarse shapes are drawn at first.
    server : viser.ViserServer
        For additions to the page.
    stage : ModelStage or ReplayStage
        What the page shows.
    shadows : viser.GuiCheckboxHandle
        Whether it shows shadows.
    """

    def __init__(self, host: str, port: int, label: str, coarse: bool = False) -> None:
        self.server = servers.start(host, port, label)
        self.host, self.port, self.coarse = host, self.server.get_port(), coarse
        self.url = servers.address(host, self.port, coarse)
        self.lock = threading.RLock()
        self.stage = self._grid = self._ground = None
        self._wake, self._closed, self._clients, self._offered = threading.Event(), threading.Event(), 0, 0.0
        self._thread = threading.Thread(target=self._work, name="kinetree viewer", daemon=True)
        self.server.gui.configure_theme(show_logo=False, show_share_button=False)
        self.server.gui.main_panel.dock_right()
        self.server.on_client_connect(lambda _: self.watched_by(1))
        self.server.on_client_disconnect(lambda _: self.watched_by(-1))
        self._thread.start()
        atexit.register(self.close)

    def __repr__(self) -> str:
        return f"<viewer at {self.url}{', closed' if self._closed.is_set() else ''}>"

    def _repr_html_(self) -> str:
        """The page in a notebook, which shows it where the browser reaches this address."""
        return f'<iframe src="{html.escape(self.url)}" width="100%" height="520" style="border:0"></iframe>'

    # Content ----------------------------------------------------------------------------------------------------------

    def put(self, stage_of) -> None:
        """Show the stage that ``stage_of()`` makes, instead of what was there."""
        with self.lock, self.server.atomic():
            if self.stage is not None:
                self.stage.remove()
            self.stage = stage = stage_of()
            self._look(*stage.camera())
            with stage.display.folder:
                self.shadows = self.server.gui.add_checkbox("shadows", bool(self._sun.cast_shadow))
            self.shadows.on_update(lambda event: setattr(self._sun, "cast_shadow", event.target.value))
        self.wake()

    def replay(self, *runs, role: str = "visual", play: bool = True) -> None:
        """Replay runs over each other, instead of what was there.

        Parameters
        ----------
        *runs : Trajectory or CoupledRun
        role : {"visual", "collision", "stick"}
        play : bool
            Start at once.
        """
        self.put(lambda: ReplayStage(self, runs, role))
        if play:
            self.stage.play()

    def _look(self, lower, upper, up) -> None:
        """Put the camera where all is seen, and a grid below unless the scene has a ground."""
        server, camera = self.server, self.server.initial_camera
        server.scene.set_up_direction(tuple(up))
        camera.position, camera.look_at = first_view(lower, upper, up)
        self._light(up)
        camera.fov = FIELD_OF_VIEW
        size = float((upper - lower).max()) or 1.0
        camera.near, camera.far = 0.005 * size, 200.0 * size
        self._ground = None
        self.lay_ground(self.coarse)
        scenes = [x.scene for x in getattr(self.stage, "actors", (self.stage,)) if x.scene is not None]
        if any(part.kind == "plane" for scene in scenes for part in scene.parts):
            return
        lowest = min(lower @ up, upper @ up)
        height = 0.0 if -RISE * size <= lowest <= size else lowest
        z = np.asarray(up, float)
        x = np.eye(3)[int(np.argmin(np.abs(z)))]
        X = pose_matrix(np.stack([x, np.cross(z, x), z], axis=1), height * z)
        side = float(2.0 ** np.ceil(np.log2(3.0 * size)))
        self._ground = Part("grid", 0, "visual", X, "plane", (side, side), (0.9, 0.9, 0.9, 1.0))
        self.lay_ground(self.coarse)

    def lay_ground(self, coarse: bool) -> None:
        """Draw the grid of a scene without a ground of its own; of few lines if coarse."""
        if self._grid is not None:
            self._grid.remove()
        self._grid = self._ground and (lines if coarse else ground)(self.server, "/grid", self._ground)

    def _light(self, up) -> None:
        """Light from the sky, from above on the camera's side with shadows, and a little from the other side."""
        scene = self.server.scene
        scene.configure_default_lights(False)
        scene.configure_environment_map(None)  # an image as light takes ten seconds where there is no graphics card
        scene.add_light_hemisphere("/light/sky", intensity=1.35, ground_color=(150, 146, 140), position=tuple(up))
        toward = self.server.initial_camera.position - self.server.initial_camera.look_at
        toward = toward / np.linalg.norm(toward)
        side = np.cross(up, toward)
        places = {"key": (0.5 * toward - 0.7 * side + 1.2 * up, 1.8), "fill": (toward + side, 0.35)}
        lights = {
            name: scene.add_light_directional(f"/light/{name}", intensity=intensity, position=tuple(10.0 * place))
            for name, (place, intensity) in places.items()
        }
        self._sun = lights["key"]
        self._sun.cast_shadow = not self.coarse and self._triangles() < MANY

    def _triangles(self) -> int:
        """How many are drawn."""
        scenes = [x.scene for x in getattr(self.stage, "actors", (self.stage,)) if x.scene is not None]
        return sum(len(x.faces) for scene in scenes for part in scene.parts for x in part.triangles())

    def show(self, q, t: float | None = None) -> None:
        """Show a position of the model.

        Parameters
        ----------
        q : (nq,) array_like
            [rad or m; quaternions unit]
        t : float, optional
            [s], for models that depend on time.

        Raises
        ------
        ShapeError, NonFiniteError
        KinetreeError
            The viewer replays runs, or it is closed.
        """
        if self._closed.is_set():
            raise KinetreeError("Viewer.show: the viewer is closed.")
        if hasattr(self.stage, "model"):
            q = array("Viewer.show: q", q, shape=(self.stage.model.nq,))
        self.stage.show(q, t)

    def offer(self, q, t: float) -> None:
        """Show a position of a running simulation, if a page is open and the last one is a while ago."""
        if not self._clients:
            return
        now = time.perf_counter()
        if now - self._offered >= OFFER:
            self._offered = now
            self.stage.show(q, t)

    # Life -------------------------------------------------------------------------------------------------------------

    @property
    def watched(self) -> bool:
        """Whether a page is open."""
        return self._clients > 0

    def wake(self) -> None:
        """Have the viewer's thread look for changes."""
        self._wake.set()

    def wait(self) -> None:
        """Return when the viewer is closed, or after Ctrl-C, which closes it."""
        try:
            while not self._closed.wait(0.2):
                pass
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """Close the page and its server."""
        if not self._closed.is_set():
            self._closed.set()
            self.wake()
            if self._thread is not threading.current_thread():
                self._thread.join(timeout=5.0)
            servers.stop(self.server)
            atexit.unregister(self.close)

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def watched_by(self, change: int) -> None:
        """Count pages that open and close."""
        with self.lock:
            self._clients += change
        self.wake()

    def _work(self) -> None:
        """Draw whenever something has changed, and at the rate of the page while something moves."""
        while not self._closed.is_set():
            stage = self.stage
            self._wake.wait(3600.0 if stage is None else stage.period)
            self._wake.clear()
            if self.stage is None or self._closed.is_set():
                continue
            try:
                with self.lock, self.server.atomic():
                    self.stage.tick()
            except Exception:  # the page stays
                traceback.print_exc()


def opened(
    put, title: str, role: str, host: str = "127.0.0.1", port: int = 8080, block: bool = False, quiet: bool = False,
    detail: str = "full",
) -> Viewer:  # fmt: skip
    """A viewer on which ``put(viewer)`` has put what it shows; arguments as for `kinetree.view`."""
    choice("view: role", role, ROLES)
    choice("view: detail", detail, DETAILS)
    text("view: host", host, "an address, as '127.0.0.1'")
    whole("view: port", port, "a port, a whole number from 1 to 65535", least=1)
    if port > 65535:
        refuse("view: port", port, "a port, a whole number from 1 to 65535")
    for what, value in (("block", block), ("quiet", quiet)):
        a_truth_value(f"view: {what}", value)
    viewer = Viewer(host, int(port), title, detail == "coarse")
    try:
        put(viewer)
    except BaseException:
        viewer.close()
        raise
    if not quiet:
        print(servers.directions(viewer.url, viewer.port))
    if block:
        viewer.wait()
    return viewer


def replayed(runs, *, role: str = "visual", play: bool = True, **options) -> Viewer:
    """A viewer that replays runs; options as for `kinetree.view`."""
    a_truth_value("view: play", play)
    for run in runs:
        if not (hasattr(run, "time") and hasattr(run, "q")) or isinstance(run, type):
            refuse("view: model_or_run", run, "a Model, or a Trajectory as kt.simulate gives it")
        if getattr(run, "model", True) is None:
            raise KinetreeError("view: this run has no model; load it with it: Trajectory.load(path, model=model).")
    title = str(getattr(runs[0], "model_name", "run"))
    return opened(lambda viewer: viewer.replay(*runs, role=role, play=play), title, role, **options)
