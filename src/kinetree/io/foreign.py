"""Descriptions and repairs of files with a robot, a motion or a shape in a format that kinetree does not read."""

from __future__ import annotations

from pathlib import PurePath

_CONVERT = "convert it to URDF, MJCF or SDF, or build the model with kinetree.ModelBuilder"
_MESH = "it contains a shape; name the robot file that uses it, or give the shape to ModelBuilder.add_body"
_MOTION = "it contains a motion; name the robot file that it belongs to"
_PAGE = "download the file itself: on a page that shows it, by 'Raw' or 'Download'"
_OPENSIM = "convert it to MJCF, for example with MyoConverter, or build the model with kinetree.ModelBuilder"
_USD = "export it as URDF or MJCF from the program that made it"

_BY_ROOT = {
    "OpenSimDocument": ("an OpenSim model", _OPENSIM),
    "COLLADA": ("a COLLADA mesh", _MESH),
    "X3D": ("an X3D scene", _MESH),
    "svg": ("a picture (SVG)", ""),
    "html": ("a web page", _PAGE),
    "HTML": ("a web page", _PAGE),
    "launch": ("a launch file of ROS", "name the robot file that it loads"),
    "package": ("the manifest of a ROS package", "name a robot file of the package"),
    "Robot": ("an OpenRAVE robot", _CONVERT),
    "KinBody": ("an OpenRAVE body", _CONVERT),
    "Environment": ("an OpenRAVE scene", _CONVERT),
    "model": ("a <model> without <sdf> around it, or the manifest of a Gazebo model",
              "if it is SDF, put <sdf version=\"1.7\"> around it; if it is model.config, name the file that it lists"),
    "world": ("a <world> without <sdf> around it", "put <sdf version=\"1.7\"> around it"),
    "gazebo": ("a fragment for the Gazebo simulator", "name the robot file that holds it"),
    "rss": ("a news feed", _PAGE),
}  # fmt: skip
_BY_SUFFIX = {
    ".osim": ("an OpenSim model", _OPENSIM),
    ".usd": ("USD", _USD), ".usda": ("USD", _USD), ".usdc": ("USD", _USD), ".usdz": ("USD", _USD),
    ".mjb": ("a compiled MuJoCo model", "name the MJCF file that it was compiled from"),
    ".erb": ("a template of Ruby", "expand it first: erb model.sdf.erb > model.sdf"),
    ".jinja": ("a template of Jinja", "expand it first"), ".j2": ("a template of Jinja", "expand it first"),
    ".config": ("a configuration, such as the manifest of a Gazebo model", "name the file that it lists"),
    **dict.fromkeys((".stl", ".obj", ".dae", ".ply", ".glb", ".gltf", ".off", ".3mf", ".fbx", ".msh", ".blend"),
                    ("a mesh", _MESH)),
    **dict.fromkeys((".step", ".stp", ".iges", ".igs", ".sldasm", ".f3d", ".ipt", ".iam"),
                    ("a CAD model", "export it as URDF, which most CAD programs do with an extension")),
    **dict.fromkeys((".bvh", ".c3d", ".trc", ".mot", ".sto", ".amc"), ("recorded motion", _MOTION)),
    ".asf": ("a skeleton of recorded motion", _CONVERT),
    **dict.fromkeys((".npz", ".npy", ".csv", ".nc", ".h5"), ("numbers, such as a saved run",
                    "kinetree.Trajectory.load reads runs")),
    **dict.fromkeys((".yaml", ".yml", ".json", ".toml", ".ini"), ("a configuration", "name the robot file")),
    **dict.fromkeys((".zip", ".mjz", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar"),
                    ("a packed file", "unpack it, and name the robot file inside")),
    **dict.fromkeys((".py", ".ipynb", ".m", ".lua", ".rb"), ("a program", "run it, if it makes a robot file")),
    ".slx": ("a Simscape model", _CONVERT),
    ".proto": ("a Webots model", _CONVERT), ".wbt": ("a Webots world", _CONVERT),
    ".ttt": ("a CoppeliaSim scene", _CONVERT), ".ttm": ("a CoppeliaSim model", _CONVERT),
    ".md": ("a text", ""), ".txt": ("a text", ""), ".pdf": ("a PDF", ""),
}  # fmt: skip


def refusal(what: str) -> str:
    """The message about a file that is something else."""
    return f"this is {what}, which kinetree does not read yet; it reads URDF, MJCF and SDF"


def expanded(path: PurePath | None) -> str:
    """The command that makes a URDF file of a xacro macro file.

    Examples
    --------
    >>> expanded(PurePath("robots/arm.xacro")), expanded(PurePath("arm.urdf.xacro")), expanded(PurePath("arm.urdf"))
    ('xacro arm.xacro > arm.urdf', 'xacro arm.urdf.xacro > arm.urdf', 'xacro arm.urdf > arm.expanded.urdf')
    """
    name = "robot.urdf.xacro" if path is None else path.name
    stem = name.removesuffix(".xacro").removesuffix(".urdf")
    target = f"{stem}.urdf" if f"{stem}.urdf" != name else f"{stem}.expanded.urdf"
    return f"xacro {name} > {target}"


def foreign_root(tag: str) -> tuple[str, str] | None:
    """Description and repair of an XML file with this root element; None for an unknown element.

    Examples
    --------
    >>> foreign_root("OpenSimDocument")[0]
    'an OpenSim model'
    """
    return _BY_ROOT.get(tag.split("}")[-1])


def foreign_name(path: PurePath | None) -> tuple[str, str] | None:
    """Description and repair of a file by its suffix; None for an unknown suffix.

    Examples
    --------
    >>> foreign_name(PurePath("robot.sdf.erb"))
    ('a template of Ruby', 'expand it first: erb model.sdf.erb > model.sdf')
    """
    return None if path is None else _BY_SUFFIX.get(path.suffix.lower())
