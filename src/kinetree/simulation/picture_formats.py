"""Formats of files that show runs, which `kinetree.viewer` writes: by their suffixes."""

from __future__ import annotations

from kinetree.errors import ArgumentError

PICTURES = (".html", ".glb", ".rrd", ".png", ".gif", ".mp4")


def refuse_options_of_pictures(where: str, path, view: dict) -> None:
    """Refuse options that only pictures have.

    Parameters
    ----------
    where : str
        The call, for the message.
    path : path-like
    view : dict
        The options.
    """
    if option := next(iter(view), None):
        fault = f"{path} takes no option {option!r}: it belongs to pictures ({', '.join(PICTURES)})"
        raise ArgumentError(f"{where}: {fault}.", argument=option)
