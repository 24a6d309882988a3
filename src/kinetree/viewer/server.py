"""The server of a viewer: viser on an address of this machine, and how to reach it."""

from __future__ import annotations

import getpass
import socket
from contextlib import contextmanager

from kinetree.errors import KinetreeError, MissingDependencyError

HINT = (
    'the viewer needs the package viser: pip install viser, or in a checkout of kinetree pip install ".[view]". '
    'Without it, run.save("run.html") writes a page, and run.save("run.gif") a film, by matplotlib where no browser is.'
)


def viser():
    """The package.

    Raises
    ------
    MissingDependencyError
        It is not installed; the message has the line that installs it.
    """
    try:
        import viser as package
    except ImportError as error:
        raise MissingDependencyError(HINT, package="viser") from error
    return package


def start(host: str, port: int, label: str):
    """A server on the first free port from the given one on, without viser's own message.

    Raises
    ------
    MissingDependencyError, KinetreeError
    """
    package = viser()
    try:
        # Viser's own thread ends with the error of a wrong address, and its caller waits for ever.
        with socket.create_server((host, 0)):
            pass
        with _silence():
            return package.ViserServer(host=host, port=port, label=label, verbose=False)
    except (OSError, UnicodeError) as error:
        raise KinetreeError(f"view: no server can listen on host {host!r}, port {port}: {error}") from error


def stop(server) -> None:
    """Stop a server without viser's own message."""
    with _silence():
        server.stop()


@contextmanager
def _silence():
    """Viser prints boxes in any case."""
    import rich

    console = rich.get_console()
    quiet, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = quiet


def address(host: str, port: int, coarse: bool = False) -> str:
    """Where a browser of this machine finds the page; a coarse one has half of the pixels along each edge."""
    there = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    return f"http://{there}:{port}" + ("/?fixedDpr=0.5" if coarse else "")


def directions(url: str, port: int) -> str:
    """How to open a page, here and over ssh."""
    line = f"ssh -L {port}:127.0.0.1:{port} {getpass.getuser()}@{socket.gethostname()}"
    return f"viewer: {url}\n  from another machine, first: {line}"
