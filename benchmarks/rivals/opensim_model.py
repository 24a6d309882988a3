"""OpenSim's own files for `benchmarks.muscles`: runs in a Python of its own, which has OpenSim but not kinetree.

Times `realizeAcceleration` of the model in the file named on the command line: as it is; without the forces that are no
muscles; and so with the muscles of De Groote and Fregly, with compliant and rigid tendons (its own muscles, Thelen's,
have none). And writes its mechanism with fixed numbers: locked coordinates as fixed joints, splines of translations and
moving points of muscles at their default values.
"""

import json
import random
import sys
import time

import opensim as osim

STATES = 200


def load(path, bare=False, tendon=""):
    """A model of the file, its state, and its free coordinates; with a tendon, De Groote and Fregly's muscles."""
    model = osim.Model(path)
    if bare:
        forces = model.updForceSet()
        for k in reversed(range(forces.getSize())):
            if not osim.Muscle.safeDownCast(forces.get(k)):
                forces.remove(k)
    if tendon:
        model.initSystem()
        osim.DeGrooteFregly2016Muscle.replaceMuscles(model, True)
        for k in range(model.getMuscles().getSize()):
            model.getMuscles().get(k).set_ignore_tendon_compliance(tendon == "rigid")
    state = model.initSystem()
    if tendon != "rigid":
        model.equilibrateMuscles(state)
    coordinates = [model.getCoordinateSet().get(k) for k in range(model.getCoordinateSet().getSize())]
    return model, state, [c for c in coordinates if not c.getLocked(state)]


def microseconds(path, **options):
    """CPU time of one evaluation at states that differ in positions."""
    model, state, free = load(path, **options)
    times, rng = [], random.Random(3)
    for _ in range(5):
        start = time.process_time()
        for _ in range(STATES):
            for c in free:
                c.setValue(state, c.getDefaultValue() + rng.uniform(0.0, 0.1), False)
            model.realizeAcceleration(state)
        times.append((time.process_time() - start) / STATES * 1e6)
    return sorted(times)[2]


def chain(joint, free):
    """Translation at the default position, and the single freedoms of a joint: (kind, coordinate, axis)."""
    names = {c.getName() for c in free}
    custom, at, found = osim.CustomJoint.safeDownCast(joint), [0.0, 0.0, 0.0], []
    if not custom:
        coordinates = [joint.get_coordinates(k) for k in range(joint.numCoordinates())]
        return at, [("revolute", c.getName(), [0.0, 0.0, 1.0], c.getDefaultValue()) for c in coordinates]
    for k in (3, 4, 5, 0, 1, 2):
        axis = custom.getSpatialTransform().getTransformAxis(k)
        along, of = axis.getAxis().to_numpy().tolist(), axis.getCoordinateNamesInArray()
        if of.getSize() and axis.getFunction().getConcreteClassName() == "LinearFunction":
            if of.get(0) in names:
                found.append(("revolute" if k < 3 else "prismatic", of.get(0), along, 0.0))
        else:
            value = axis.getFunction().calcValue(osim.Vector(1, 0.0))
            if k >= 3:
                at = [x + value * y for x, y in zip(at, along, strict=True)]
            elif value:
                raise ValueError(f"{joint.getName()}: a constant rotation")
    return at, found


def bodies_of(model, free):
    """Bodies with joints of one freedom or none; massless ones between those of a joint."""
    found, names = [], {c.getName() for c in free}
    for k in range(model.getJointSet().getSize()):
        joint = model.getJointSet().get(k)
        ends = joint.getParentFrame(), joint.getChildFrame()
        parent, child = (end.findBaseFrame().getName().replace("ground", "world") for end in ends)
        offset = osim.PhysicalOffsetFrame.safeDownCast(ends[0])
        origin = offset.get_translation().to_numpy().tolist() if offset else [0.0, 0.0, 0.0]
        at, freedoms = chain(joint, free)
        origin = [x + y for x, y in zip(origin, at, strict=True)]
        fixed = [value for _, name, _, value in freedoms if name not in names]
        rigid = [("fixed", joint.getName(), [0.0, 0.0, 1.0], 0.0)]
        freedoms = [entry for entry in freedoms if entry[1] in names] or rigid
        body = osim.Body.safeDownCast(ends[1].findBaseFrame())
        for n, (kind, name, axis, _) in enumerate(freedoms):
            last = n == len(freedoms) - 1
            moments = body.getInertia().getMoments()
            found.append({
                "name": child if last else f"{child}_{n}", "parent": parent, "joint": name, "kind": kind, "axis": axis,
                "origin": origin, "angle": sum(fixed), "mass": body.getMass() if last else 0.0,
                "com": body.getMassCenter().to_numpy().tolist() if last else [0.0] * 3,
                "inertia": [moments.get(m) for m in range(3)] if last else [0.0] * 3,
            })  # fmt: skip
            parent, origin, fixed = found[-1]["name"], [0.0] * 3, []
    return found


def muscles_of(model, state):
    """Parameters and points of all muscles."""
    found = []
    for k in range(model.getMuscles().getSize()):
        muscle = model.getMuscles().get(k)
        points = muscle.getGeometryPath().getPathPointSet()
        points = [points.get(n) for n in range(points.getSize())]
        found.append({
            "name": muscle.getName(),
            "points": [(p.getParentFrame().findBaseFrame().getName(), p.getLocation(state).to_numpy().tolist())
                       for p in points],
            "max_isometric_force": muscle.getMaxIsometricForce(),
            "optimal_fiber_length": muscle.getOptimalFiberLength(),
            "tendon_slack_length": muscle.getTendonSlackLength(),
            "pennation": muscle.getPennationAngleAtOptimalFiberLength(),
        })  # fmt: skip
    return found


def main():
    path = sys.argv[1]
    osim.Logger.setLevelString("Off")
    model, state, free = load(path)
    found = {
        "gravity": model.getGravity().to_numpy().tolist(),
        "bodies": bodies_of(model, free),
        "muscles": muscles_of(model, state),
        "us": {
            "as it is": microseconds(path),
            "muscles alone": microseconds(path, bare=True),
            "compliant": microseconds(path, bare=True, tendon="compliant"),
            "rigid": microseconds(path, bare=True, tendon="rigid"),
        },
    }
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
