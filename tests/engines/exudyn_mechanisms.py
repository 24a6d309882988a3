"""Mechanisms with loops in Exudyn: a node for each body, a joint between each two, in the plane or in space.

The form that takes Exudyn the least time of those tried: one `ObjectKinematicTree` with loop joints takes as long for
linkages in the plane and twice as long for a Stewart platform.
"""

from __future__ import annotations

import numpy as np

import kinetree as kt

FIXED = {"Revolute": [1, 1, 1, 1, 1, 0], "Prismatic": [1, 1, 0, 1, 1, 1], "Universal": [1, 1, 1, 0, 0, 1]}
"""What a generic joint holds: three shifts and three rotations; alone, the last keeps the axes x and y square."""


class Mechanism:
    """A mechanism of hinges, slides, universal joints and free bodies, at rest; loops are closed by points.

    Parameters
    ----------
    model : kinetree.Model
        In the x-y plane unless it has a free body. Loops are closed at their origins, which in a plane is what hinges
        do.
    q : (nq,) ndarray
        A closed position.
    """

    def __init__(self, model, q) -> None:
        import exudyn as exu
        import exudyn.itemInterface as item

        self.exu, self.item, self.model = exu, item, model
        self.container = exu.SystemContainer()  # which must outlive its system
        self.mbs = self.container.AddSystem()
        self.flat = not any(type(joint).__name__ == "Free" for joint in model.joints[1:])
        self.bodies = {0: self.mbs.AddObject(item.ObjectGround())}
        for i in model.outward():
            self.bodies[i] = self._body(i, *kt.pose(model, q, frame=model.body_names[i]))
            at = self.mbs.AddMarker(item.MarkerBodyMass(bodyNumber=self.bodies[i]))
            self.mbs.AddLoad(item.LoadMassProportional(markerNumber=at, loadVector=_vector(model.gravity)))
        for i in model.outward():
            self._joint(i)
        ball = item.ObjectJointRevolute2D if self.flat else item.ObjectJointSpherical
        for loop in model.loops:
            markers = []
            for name, X in ((loop.predecessor, loop.X_P), (loop.successor, loop.X_S)):
                frame = model.frame(name)
                markers.append(self._marker(frame.body, (X @ frame.X_FB).r))
            self.mbs.AddObject(ball(markerNumbers=markers))
        self.mbs.Assemble()

    def _body(self, i: int, R, p):
        I = self.model.I[i]
        about, h = np.array(I.I.matrix.rows, dtype=float), _vector(I.com)
        if self.flat:
            node = self.item.NodeRigidBody2D(referenceCoordinates=[*p[:2], np.arctan2(R[1, 0], R[0, 0])])
            kind, mass = self.item.ObjectRigidBody2D, dict(centerOfMass=h[:2], inertia=about[2, 2])
        else:
            from exudyn.rigidBodyUtilities import RotationMatrix2EulerParameters

            node = self.item.NodeRigidBodyEP(referenceCoordinates=[*p, *RotationMatrix2EulerParameters(R)])
            six = [about[k] for k in ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))]
            kind, mass = self.item.ObjectRigidBody, dict(centerOfMass=h, inertia=six)
        return self.mbs.AddObject(kind(mass=float(I.m), nodeNumber=self.mbs.AddNode(node), **mass))

    def _marker(self, i: int, at, R=None):
        """A point of a body, or a frame with these axes."""
        if R is None:
            return self.mbs.AddMarker(self.item.MarkerBodyRigid(bodyNumber=self.bodies[i], localPosition=_vector(at)))
        frame = self.exu.HT(rotation=R, translation=_vector(at))
        return self.mbs.AddMarker(self.item.MarkerBodyRigid(bodyNumber=self.bodies[i], localHT=frame))

    def _joint(self, i: int) -> None:
        joint, X, parent = self.model.joints[i], self.model.X_T[i], self.model.parent[i]
        kind = type(joint).__name__
        if kind == "Free":
            return
        if self.flat:
            markers = [self._marker(parent, X.r), self._marker(i, np.zeros(3))]
            if kind == "Revolute":
                self.mbs.AddObject(self.item.ObjectJointRevolute2D(markerNumbers=markers))
                return
            x, y, _ = along = _vector(joint.axis)
            self.mbs.AddObject(
                self.item.ObjectJointPrismatic2D(markerNumbers=markers, axisMarker0=along, normalMarker1=[-y, x, 0.0])
            )
            return
        R = np.eye(3) if kind == "Universal" else _axes(_vector(joint.axis))
        E = np.array(X.E.matrix.rows, dtype=float).T
        markers = [self._marker(parent, X.r, E @ R), self._marker(i, np.zeros(3), R)]
        self.mbs.AddObject(self.item.ObjectJointGeneric(markerNumbers=markers, constrainedAxes=FIXED[kind]))

    def settings(self, duration: float, steps: int, accuracy: float = 1e-8):
        """Steps of equal length; Newton's method and matrices as they take the least time, tolerances of its own."""
        made = self.exu.SimulationSettings()
        made.timeIntegration.numberOfSteps, made.timeIntegration.endTime = steps, duration
        made.timeIntegration.verboseMode = 0
        newton = made.timeIntegration.newton
        newton.relativeTolerance, newton.absoluteTolerance = accuracy, min(accuracy, 1e-10)
        newton.useModifiedNewton = not self.flat
        solver = self.exu.LinearSolverType
        made.linearSolver.solverType = solver.EXUdense if self.flat else solver.EigenSparse
        made.solution.file.write = False
        return made

    def run(self, settings) -> np.ndarray:
        """Poses of all bodies at the end of a motion from the start, 12 numbers each."""
        kinds = self.exu.DynamicSolverType
        self.mbs.SolveDynamic(settings, solverType=kinds.GeneralizedAlpha if self.flat else kinds.TrapezoidalIndex2)
        output, found = self.exu.OutputVariableType, []
        for i in self.model.outward():
            for each in (output.Position, output.RotationMatrix):
                found.append(self.mbs.GetObjectOutputBody(self.bodies[i], each, localPosition=[0.0, 0.0, 0.0]))
        return np.concatenate(found)

    def poses(self, q) -> np.ndarray:
        """The same numbers of a position of the model."""
        found = [kt.pose(self.model, q, frame=self.model.body_names[i]) for i in self.model.outward()]
        return np.concatenate([np.concatenate([p, R.ravel()]) for R, p in found])


def _axes(z) -> np.ndarray:
    """Axes whose third is this one."""
    y = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    y /= np.linalg.norm(y)
    return np.column_stack([np.cross(y, z), y, z])


def _vector(x) -> np.ndarray:
    return np.array([float(each) for each in x])
