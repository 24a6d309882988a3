"""The schema of simulation files: JSON Schema, made of the registries of forces, constraints, controllers and methods.

`checking` checks files by it, editors read it from ``schema.json``, and docs/simulation_files.md lists its entries.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import MISSING, fields

from kinetree.constraints import CONSTRAINTS
from kinetree.control.joint_control import ComputedTorque, JointImpedance, PDGravityCompensation
from kinetree.forces.registry import FORCES
from kinetree.integrators.methods import ADAPTIVE, FIXED_STEP
from kinetree.io.urdf.loop_file import ENTRIES, NEEDED, TYPES
from kinetree.joints.time_functions import TIME_FUNCTIONS
from kinetree.once import once
from kinetree.sweeps.design import DESIGNS, SAMPLINGS
from kinetree.sweeps.distributions import DISTRIBUTIONS
from kinetree.sweeps.measures import MEASURES

NUMBER, TEXT, FLAG = {"type": "number"}, {"type": "string", "minLength": 1}, {"type": "boolean"}
POSITIVE, NOT_NEGATIVE = NUMBER | {"exclusiveMinimum": 0}, NUMBER | {"minimum": 0}
NUMBERS = {"type": "array", "items": NUMBER}
NAMES = {"type": "array", "items": TEXT}
POINT = NUMBERS | {"minItems": 3, "maxItems": 3}
BY_JOINT = {"type": "object", "additionalProperties": {"anyOf": [NUMBER, NUMBERS]}}
GAIN = {"anyOf": [NUMBER, NUMBERS, BY_JOINT]}
COST = {"anyOf": [POSITIVE, NUMBERS]}
STATE = {"anyOf": [BY_JOINT, NUMBERS]}
POSE = {"anyOf": [POINT, {"type": "object", "properties": {"xyz": POINT, "rpy": POINT}, "additionalProperties": False}]}
PATH = {
    "type": "array",
    "minItems": 1,
    "items": {
        "type": "object",
        "properties": {
            "frame": TEXT, "at": POINT, "joint": TEXT, "coefficient": NUMBER, "wrap": {"enum": ["sphere", "cylinder"]},
            "radius": POSITIVE, "side": TEXT, "inside": FLAG, "pulley": POSITIVE,
        },
        "additionalProperties": False,
    },
}  # fmt: skip
# Annotations of the fields of force elements and constraints; kinds with others cannot be written in files.
FIELDS = {
    "str": TEXT, "float": NUMBER, "bool": FLAG, "int": {"type": "integer"}, "str | None": TEXT, "float | None": NUMBER,
    "tuple": {"anyOf": [NUMBER, NUMBERS]}, "tuple | None": NUMBERS, "float | tuple": {"anyOf": [NUMBER, NUMBERS]},
    "tuple[str, ...]": NAMES, "tuple[float, ...]": NUMBERS, "tuple[float, float, float]": POINT, "Axis": POINT,
    "Path": PATH, "str | MuscleCurves": TEXT,
}  # fmt: skip
# Texts that name the values of entries of loops, as the side files of URDF have them.
_LOOP_VALUES = {
    "a number": NUMBER, "text": {"enum": list(TYPES)}, "a name": TEXT, "true or false": FLAG, "[x, y, z]": POINT,
    "a pose": POSE, "a number, or a list of one for each freedom": {"anyOf": [NUMBER, NUMBERS]},
}  # fmt: skip
CONTROLLERS = {
    "pd_gravity_compensation": PDGravityCompensation, "computed_torque": ComputedTorque,
    "joint_impedance": JointImpedance,
}  # fmt: skip
LIMITS = ("soft", "ignore", "raise")


def section(entries: dict, needed: tuple[str, ...] = (), about: str = "") -> dict:
    """A mapping with these entries and no others.

    Parameters
    ----------
    entries : dict
        Schemas by key.
    needed : tuple of str
        Keys that must be there.
    about : str
        A sentence for editors.
    """
    found = {"type": "object", "properties": entries, "additionalProperties": False}
    found |= {"required": list(needed)} if needed else {}
    return found | ({"description": about} if about else {})


def one_of(kinds: dict[str, tuple[dict, tuple[str, ...], str]]) -> dict:
    """A mapping whose ``kind`` determines its other entries.

    Parameters
    ----------
    kinds : dict
        For each kind the entries, the keys that must be there, and a sentence.
    """
    return {
        "oneOf": [
            section({"kind": {"const": kind}, **entries}, ("kind", *needed), about)
            for kind, (entries, needed, about) in kinds.items()
        ]
    }


def about(entry: dict, text: str) -> dict:
    """A schema with a description.

    Parameters
    ----------
    entry : dict
    text : str
    """
    return entry | {"description": text}


def elements(registry: dict) -> dict:
    """Schema of the kinds of a registry whose fields are plain data.

    Parameters
    ----------
    registry : dict
        Dataclasses by kind.
    """
    kinds = {}
    for kind, cls in registry.items():
        ours = cls.__module__.startswith("kinetree.")  # kinds of users are of no code that a file could name
        if not ours or kind == "loop_joint" or any(field.type not in FIELDS for field in fields(cls) if field.init):
            continue
        texts = described(cls)
        entries = {
            field.name: FIELDS[field.type] | ({"description": texts[field.name]} if field.name in texts else {})
            for field in fields(cls)
            if field.init
        }
        needed = tuple(f.name for f in fields(cls) if f.init and f.default is f.default_factory is MISSING)
        kinds[kind] = entries, needed, (inspect.getdoc(cls) or kind).splitlines()[0]
    return one_of(kinds)


def described(cls: type) -> dict[str, str]:
    """The first lines of the parameters in a docstring.

    Parameters
    ----------
    cls : type
    """
    text = (inspect.getdoc(cls) or "").partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    found = {}
    for names, line in re.findall(r"^([\w, ]+) : [^\n]*\n    ([^\n]*)", text, flags=re.MULTILINE):
        found |= dict.fromkeys(names.split(", "), line)
    return found


@once
def schema() -> dict:
    """The JSON schema of simulation files."""
    loop = {key: _LOOP_VALUES[kind] for key, kind in ENTRIES["loop"].items()}
    outputs = {
        "trajectory": about(TEXT, "All samples: .npz, .nc or .h5."),
        "csv": about(TEXT, "A table with one labeled column per coordinate."),
        "plot": about(TEXT, "A figure of the run: .png, .svg or .pdf."),
        "html": about(TEXT, "A page that replays the run in a browser."),
        "video": about(TEXT, "A film of the run: .mp4 or .gif."),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Simulation file of kinetree",
        **section(
            {
                "model": about({"anyOf": [TEXT, _model()]}, "A robot file, the name of a shipped robot, or a mapping."),
                "loops": {"type": "array", "items": section(loop, NEEDED["loop"], "A joint that closes a loop.")},
                "constraints": {"type": "array", "items": elements(CONSTRAINTS)},
                "forces": {"type": "array", "items": elements(FORCES)},
                "ground": {"anyOf": [FLAG, _ground()]},
                "self_collision": about(FLAG, "Contact between bodies of the model."),
                "initial": _initial(),
                "controller": _controller(),
                "joint_forces": about(STATE, "Constant forces, by names of joints [N m or N]; not with a controller."),
                "controls": about(
                    {"type": "object", "additionalProperties": NUMBER},
                    "Constant controls of actuators and excitations of muscles, by names of inputs of the model.",
                ),
                "duration": about(POSITIVE, "Simulated time [s]."),
                "dt": about(POSITIVE, "Step, or distance of the samples of adaptive methods [s]; default 0.001."),
                "integrator": _integrator(),
                "record": section({
                    "period": about(POSITIVE, "Distance of the recorded samples [s]."),
                    "every": {"type": "integer", "minimum": 1, "description": "Record every so many steps."},
                }),
                "outputs": section(outputs, about="Files to write, beside the simulation file."),
                "sweep": _sweep(),
            },
            ("model", "duration"),
        ),
    }  # fmt: skip


def _model() -> dict:
    return section(
        {
            "file": about(TEXT, "A robot file beside the simulation file, or the name of a shipped robot."),
            "floating_base": about(FLAG, "Let the root body move freely."),
            "inertia": {"enum": ["raise", "project", "diagonal", "accept"]},
            "massless": {"enum": ["raise", "lock"]},
            "package_dirs": NAMES,
            "limits": about({"enum": list(LIMITS)}, "At position limits: soft stops, no limits, or an error."),
            "gravity": about(POINT, "In world coordinates [m/s^2]."),
            "unsupported": about({"enum": ["raise", "drop"]}, "Parts of the file that are not simulated."),
        },
        ("file",),
    )


def _ground() -> dict:
    return section({
        "height": about(NUMBER, "Height of the plane [m]."),
        "normal": about(POINT, "Direction of the plane's normal in the world."),
        "friction": about(NOT_NEGATIVE, "Coefficient of friction."),
        "restitution": NUMBER | {"minimum": 0, "maximum": 1},
        "stiffness": about(POSITIVE, "Of one contact point [N/m]; default infinite."),
    })  # fmt: skip


def _initial() -> dict:
    return section({
        "keyframe": about(TEXT, "A keyframe of the model."),
        "seed": {"type": "integer", "minimum": 0, "description": "Start from a random state."},
        "positions": about(STATE, "By names of joints [rad or m]; others as in the default position of the model."),
        "velocities": about(STATE, "By names of joints [rad/s or m/s]; others zero."),
    })  # fmt: skip


def _controller() -> dict:
    shared = {"target": about(STATE, "Positions by names of joints; default: the start."), "effort_limit": GAIN}
    shared["actuated"] = about(NAMES, "Joints with actuators; default: all.")
    motion = about({"anyOf": [TEXT, _motion()]}, "Instead of a target: a run, or functions of time by names of joints.")
    kinds = {
        kind: (
            {**dict.fromkeys(gains(cls), GAIN), **shared, "reference": motion},
            gains(cls),
            (inspect.getdoc(cls) or "").splitlines()[0],
        )
        for kind, cls in CONTROLLERS.items()
    }
    weight = {}, (), "Joint forces that bear the weight at the current position."
    costs = {
        "Q": about(COST, "Weight of positions and velocities: one number, or one for each of 2 nv."),
        "R": about(COST, "Weight of the forces of the actuated coordinates: one number, or one for each."),
        "dt": about(POSITIVE, "Sample time of a digital controller [s]; default: continuous."),
    }
    regulator = {**costs, **shared}, ("Q", "R"), "Linear feedback of least quadratic cost about an equilibrium."
    return one_of({"gravity_compensation": weight, **kinds, "lqr": regulator})


def _motion() -> dict:
    """Functions of time by names of joints."""
    return {"type": "object", "additionalProperties": elements(TIME_FUNCTIONS)}


def gains(cls: type) -> tuple[str, ...]:
    """The gains of a controller.

    Parameters
    ----------
    cls : type
    """
    return tuple(field.name for field in fields(cls) if field.name in ("kp", "kd", "stiffness", "damping"))


def _integrator() -> dict:
    adaptive = {"method": {"enum": list(ADAPTIVE)}, "rtol": POSITIVE, "atol": POSITIVE, "max_step": POSITIVE}
    return {
        "anyOf": [
            {"type": "string", "enum": ["auto", "adaptive", *FIXED_STEP]},
            one_of({"adaptive": (adaptive, (), "Steps that keep tolerances.")}),
        ]
    }


def _sweep() -> dict:
    bound = {"anyOf": [NUMBER, NUMBERS]}
    ways = {
        kind: (dict.fromkeys(taken := tuple(inspect.signature(make).parameters), bound), taken, _first_line(make))
        for kind, make in DISTRIBUTIONS.items()
    }
    count = {"type": "integer", "minimum": 1}
    steps = {"start": NUMBER, "stop": NUMBER, "count": count}
    ways["linspace"] = steps, tuple(steps), "Values at equal distances, both ends included."
    values = {"anyOf": [NUMBER, {"type": "array", "minItems": 1, "items": {"anyOf": [NUMBER, NUMBERS]}}, one_of(ways)]}
    measure = {"anyOf": [{"type": "string", "enum": list(MEASURES)}, elements(MEASURES)]}
    return section(
        {
            "over": about(
                {"type": "object", "additionalProperties": values},
                "Parameters by name: values, or a distribution; link.mass, q0.elbow, controller.kp, contact.friction.",
            ),
            "measure": about(
                {"anyOf": [{"type": "array", "items": measure}, {"type": "object", "additionalProperties": measure}]},
                "What is kept of each simulation; default q_end and v_end.",
            ),
            "samples": count | {"description": "Draws of the distributions for each combination of values."},
            "design": about({"enum": list(DESIGNS)}, "Whether values are combined all with all, or side by side."),
            "sampling": about({"enum": list(SAMPLINGS)}, "Points at which distributions are drawn."),
            "seed": {"type": "integer", "minimum": 0, "description": "Determines all draws; default 0."},
            "chunk": count | {"description": "Samples that are computed and written together."},
            "store": about(TEXT, "Folder of the Zarr store, beside the file; default: its name with .zarr."),
        },
        ("over",),
        "Simulations over values of parameters: kinetree sweep.",
    )


def _first_line(function) -> str:
    return (inspect.getdoc(function) or "").splitlines()[0]
