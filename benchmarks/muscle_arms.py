"""Models for `benchmarks.muscles`: an arm of 20 joints and 50 muscles, arm26, and mechanisms of OpenSim's files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinetree.model.library import musculoskeletal

JOINTS, MUSCLES, POINTS, WRAPPED = 20, 50, 5, 10


def arm20_mjcf(seed: int = 5) -> str:
    """A chain of hinges whose muscles pass five points of up to five links; ten of them bend over a shape."""
    rng = np.random.default_rng(seed)
    sites: list[list[str]] = [[] for _ in range(JOINTS + 1)]
    shapes: list[list[str]] = [[] for _ in range(JOINTS + 1)]
    tendons, actuators = [], []
    for m in range(MUSCLES):
        first, path = int(rng.integers(0, JOINTS - 4)), []
        for k in range(POINTS):
            body, at = first + k, rng.normal(size=3) * 0.02 + (0.03, 0.0, 0.0)
            sites[body].append(f'<site name="s{m}_{k}" pos="{at[0]:.6f} {at[1]:.6f} {at[2]:.6f}"/>')
            path.append(f'<site site="s{m}_{k}"/>')
            if m < WRAPPED and k == 2:
                kind = "cylinder" if m % 2 else "sphere"
                size = "0.02 0.05" if m % 2 else "0.02"
                shapes[body].append(
                    f'<geom name="w{m}" type="{kind}" size="{size}" pos="0.028 0 -0.05" contype="0" conaffinity="0" '
                    'mass="0"/>'
                )
                path.append(f'<geom geom="w{m}"/>')
        tendons.append(f'<spatial name="t{m}">{"".join(path)}</spatial>')
        actuators.append(
            f'<muscle name="m{m}" tendon="t{m}" force="200" lengthrange="0.2 0.8" range="0.75 1.05" ctrllimited="true" '
            'ctrlrange="0 1"/>'
        )
    text = ""
    for body in range(JOINTS, 0, -1):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        shift = rng.normal(size=2) * 0.01
        text = (
            f'<body name="b{body}" pos="{shift[0]:.6f} {shift[1]:.6f} -0.1">'
            f'<joint name="j{body}" type="hinge" axis="{axis[0]:.6f} {axis[1]:.6f} {axis[2]:.6f}" damping="0.1"/>'
            '<inertial pos="0 0 -0.05" mass="0.5" diaginertia="0.002 0.002 0.001"/>'
            f"{''.join(sites[body])}{''.join(shapes[body])}{text}</body>"
        )
    world = f"{''.join(sites[0])}{''.join(shapes[0])}{text}"
    return (
        '<mujoco model="arm20"><compiler angle="radian"/><option timestep="0.001" integrator="Euler">'
        '<flag contact="disable" eulerdamp="disable"/></option>'
        f"<worldbody>{world}</worldbody><tendon>{''.join(tendons)}</tendon>"
        f"<actuator>{''.join(actuators)}</actuator></mujoco>"
    )


def with_hill_muscles(kt, model, tendon: str, curves: str):
    """The arm with a muscle of the library along every tendon in the place of its actuator."""
    kin, muscles = kt.constraints.Kinematics(model, model.neutral().tolist()), []
    for n, one in enumerate(model.equipment.tendons):
        L = 0.5 * float(kt.tendons.path_length(one.path, kin))
        muscles.append(kt.forces.Muscle(f"m{n}", one.path, 200.0, L, L, 0.1, curves=curves, tendon=tendon))
    return model.replace(equipment=replace(model.equipment, actuators=())).with_forces(*muscles)


def of_opensim(kt, found: dict, curves: str, tendon: str):
    """A mechanism that `benchmarks.rivals.opensim_model` read from a file of OpenSim."""
    b, kinds = kt.ModelBuilder("gait", gravity=found["gravity"]), {"revolute": kt.joints.Revolute,
                                                                   "prismatic": kt.joints.Prismatic}  # fmt: skip
    for body in found["bodies"]:
        joint = kt.joints.Fixed() if body["kind"] == "fixed" else kinds[body["kind"]](tuple(body["axis"]))
        c, s = np.cos(body["angle"]), np.sin(body["angle"])
        at = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]), body["origin"]
        numbers = {what: body[what] for what in ("mass", "com", "inertia")} if body["mass"] else {}
        b.add_body(body["name"], body["parent"], joint, body["joint"], at, **numbers)
    for muscle in found["muscles"]:
        path = tuple(kt.tendons.ViaPoint(frame, tuple(at)) for frame, at in muscle["points"])
        numbers = {what: value for what, value in muscle.items() if what not in ("name", "points")}
        b.add_force(kt.forces.Muscle(muscle["name"], path, **numbers, curves=curves, tendon=tendon))
    return b.build()


def opensim_data(kt, model, curves: str, tendon: str, wrapped: bool, found: dict | None = None) -> dict:
    """The arm26, or a mechanism of a file, for `benchmarks.rivals.opensim_muscles`; with its shapes, or straight."""
    bodies = found["bodies"] if found else [
        {"name": name, "parent": parent, "origin": origin, "axis": (np.array(axis) / np.linalg.norm(axis)).tolist(),
         "mass": mass, "com": com, "inertia": inertia, "joint": joint, "kind": "revolute", "angle": 0.0}
        for (name, (parent, origin, axis, mass, com, inertia)), joint
        in zip(musculoskeletal.BODIES.items(), ("shoulder", "elbow"), strict=True)
    ]  # fmt: skip
    muscles = []
    for muscle in model.muscles:
        numbers = {what: x for what, x in muscle.numbers().items() if "." not in what}
        points = [(part.frame, part.at) for part in muscle.path if isinstance(part, kt.tendons.ViaPoint)]
        points = [("world", (x, y + 0.8, z)) if frame == "base" else (frame, (x, y, z)) for frame, (x, y, z) in points]
        shapes = OPENSIM_WRAPS[muscle.name] if wrapped else []
        muscles.append({"name": muscle.name, "points": points, "shapes": shapes, **numbers})
    gravity = found["gravity"] if found else (0.0, -9.8066, 0.0)
    return {"gravity": gravity, "bodies": bodies, "muscles": muscles, "curves": curves, "tendon": tendon,
            "shapes": OPENSIM_SHAPES if wrapped else []}  # fmt: skip


OPENSIM_SHAPES = [
    {"name": "TRI", "frame": "humerus", "radius": 0.016, "length": 0.05, "side": "all",
     "angles": (-0.14015, -0.00628319, 0.154985), "at": (0.0028, -0.2919, -0.0069)},
    {"name": "BIClonghh", "frame": "humerus", "radius": (0.025, 0.02, 0.02), "side": "-y",
     "angles": (-2.00434, -1.00164, 0.975465), "at": (0.0033, 0.0073, 0.0003)},
    {"name": "TRIlonghh", "frame": "humerus", "radius": (0.035, 0.02, 0.02), "side": "z",
     "angles": (3.00162, -0.853466, 2.57419), "at": (-0.0078, -0.0041, -0.0014)},
    {"name": "TRIlongglen", "frame": "world", "radius": 0.003, "length": 0.03, "side": "x",
     "angles": (1.37532, -0.294612, 2.43596), "at": (-0.043905, 0.7961, 0.1478)},
]  # fmt: skip
OPENSIM_WRAPS = {
    "TRIlong": ["TRI", "TRIlonghh", "TRIlongglen"], "TRIlat": ["TRI"], "TRImed": ["TRI"], "BIClong": ["BIClonghh"],
    "BICshort": [], "BRA": ["TRI"],
}  # fmt: skip
