"""OpenSim's side of `benchmarks.muscles`: runs in a Python of its own, which has OpenSim but not kinetree.

Reads a mechanism with muscles and states from the file named on the command line (JSON), writes accelerations, tendon
forces, fiber lengths and rates of activation and fiber to the standard output, and the time of `realizeAcceleration`.
"""

import json
import math
import sys
import time

import opensim as osim

CLASSES = {
    "millard": osim.Millard2012EquilibriumMuscle,
    "degroote_fregly": osim.DeGrooteFregly2016Muscle,
    "thelen": osim.Thelen2003Muscle,
}


def vector(x):
    return osim.Vec3(*map(float, x))


def turn_to(axis):
    """Body-fixed x-y-z angles of a rotation that takes z to the axis."""
    x, y, z = axis
    b = math.asin(x)
    a = math.atan2(-y, z)
    return osim.Vec3(a, b, 0.0)


def custom_joint(bodies, parent, made):
    """One joint for a chain of massless bodies: translations, then rotations, along coordinate axes."""
    transform, names = osim.SpatialTransform(), []
    free = {name: [axis for axis in ((0, 0, 1), (1, 0, 0), (0, 1, 0))] for name in ("revolute", "prismatic")}
    count = {"revolute": 0, "prismatic": 3}
    for body in bodies:
        axis = transform.updTransformAxis(count[body["kind"]])
        axis.append_coordinates(body["joint"])
        axis.setAxis(vector(body["axis"]))
        axis.set_function(osim.LinearFunction(1.0, 0.0))
        free[body["kind"]].remove(tuple(map(abs, map(round, body["axis"]))))
        count[body["kind"]] += 1
        names.append(body["joint"])
    for kind, end in (("revolute", 3), ("prismatic", 6)):
        for k, direction in zip(range(count[kind], end), free[kind], strict=True):
            transform.updTransformAxis(k).setAxis(vector(direction))
            transform.updTransformAxis(k).set_function(osim.Constant(0.0))
    place, zero = vector(bodies[0]["origin"]), osim.Vec3(0.0)
    return osim.CustomJoint("-".join(names), parent, place, zero, made, zero, zero, transform)


def build(data):
    model = osim.Model()
    model.setGravity(vector(data["gravity"]))
    frames = {"world": model.getGround()}
    chain = []
    for body in data["bodies"]:
        chain.append(body)
        if body["mass"] == 0.0 and body["kind"] != "fixed":
            continue
        made = osim.Body(
            body["name"], body["mass"], vector(body["com"]), osim.Inertia(*map(float, body["inertia"]), 0.0, 0.0, 0.0)
        )
        model.addBody(made)
        kind, place = body["kind"], (frames[chain[0]["parent"]], vector(body["origin"]))
        if len(chain) > 1:
            model.addJoint(custom_joint(chain, place[0], made))
        elif kind == "fixed":
            turn = osim.Vec3(0.0, 0.0, body["angle"])
            model.addJoint(osim.WeldJoint(body["joint"], *place, turn, made, osim.Vec3(0.0), osim.Vec3(0.0)))
        else:
            turn = turn_to(body["axis"])
            joint = osim.PinJoint(body["joint"], *place, turn, made, osim.Vec3(0.0), turn)
            joint.updCoordinate().setName(body["joint"])
            model.addJoint(joint)
        frames[body["name"]], chain = made, []
    shapes = {}
    for shape in data["shapes"]:
        if "length" in shape:
            made = osim.WrapCylinder()
            made.set_radius(shape["radius"])
            made.set_length(shape["length"])
        else:
            made = osim.WrapEllipsoid()
            made.set_dimensions(vector(shape["radius"]))
        made.setName(shape["name"])
        made.set_quadrant(shape["side"])
        made.set_translation(vector(shape["at"]))
        made.set_xyz_body_rotation(vector(shape["angles"]))
        frames[shape["frame"]].addWrapObject(made)
        shapes[shape["name"]] = made
    for m in data["muscles"]:
        muscle = CLASSES[data["curves"]]()
        muscle.setName(m["name"])
        muscle.set_max_isometric_force(m["max_isometric_force"])
        muscle.set_optimal_fiber_length(m["optimal_fiber_length"])
        muscle.set_tendon_slack_length(m["tendon_slack_length"])
        muscle.set_pennation_angle_at_optimal(m["pennation"])
        muscle.set_max_contraction_velocity(m["max_contraction_velocity"])
        muscle.set_ignore_tendon_compliance(data["tendon"] == "rigid")
        muscle.set_activation_time_constant(m["activation_time"])
        muscle.set_deactivation_time_constant(m["deactivation_time"])
        if data["curves"] != "thelen":
            muscle.set_fiber_damping(m["fiber_damping"])
        if data["curves"] == "millard":
            muscle.set_minimum_activation(m["minimum_activation"])
        for number, (frame, at) in enumerate(m["points"]):
            muscle.addNewPathPoint(f"{m['name']}{number}", frames[frame], vector(at))
        for name in m["shapes"]:
            muscle.updGeometryPath().addPathWrap(shapes[name])
        model.addForce(muscle)
    return model


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        data = json.load(file)
    model = build(data)
    state = model.initSystem()
    muscles = [CLASSES[data["curves"]].safeDownCast(model.getMuscles().get(m["name"])) for m in data["muscles"]]
    joints = [body["joint"] for body in data["bodies"] if body["kind"] != "fixed"]
    coordinates = [model.getCoordinateSet().get(joint) for joint in joints]
    controls = model.updControls(state)
    found = []

    def put(case):
        for coordinate, q, v in zip(coordinates, case["q"], case["v"], strict=True):
            coordinate.setValue(state, q, False)
            coordinate.setSpeedValue(state, v)
        for muscle, a, fiber in zip(muscles, case["activation"], case["fiber_length"], strict=True):
            muscle.setActivation(state, a)
            if data["tendon"] == "compliant" and data["curves"] == "degroote_fregly":
                muscle.setStateVariableValue(state, "normalized_tendon_force", fiber)
            elif data["tendon"] == "compliant":
                muscle.setFiberLength(state, fiber)
        for muscle, u in zip(muscles, case["excitation"], strict=True):
            muscle.setControls(osim.Vector(1, u), controls)
        model.realizePosition(state)
        model.setControls(state, controls)
        model.realizeAcceleration(state)

    for case in data["states"]:
        put(case)
        found.append({
            "acceleration": [c.getAccelerationValue(state) for c in coordinates],
            "length": [m.getLength(state) for m in muscles],
            "tension": [m.getTendonForce(state) for m in muscles],
            "fiber_length": [m.getFiberLength(state) for m in muscles],
            "fiber_rate": [m.getFiberVelocity(state) for m in muscles],
            "activation_rate": [m.getActivationRate(state) if hasattr(m, "getActivationRate")
                                else m.getStateVariableDerivativeValue(state, "activation") for m in muscles],
        })  # fmt: skip
    times = []
    for _ in range(5):
        start = time.process_time()
        for case in data["states"]:
            for coordinate, q in zip(coordinates, case["q"], strict=True):
                coordinate.setValue(state, q, False)
            model.realizeAcceleration(state)
        times.append((time.process_time() - start) / len(data["states"]) * 1e6)
    json.dump({"states": found, "us": sorted(times)[2], "version": osim.GetVersion()}, sys.stdout)


if __name__ == "__main__":
    main()
