"""The panel that chooses what is drawn."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from kinetree.viewer.nodes import kind_of
from kinetree.viewer.overlays import Arrows
from kinetree.viewer.scene import ROLES, Scene

NO_SHAPES = "none"


class Display:
    """Choice of the shapes and of the overlays that are drawn.

    Parameters
    ----------
    gui : viser.GuiApi
    scenes : sequence of Scene
    overlays : iterable
        Of all mechanisms; one box for each kind.
    role : str
        Of the shapes at first.
    coarse : bool
        Whether coarse copies of the shapes are drawn at first.
    changed : callable
        Called without arguments when a user changes the choice.
    """

    def __init__(self, gui, scenes, overlays: Iterable, role: str, coarse: bool, changed: Callable[[], None]) -> None:
        kinds, notes = {}, {}
        for overlay in overlays:
            kind = kind_of(overlay)
            kinds[kind] = kinds.get(kind, False) or overlay.shown
            if isinstance(overlay, Arrows) and overlay.scale:
                notes[kind] = f"1 m = {1.0 / overlay.scale:.3g} {overlay.unit}"
        self.folder = gui.add_folder("Show")
        with self.folder:
            self._role = gui.add_dropdown("shapes", (*ROLES, NO_SHAPES), initial_value=role)
            self._role.on_update(lambda _: changed())
            self._coarse = gui.add_checkbox("coarse", coarse, hint="shapes of few triangles, without a graphics card")
            self._coarse.on_update(lambda _: changed())
            self._boxes = {}
            for kind, shown in kinds.items():
                self._boxes[kind] = gui.add_checkbox(kind, shown, hint=notes.get(kind))
                self._boxes[kind].on_update(lambda _: changed())
            texts = [*dict.fromkeys(note for scene in scenes for note in scene.notes)]
            texts += [f"{kind}: {note}" for kind, note in notes.items()]
            if texts:
                gui.add_markdown("\n".join(f"- {text}" for text in texts[:8]))

    @property
    def role(self) -> str:
        """The chosen shapes."""
        return self._role.value

    @property
    def coarse(self) -> bool:
        """Whether coarse copies of the shapes are drawn."""
        return self._coarse.value

    @property
    def shapes(self) -> tuple[str, bool]:
        """What `show` depends on."""
        return self.role, self.coarse

    @property
    def shown(self) -> set[str]:
        """The kinds of overlays that are drawn."""
        return {kind for kind, box in self._boxes.items() if box.value}

    def show(self, bodies, scene: Scene) -> None:
        """Draw the chosen shapes of one mechanism."""
        role = self.role
        bodies.show_shapes(scene if role == NO_SHAPES else Scene.of(scene.model, role), role, self.coarse)
