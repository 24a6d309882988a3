"""Provenance of a run: the version, the robot and the seed that determine it, and the session that computed it."""

from __future__ import annotations

import platform
import sys
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from kinetree.once import once


@dataclass(frozen=True, slots=True)
class Session:
    """Where and when a run was made: data in which equal runs differ.

    Attributes
    ----------
    date : str
        When it began, in coordinated universal time, as in ISO 8601; empty if unknown.
    machine, system : str
        The name of the computer; its operating system and processor.
    python, numpy : str
        Versions.
    """

    date: str = ""
    machine: str = ""
    system: str = ""
    python: str = ""
    numpy: str = ""


@dataclass(frozen=True, slots=True)
class Provenance:
    """Provenance of a run; unknown fields are empty.

    Attributes
    ----------
    version : str
        Of kinetree.
    digest : str
        Of the model that was given, its shape and numbers: equal for the same model in any process.
    simulated_digest : str
        Of the model as simulated, with the stops and other things that the run added.
    seed : int or None
        Of the random start.
    session : Session
    """

    version: str = ""
    digest: str = ""
    simulated_digest: str = ""
    seed: int | None = None
    session: Session = Session()


def this_session() -> Session:
    """The session of a run that begins now."""
    about = platform.uname()
    return Session(
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=about.node,
        system=f"{about.system} {about.release} {about.machine}",
        python=".".join(map(str, sys.version_info[:3])),
        numpy=np.__version__,
    )


def provenance(digest: str, simulated_digest: str, seed: int | None, session: Session) -> Provenance:
    """The provenance of a run."""
    return Provenance(version(), digest, simulated_digest, None if seed is None else int(seed), session)


@once
def version() -> str:
    """The version of kinetree."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("kinetree")
    except PackageNotFoundError:
        return "from source"
