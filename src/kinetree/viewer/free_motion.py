"""Motion of a model under gravity in the viewer, in real time or slower."""

from __future__ import annotations

import time

import numpy as np

from kinetree.errors import KinetreeError
from kinetree.simulation.options import Record
from kinetree.simulation.simulation import Simulation

LONGEST = 0.05  # [s] of simulated time from drawing to drawing: a slow model moves slower than real time
SPEEDS = ("0.05", "0.1", "0.25", "0.5", "1", "2")


class FreeMotion:
    """A simulation without inputs that begins where the sliders are.

    Parameters
    ----------
    gui : viser.GuiApi
    stage : ModelStage
        It has the model and the position at the start.
    """

    def __init__(self, gui, stage) -> None:
        self._stage, self._simulation, self._last = stage, None, 0.0
        model = stage.model
        self._direction = np.asarray(model.gravity, float)
        strength = float(np.linalg.norm(self._direction))
        self._direction = self._direction / strength if strength else np.array((0.0, 0.0, -1.0))
        floats = any(model.joints[i].nv == 6 for i in model.outward())
        touches = any(g.role != "visual" for shapes in model.geometry[1:] for g in shapes)
        self.folder = gui.add_folder("Motion", expand_by_default=False)
        with self.folder:
            self._button = gui.add_button("Let it move")
            self._gravity = gui.add_slider("gravity [m/s\N{SUPERSCRIPT TWO}]", 0.0, 20.0, 0.01, min(strength, 20.0))
            self._speed = gui.add_dropdown("speed", SPEEDS, initial_value="1")
            self._ground = gui.add_checkbox("ground", floats and touches, visible=touches and not model.contacts)
            self._message = gui.add_markdown("")
        self._button.on_click(lambda _: stage.ask("motion", not self.running))
        self._gravity.on_update(lambda _: stage.ask("gravity", True))

    @property
    def running(self) -> bool:
        """Whether the model moves."""
        return self._simulation is not None

    @property
    def q(self) -> np.ndarray:
        """Positions now."""
        return self._simulation.q

    @property
    def t(self) -> float:
        """Time now [s]."""
        return self._simulation.time

    def start(self, v=None) -> None:
        """Begin at the position of the stage, at rest or with a velocity."""
        stage = self._stage
        self._message.content = "compiling..."
        try:
            model = stage.model.replace(gravity=self._gravity.value * self._direction)
            ground = True if self._ground.value and not model.contacts else None
            self._simulation = Simulation(model, stage.q, v, ground=ground, record=Record(every=1_000_000))
        except KinetreeError as error:
            self._message.content = str(error)
            return
        self._message.content, self._button.label, self._last = "", "Stop", time.perf_counter()

    def stop(self) -> None:
        """End the motion; the position stays."""
        if self._simulation is not None:
            self._simulation, self._button.label = None, "Let it move"

    def advance(self) -> bool:
        """Move as far as the wall time since the last call; whether the model moved."""
        now = time.perf_counter()
        passed, self._last = now - self._last, now
        try:
            self._simulation.advance(min(float(self._speed.value) * passed, LONGEST))
        except KinetreeError as error:
            self._message.content = str(error)
            self.stop()
            return False
        return True

    def change_gravity(self) -> None:
        """Continue with the gravity of the slider."""
        if self.running:
            velocity = self._simulation.v
            self.start(velocity)
