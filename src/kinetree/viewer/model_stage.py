"""A model to be moved: by sliders, by a frame that is dragged, by its dynamics, or by a simulation that runs."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import array
from kinetree.conventions.rotations import rotation_matrix
from kinetree.errors import AssemblyError, UnsupportedError
from kinetree.model.closing import usual_position
from kinetree.viewer.camera import up_of
from kinetree.viewer.display import Display
from kinetree.viewer.free_motion import FreeMotion
from kinetree.viewer.nodes import BodyNodes, OverlayNodes, quaternion
from kinetree.viewer.overlays import overlays_at, size_of
from kinetree.viewer.playback import FRAME
from kinetree.viewer.scene import Scene
from kinetree.viewer.sliders import Sliders

NO_FRAME = "none"
DRAG_STEPS = 12  # of the search for a position at each motion of the pointer


class ModelStage:
    """Sliders, a frame to drag, and motion under gravity.

    Parameters
    ----------
    viewer : Viewer
    model : Model
    q : (nq,) array or None
        [rad or m; quaternions unit]
    role : str
    """

    def __init__(self, viewer, model, q, role: str) -> None:
        self._viewer, server = viewer, viewer.server
        self.scene = Scene.of(model, role)
        self.model, self.size = self.scene.model, size_of(self.scene)
        self.q = usual_position(self.model) if q is None else array("view: q", q, shape=(self.model.nq,))
        self.t, self.x = 0.0, None
        self._bodies = BodyNodes(server, "/model", self.scene, coarse=viewer.coarse)
        self._overlays = OverlayNodes(server, "/model overlays", self.size)
        self._shapes, self._asked, self._dirty = (role, viewer.coarse), {}, True
        self._dragged = self._gizmo = None
        gui = server.gui
        self.motion = FreeMotion(gui, self)
        self._joints(gui)
        overlays = overlays_at(self.scene, self.q, t=0.0)
        self.display = Display(gui, [self.scene], overlays, role, viewer.coarse, self.changed)

    def _joints(self, gui) -> None:
        names = [frame.name for frame in self.model.frames[1:]]
        can_drag = not self.model.time_dependent
        self.folder = gui.add_folder("Joints")
        with self.folder:
            self._frame = gui.add_dropdown("drag frame", (NO_FRAME, *names), initial_value=NO_FRAME, visible=can_drag)
            self._turn = gui.add_checkbox("keep its orientation", False, visible=False)
            self._message = gui.add_markdown("")
            self._reset = gui.add_button("Reset")
            self.sliders = Sliders(gui, self.model, self.size, lambda joint: self.ask("joint", joint))
        self.sliders.write(self.q)
        self._frame.on_update(lambda event: self.ask("frame", event.target.value))
        self._turn.on_update(lambda event: self.ask("frame", self._frame.value))
        self._reset.on_click(lambda _: self.ask("reset", True))

    # Requests of the page, which the viewer's thread carries out ------------------------------------------------------

    def ask(self, what: str, value) -> None:
        """Keep a request; of several of one kind the last."""
        with self._viewer.lock:
            self._asked[what] = value
        self._viewer.wake()

    def changed(self) -> None:
        """Draw again."""
        self._dirty = True
        self._viewer.wake()

    def show(self, q, t=None) -> None:
        """Draw a position at the next occasion."""
        self.ask("show", (np.array(q, dtype=float), t))

    @property
    def period(self) -> float:
        """Seconds until the next drawing."""
        return FRAME if self.motion.running else 3600.0

    def tick(self) -> None:
        """Carry out the requests and draw."""
        asked, self._asked = self._asked, {}
        for what, value in asked.items():
            getattr(self, f"_on_{what}")(value)
        if self.motion.running and self.motion.advance():
            self._moved_to(self.motion.q, self.motion.t)
        if not self._dirty:
            return
        self._dirty = False
        if self.display.shapes != self._shapes:
            self._shapes = self.display.shapes
            self._viewer.lay_ground(self.display.coarse)
            self.display.show(self._bodies, self.scene)
        self._bodies.move(self.scene.poses(self.q, self.t)[0])
        shown = self.display.shown
        self._overlays.draw(overlays_at(self.scene, self.q, self.x, self.t) if shown else (), shown)

    def _moved_to(self, q, t=None) -> None:
        self.q, self._dirty = q, True
        self.t = self.t if t is None else t
        self.sliders.write(q)
        if self._gizmo is not None and self._dragged is None:
            self._gizmo.position, self._gizmo.wxyz = self._pose_of_frame()

    def _on_motion(self, moving: bool) -> None:
        if moving:
            self.motion.start()
        else:
            self.motion.stop()

    def _on_gravity(self, _) -> None:
        self.motion.change_gravity()

    def _on_show(self, value) -> None:
        self._moved_to(*value)

    def _on_reset(self, _) -> None:
        self.motion.stop()
        self._message.content = ""
        self._moved_to(usual_position(self.model), 0.0)

    def _on_joint(self, joint: str) -> None:
        """Sliders were moved: positions that close the loops, or those before."""
        self.motion.stop()
        q = self.sliders.read(self.q)
        try:
            if self.model.constraints:
                from kinetree.analysis.assemble import assemble

                q = assemble(self.model, q, fixed=joint)
            self._message.content = ""
        except AssemblyError:
            q, self._message.content = self.q, f"joint {joint!r} goes no further: a loop would open"
        self._moved_to(q)

    # Dragging ---------------------------------------------------------------------------------------------------------

    def _pose_of_frame(self) -> tuple[np.ndarray, np.ndarray]:
        frame = self.model.frame(self._frame.value)
        pose = self.scene.poses(self.q, self.t)[0, frame.body]
        R = rotation_matrix(pose[3:])
        return pose[:3] + R @ frame.p_BF, quaternion(R @ frame.R_BF)

    def _on_frame(self, name: str) -> None:
        if self._gizmo is not None:
            self._gizmo.remove()
            self._gizmo = None
        self._turn.visible = name != NO_FRAME
        if name == NO_FRAME:
            return
        p, wxyz = self._pose_of_frame()
        self._gizmo = self._viewer.server.scene.add_transform_controls(
            "/drag", scale=0.3 * self.size, position=p, wxyz=wxyz, disable_rotations=not self._turn.value,
            depth_test=False,
        )  # fmt: skip

        @self._gizmo.on_update
        def _(event) -> None:
            if event.client is not None or event.phase == "end":
                self.ask("drag", (np.array(event.target.position), np.array(event.target.wxyz), event.phase == "end"))

    def _on_drag(self, value) -> None:
        """The position of the joints, within their limits and with loops closed, next to that of the pointer."""
        from kinetree.control.pose_search import inverse_kinematics

        self.motion.stop()
        p, wxyz, ended = value
        target = (rotation_matrix(wxyz), p) if self._turn.value else p
        try:
            found = inverse_kinematics(self.model, {self._frame.value: target}, self.q, max_iterations=DRAG_STEPS)
            self._message.content = "" if found.success or not ended else found.message
            q = np.array(found.q)
        except (AssemblyError, UnsupportedError) as error:
            self._message.content, q = str(error), self.q
        self._dragged = None if ended else True
        self._moved_to(q)

    def remove(self) -> None:
        """Take everything out of the page."""
        for folder in (self.motion.folder, self.folder, self.display.folder):
            folder.remove()
        if self._gizmo is not None:
            self._gizmo.remove()
        self._overlays.remove()
        self._bodies.remove()

    def camera(self) -> tuple:
        """Box of the mechanism and the axis that points up."""
        return (*self.scene.bounds(self.q), up_of(self.model))
