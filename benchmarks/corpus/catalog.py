"""Which files belong to the corpus: found through the metadata of installed packages, which are never imported."""

from __future__ import annotations

import functools
import importlib.metadata
import pathlib
import re
from typing import NamedTuple


class Corpus(NamedTuple):
    """Files of one package: those below ``folder`` whose suffix and relative path match."""

    name: str
    package: str
    folder: str
    suffixes: tuple[str, ...]
    only: str = ""  # regular expression that a relative path must match from its start
    but: str = r"(?!)"  # and must not

    def files(self) -> list[File]:
        """The files in the order of their names; none if the package is not installed."""
        try:
            package = importlib.metadata.distribution(self.package)
        except importlib.metadata.PackageNotFoundError:
            return []
        found = []
        for entry in sorted(package.files or (), key=str):
            if entry.suffix not in self.suffixes or not entry.as_posix().startswith(self.folder):
                continue
            name = entry.as_posix()[len(self.folder) :]
            if re.match(self.only, name) and not re.match(self.but, name):
                found.append(File(self.name, name))
        return found

    def path(self, name: str) -> pathlib.Path:
        """Where a file is on this machine."""
        return pathlib.Path(importlib.metadata.distribution(self.package).locate_file(self.folder + name))

    @property
    def version(self) -> str | None:
        """Version of the package, None if it is not installed."""
        try:
            return importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            return None


class File(NamedTuple):
    """One file: the name of its corpus, and its path below the corpus' folder."""

    corpus: str
    name: str

    @property
    def path(self) -> pathlib.Path:
        """Where it is on this machine."""
        return CORPORA[self.corpus].path(self.name)

    @property
    def suffix(self) -> str:
        """The ending, which says the format."""
        return pathlib.PurePosixPath(self.name).suffix


_ROBOTS, _SUITE = "cmeel.prefix/share/example-robot-data/robots/", r"suite/|locomotion/walkers/"
_NO_MODELS = r".*(schema|package)\.xml$|.*attribute_test_schema|.*_config\.xml$"

CORPORA = {
    corpus.name: corpus
    for corpus in (
        Corpus("example-robot-data URDF", "example-robot-data", _ROBOTS, (".urdf",)),
        Corpus("pybullet_data URDF", "pybullet", "pybullet_data/", (".urdf",), but="random_urdfs/"),
        Corpus("pybullet_data random_urdfs", "pybullet", "pybullet_data/", (".urdf",), only="random_urdfs/"),
        Corpus("pybullet_data MJCF", "pybullet", "pybullet_data/", (".xml",)),
        Corpus("dm-control suite and walkers", "dm-control", "dm_control/", (".xml",), only=_SUITE),
        Corpus("gymnasium MJCF", "gymnasium", "gymnasium/envs/mujoco/assets/", (".xml",)),
        Corpus("mujoco-mjx test data", "mujoco-mjx", "mujoco/mjx/test_data/", (".xml",)),
        Corpus("musclemimic-models MJCF", "musclemimic-models", "musclemimic_models/model/", (".xml",)),
        Corpus("example-robot-data SDF", "example-robot-data", _ROBOTS, (".sdf",)),
        Corpus("pybullet_data SDF", "pybullet", "pybullet_data/", (".sdf",)),
        Corpus("dm-control, the rest", "dm-control", "dm_control/", (".xml",), but=f"{_SUITE}|{_NO_MODELS}"),
        Corpus("gymnasium-robotics MJCF", "gymnasium-robotics", "gymnasium_robotics/envs/", (".xml",), but=_NO_MODELS),
        Corpus("robosuite MJCF", "robosuite", "robosuite/models/assets/", (".xml",), but=_NO_MODELS),
        Corpus("robosuite URDF", "robosuite", "robosuite/models/assets/", (".urdf",)),
    )
}
GROUPED = ("pybullet_data random_urdfs",)  # one line of the table for files that differ in numbers only

# Files that are also run through compiled code: small and large, fixed and free, each format.
COMPILED = {
    File(*pair)
    for pair in (
        ("example-robot-data URDF", "panda_description/urdf/panda.urdf"),
        ("example-robot-data URDF", "ur_description/urdf/ur5_robot.urdf"),
        ("example-robot-data URDF", "talos_data/robots/talos_reduced.urdf"),
        ("example-robot-data URDF", "anymal_b_simple_description/robots/anymal.urdf"),
        ("pybullet_data URDF", "r2d2.urdf"),
        ("example-robot-data SDF", "cassie_description/robots/cassie_v2.sdf"),
        ("dm-control suite and walkers", "suite/cheetah.xml"),
        ("dm-control suite and walkers", "suite/humanoid.xml"),
        ("dm-control suite and walkers", "suite/quadruped.xml"),
        ("gymnasium MJCF", "ant.xml"),
        ("gymnasium MJCF", "walker2d.xml"),
        ("mujoco-mjx test data", "pendula.xml"),
        ("mujoco-mjx test data", "shadow_hand/right_hand.xml"),
        ("musclemimic-models MJCF", "arm/myoarm_bimanual.xml"),
    )
}


def selected(patterns: list[str]) -> list[File]:
    """All files, or those of which "corpus/path" holds one of the patterns."""
    everything = [file for corpus in CORPORA.values() for file in corpus.files()]
    return [file for file in everything if not patterns or any(p in f"{file.corpus}/{file.name}" for p in patterns)]


def absent() -> list[str]:
    """The corpora whose package is not installed."""
    return [name for name, corpus in CORPORA.items() if corpus.version is None]


@functools.cache
def included_by(corpus: str) -> dict[str, str]:
    """For MJCF files that others of the same package include: the path of the first one that does."""
    folder = CORPORA[corpus].path("").resolve()
    found: dict[str, str] = {}
    for path in sorted(folder.rglob("*.xml")):
        text = path.read_text(errors="ignore")
        for target in re.findall(r"<include\s+file\s*=\s*[\"']([^\"']+)", text):
            # MuJoCo resolves an include from the folder of the main file, which is unknown here: both are tried.
            for base in (path.parent, *path.parent.parents):
                candidate = (base / target).resolve()
                if candidate.is_file():
                    found.setdefault(candidate.relative_to(folder).as_posix(), path.relative_to(folder).as_posix())
                    break
                if base == folder:
                    break
    return found
