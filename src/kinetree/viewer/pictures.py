"""Still pictures and films without a display: by the page in Chromium where that is installed, else by matplotlib."""

from __future__ import annotations

import base64
import io
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from kinetree.errors import MissingDependencyError
from kinetree.files import replacing, write_bytes
from kinetree.viewer.chromium import chromium, program
from kinetree.viewer.html import page
from kinetree.viewer.recording import Recording
from kinetree.viewer.shaded import Drawing

FILM = ("-crf", "20", "-movflags", "+faststart")  # of ffmpeg: quality, and playing before all is loaded
COLORS_OF_GIF = 255


def has_browser() -> bool:
    """Whether pictures can be drawn by the page: playwright and a Chromium are installed."""
    return find_spec("playwright") is not None and program() is not None


def pictures(recording: Recording, times: Sequence[float], size, renderer: str, **view) -> Iterator:
    """Pictures of a recording at some times, one after the other.

    Parameters
    ----------
    recording : Recording
    times : sequence of float
        [s]
    size : (int, int)
        Width and height [pixels].
    renderer : {"auto", "browser", "matplotlib"}
    **view
        Of `kinetree.viewer.html.page`: direction, zoom, visible.

    Yields
    ------
    PIL.Image.Image
        In red, green, blue.
    """
    if renderer == "browser" or (renderer == "auto" and has_browser()):
        yield from _by_browser(recording, times, size, view)
    else:
        yield from _by_matplotlib(recording, times, size, view)


def _by_browser(recording, times, size, view) -> Iterator:
    from PIL import Image

    if not has_browser():
        raise MissingDependencyError(
            "pictures by the browser need playwright and Chromium: pip install playwright, and Debian's package "
            "chromium or `playwright install chromium`. Without them renderer='matplotlib' draws.",
            package="playwright",
        )
    # In a thread of its own: playwright's calls cannot wait within the event loop of a notebook.
    with ThreadPoolExecutor(1) as thread:
        for content in thread.submit(_shots, page(recording, **view), times, size).result():
            yield Image.open(io.BytesIO(content)).convert("RGB")


def _shots(text: str, times, size) -> list[bytes]:
    """PNG files of a page at some times."""
    width, height = map(int, size)
    with chromium() as browser:
        sheet = browser.new_context(viewport={"width": width, "height": height}, offline=True).new_page()
        sheet.evaluate("window.kinetreePictures = true")  # smooth edges, though they take long without a graphics card
        sheet.set_content(text)
        sheet.wait_for_function("window.kinetree !== undefined")
        urls = (sheet.evaluate(f"kinetree.picture({float(t)!r}, {width}, {height})") for t in times)
        return [base64.b64decode(url.split(",", 1)[1]) for url in urls]


def _by_matplotlib(recording, times, size, view) -> Iterator:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from PIL import Image

    width, height = size
    figure = Figure(figsize=(width / 100.0, height / 100.0), dpi=100, facecolor="#f3f5f8")
    canvas, axes = FigureCanvasAgg(figure), figure.add_axes((0.0, 0.0, 1.0, 1.0))
    drawing = Drawing(recording, view["direction"], view["zoom"], width / height, view["visible"])
    for t in times:
        drawing.draw(axes, float(t))
        canvas.draw()
        yield Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3].copy())


def write_still(path, recording: Recording, t: float, size, renderer: str, **view) -> None:
    """Write a picture of one time as PNG."""
    with closing(pictures(recording, [t], size, renderer, **view)) as frames, replacing(path) as file:
        next(frames).save(file, "PNG", optimize=True)


def write_gif(path, recording: Recording, times, fps: float, size, renderer: str, **view) -> None:
    """Write a film as GIF, which plays in turn; its frames last whole hundredths of a second."""
    from PIL import Image

    frames = [
        frame.quantize(COLORS_OF_GIF, Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        for frame in pictures(recording, times, size, renderer, **view)
    ]
    with replacing(path) as file:
        duration = 10 * max(2, round(100.0 / fps))
        frames[0].save(file, "GIF", save_all=True, append_images=frames[1:], duration=duration, loop=0, optimize=False)


def write_mp4(path, recording: Recording, times, fps: float, size, renderer: str, **view) -> None:
    """Write a film as MP4 (H.264), which all browsers and players show.

    Raises
    ------
    MissingDependencyError
        imageio-ffmpeg is not installed.
    """
    try:
        import imageio_ffmpeg
    except ImportError as error:
        raise MissingDependencyError(
            f"{path}: MP4 needs imageio-ffmpeg: pip install imageio-ffmpeg. GIF needs nothing else.",
            package="imageio-ffmpeg",
        ) from error
    # ffmpeg writes to a name of its own and moves about in the file.
    with tempfile.TemporaryDirectory(prefix="kinetree-") as folder:
        film = Path(folder) / "film.mp4"
        writer = imageio_ffmpeg.write_frames(
            str(film), size, fps=fps, codec="libx264", pix_fmt_out="yuv420p", quality=None, macro_block_size=2,
            ffmpeg_log_level="error", output_params=[*FILM],
        )  # fmt: skip
        with closing(writer):
            writer.send(None)
            for frame in pictures(recording, times, size, renderer, **view):
                writer.send(frame.tobytes())
        write_bytes(path, film.read_bytes())
