"""Images on shapes, as data: a file, or a pattern of two colors."""

from __future__ import annotations

from dataclasses import dataclass

from kinetree.errors import ModelError

PATTERNS = ("checker", "gradient", "flat")


@dataclass(frozen=True, slots=True)
class Texture:
    """The image of a material.

    Parameters
    ----------
    file : str, optional
        A PNG or JPEG file.
    pattern : {"checker", "gradient", "flat"}, optional
        Of the colors, instead of a file.
    colors : sequence of (red, green, blue)
        Of the pattern, each from 0 to 1.
    repeat : (float, float)
        How many times the image is repeated along x and y of the shape [1], or of a meter [1/m] where ``uniform``.
    uniform : bool
        Whether the image has one size on all shapes.

    Raises
    ------
    ModelError
        There are both a file and a pattern, or neither, or an unknown pattern.
    """

    file: str | None = None
    pattern: str | None = None
    colors: tuple[tuple[float, ...], ...] = ((0.8, 0.8, 0.8), (0.5, 0.5, 0.5))
    repeat: tuple[float, float] = (1.0, 1.0)
    uniform: bool = False

    def __post_init__(self) -> None:
        if (self.file is None) == (self.pattern is None) or self.pattern not in (None, *PATTERNS):
            raise ModelError(
                f"texture: file {self.file!r} and pattern {self.pattern!r}, expected one of them; patterns are "
                f"{', '.join(PATTERNS)}"
            )
        object.__setattr__(self, "colors", tuple(tuple(map(float, color)) for color in self.colors))
        object.__setattr__(self, "repeat", tuple(map(float, self.repeat)))
