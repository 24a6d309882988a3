"""The symbols of the algorithms: the meaning of q, v, a, tau, f_ext, frame and all others, shared by all of them.

`@algorithm` takes the shapes from here, and `docstrings` the texts: an algorithm declares only deviations.
"""

from __future__ import annotations

ARRAYS = {
    # states and forces
    "q": (("nq",), "Joint positions [rad or m; quaternions unit, (w, x, y, z)]."),
    "q0": (("nq",), "Joint positions [rad or m; quaternions unit, (w, x, y, z)]."),
    "q1": (("nq",), "Joint positions [rad or m; quaternions unit, (w, x, y, z)]."),
    "v": (("nv",), "Joint velocities [rad/s or m/s]; dq/dt is ``q_dot(model, q, v)``."),
    "a": (("nv",), "Joint accelerations [rad/s^2 or m/s^2]."),
    "tau": (("nv",), "Joint forces [N m or N]."),
    "multipliers": (
        ("nc",),
        "Forces of the constraints along their rows [N m or N], which `Model.constraint_labels` names. Zero for rows "
        "of loops that others imply.",
    ),
    "a_independent": (("ny",), "Accelerations of the independent velocities [rad/s^2 or m/s^2]."),
    "G": (("nv", "ny"), "``v = G y`` of velocities that the constraints allow, y the independent ones [1, m or 1/m]."),
    "f_ext": (
        ("nb", 6),
        "External wrench [moment; force] on each body [N m, N], in world coordinates about the world's origin.",
    ),
    "t": ((), "Time [s]: for models with joints that depend on time, and for these alone (``model.time_dependent``)."),
    "dt": ((), "Time step [s]."),
    "dv": (("nv",), "Difference of positions, a velocity times a time [rad or m]."),
    "a_base": (("nv_base",), "Spatial acceleration of the base in base coordinates [rad/s^2, m/s^2]."),
    "a_joints": (("nv_joints",), "Accelerations of the joints on the floating base [rad/s^2 or m/s^2]."),
    "tau_joints": (("nv_joints",), "Forces of the joints on the floating base [N m or N]."),
    "q_next": (("nq",), "Positions after the step [rad or m; quaternions unit]."),
    "v_next": (("nv",), "Velocities after the step [rad/s or m/s]."),
    "x_next": (("nx",), "Internal states of force elements after the step [as the elements define them]."),
    "a_all": (("nv",), "Accelerations of all joints, the given ones among them [rad/s^2 or m/s^2]."),
    "tau_all": (("nv",), "Forces of all joints, the given ones among them [N m or N]."),
    # poses, twists, accelerations; B: a body, F: a frame, C: the center of mass, W: the world
    "R_WB": (("nb", 3, 3), "Orientation of each body in the world [1]: columns are the body's axes."),
    "p_WB": (("nb", 3), "Position of each body's origin in world coordinates [m]."),
    "R_WF": (("nf", 3, 3), "Orientation of each frame in the world [1]."),
    "p_WF": (("nf", 3), "Position of each frame's origin in world coordinates [m]."),
    "p_WC": ((3,), "Position in world coordinates [m]."),
    "v_C": ((3,), "Velocity in world coordinates [m/s]."),
    "V": (("nb", 6), "Twists [angular; linear], [rad/s, m/s]; row 0 is the world's and zero."),
    "A": (("nb", 6), "Accelerations [angular; linear], [rad/s^2, m/s^2]; row 0: zero, or minus gravity."),
    "J": ((6, "nv"), "Rows [angular; linear] [1 and m, or 1/m and 1 for sliding joints]."),
    # matrices and vectors of the joint space
    "M": (("nv", "nv"), "Mass matrix [kg m^2, kg m or kg], full and symmetric, the armature on its diagonal."),
    "L": (("nv", "nv"), "From `ltl` or `ltdl` [as there]."),
    "D": (("nv",), "The diagonal of D [kg m^2 or kg]."),
    "diagonal": (("nv",), "Added to the diagonal of M [kg m^2 or kg]: ``h D + h^2 K`` of dampers and springs."),
    "b": (("nv",), "Right-hand side [N m or N]."),
    "x": (("nv",), "A vector along the velocities [rad/s or m/s]."),
    "h": ((6,), "[angular; linear] momentum, world axes [kg m^2/s, kg m/s]."),
    "r": (("nb", 3), "Offset from the origin of the parent to that of the body, in world axes [m]."),
    "S": (("nv", 6), "Motion subspaces [1 or m] in world axes about the origin of their body."),
    "K": (("nv", 6), "U / D [1 or 1/m], the part of a joint force that is propagated to the parent."),
    "D_inv": (("nv",), "Reciprocals of the articulated inertias of the joints [1/(kg m^2) or 1/kg]."),
    "T": ((), "Kinetic energy [J]."),
    # derivatives of the dynamics, along velocity directions
    "dtau_dq": (("nv", "nv"), "Column k is d/ds of ``rnea(integrate(q, s e_k), v, a)`` at s = 0 [N m/rad, N m/m, N/rad "
        "or N/m]."),
    "dtau_dv": (("nv", "nv"), "Derivative of joint forces with respect to v [N m s, N s]."),
    "dtau_da": (("nv", "nv"), "The mass matrix M, the armature on its diagonal [kg m^2, kg m or kg]."),
    "da_dq": (("nv", "nv"), "Column k is d/ds of ``aba(integrate(q, s e_k), v, tau)`` at s = 0 [1/s^2, m/(rad s^2) or "
        "1/(m s^2)]."),
    "da_dv": (("nv", "nv"), "Derivative of joint accelerations with respect to v [1/s, m/s]."),
    "da_dtau": (("nv", "nv"), "The inverse of the mass matrix [1/(kg m^2), 1/kg]."),
    "J_dot": ((6, "nv"), "dJ/dt, component by component [1/s and m/s]."),
    # floating base
    "I0c": (("nv_base", "nv_base"), "Composite inertia of all bodies in base coordinates [kg m^2, kg m, kg]."),
    "H": (("nv_joints", "nv_joints"), "Mass matrix of the joints while the base rests [kg m^2, kg m or kg]."),
    "p0c": (("nv_base",), "Wrench that keeps the base from accelerating at zero joint accelerations, base coordinates "
        "[N m, N]."),
    "H_fl": (("nv_joints", "nv_joints"), "Mass matrix of the joints on a free base [kg m^2, kg m or kg]; "
        "symmetric, positive definite, dense."),
    "C_fl": (("nv_joints",), "Joint forces that keep the joints from accelerating [N m or N]; independent of gravity."),
    "J_fl": ((6, "nv_joints"), "Rows [angular; linear] [1 and m, or 1/m and 1 for sliding joints]. Changes of joint "
        "velocities by impulses within the robot change the frame's twist by ``J_fl dqd``; with zero momentum "
        "``J_fl qd`` is its twist."),
    # positions of joints
    "q_dot": (("nq",), "dq/dt [rad/s, m/s or 1/s]."),
    "q_unit": (("nq",), "Positions with unit quaternions [rad or m]."),
    "q_regular": (("nq",), "Joint positions [rad or m; quaternions as given]."),
    "v_regular": (("nv",), "Joint velocities [rad/s or m/s]: those with the same velocities of all bodies."),
    "xi": (("nv",), "Step from a fixed position q0 [rad or m]."),
    "xi_dot": (("nv",), "d xi / dt [rad/s or m/s]: the inverse right Jacobian of each joint's exponential times its "
        "velocity."),
    "q_coupled": (("nq",), "Joint positions [rad or m], of coupled joints by their masters."),
    "v_coupled": (("nv",), "Joint velocities [rad/s or m/s], of coupled joints by their masters."),
    # references and gains of control
    "q_d": (("nq",), "Positions of the reference [rad or m; quaternions unit, (w, x, y, z)]."),
    "v_d": (("nv",), "Velocities of the reference [rad/s or m/s]."),
    "a_d": (("nv",), "Accelerations of the reference [rad/s^2 or m/s^2]."),
    "e": (("nv",), "``difference(q, q_d)`` [rad or m]."),
    "e_dot": (("nv",), "The rate of e [rad/s or m/s]."),
    "kp": (("nv", "nv"), "Gain of the position error [1/s^2 where it gives accelerations, N m/rad or N/m]."),
    "kd": (("nv", "nv"), "Gain of its rate [1/s where it gives accelerations, N m s/rad or N s/m]."),
    "stiffness": (("nv", "nv"), "Symmetric [N m/rad or N/m]."),
    "damping": (("nv", "nv"), "Symmetric [N m s/rad or N s/m]."),
    "R_d": ((3, 3), "Orientation of the frame's reference in the world [1]."),
    "p_d": ((3,), "Position of the frame's reference in the world [m]."),
    "V_d": ((6,), "Velocity of the frame's reference [angular; linear], world axes at its origin [rad/s, m/s]."),
    "frame_stiffness": ((6, 6), "Symmetric, [angular; linear] [N m/rad, N/rad or N m/m, N/m]."),
    "frame_damping": ((6, 6), "Symmetric, [angular; linear] [N m s/rad, N s/rad, N s/m]."),
    "Lambda_inv": ((6, 6), "Acceleration of the frame by a wrench on it [1/(kg m^2), 1/(kg m), 1/kg]."),
    # others
    "c": (("nv",), "``c(q, v)`` of the equation of motion ``M a + c = tau`` [N m or N]."),
    "g": (("nv",), "Joint forces [N m or N], the gradient of the potential energy along the velocity directions."),
    "M_inv": (("nv", "nv"), "Inverse mass matrix [1/(kg m^2), 1/(kg m) or 1/kg], full and exactly symmetric."),
    "wrenches": (("nb", 6), "External wrench on each body [N m, N]: the ``f_ext`` of other calls."),
    "z": (("nb", 6), "``dJ_i/dt x`` for every body, component by component [rad/s^2, m/s^2]; row 0 is the world's and "
        "zero."),
    "T_WF": (("nf", 4, 4), "``[[R_WF, p_WF], [0, 1]]`` [1 and m]: a point with coordinates x in frame F is "
        "``T_WF @ (x, 1)`` in the world."),
    "power": ((), "Power [W], positive where the joints give energy to the bodies; zero if no joint depends on time."),
}  # fmt: skip
"""Name, shape and meaning of each array. An entry of a shape is a number or the name of a size of the model."""

OPTIONAL = ARRAYS | {
    "body_terms": (("nb", 6, 6), "Added to the inertia of each body [kg m^2, kg m and kg], in its coordinates: "
        "``h D + h^2 K`` of damping and stiffness that act on it. The symmetric part is taken; row 0 is not used. "
        "Default: zero."),
    "x": (("nx",), "Internal states of force elements (``model.state_names``) [as the elements define them]. Default: "
        "``model.initial_state()``."),
    "weights": (("nv",), "Of the squared forces of actuators, positive [1, or 1/(N m)^2 and 1/N^2 where units are to "
        "agree]. Default: 1."),
    "u": (("nu",), "Inputs of force elements (``model.input_names``) [as the elements define them]. Default: zero."),
}  # fmt: skip
"""The same for optional inputs."""

CHOICES = {
    "frame": ("str", "Name of the frame or body.", {"UnknownNameError": "No frame has this name."}),
    "reference": (
        '{"local", "world", "local_world_aligned"}',
        "Axes and origin of the result: those of the frame or body, those of the world, or the world's axes at the "
        "origin of the frame or body.",
        {},
    ),
    "kind": (
        '{"spatial", "classical", "spatial_offset", "classical_offset"}',
        "Spatial or classical acceleration; ``_offset``: less gravity. See the notes of `body_accelerations`.",
        {},
    ),
    "independent": (
        "sequence of str or None",
        "Names of joints, or labels of velocities, that determine all others. Default: "
        "``model.independent_velocities()``. Each choice is compiled separately.",
        {
            "UnknownNameError, DuplicateNameError": "A name is that of no joint or velocity, or is given twice.",
            "ConstraintError": "The named velocities are too many or too few, or depend on each other.",
        },
    ),
    "actuated": (
        "sequence of str or None",
        "Names of the joints with motors, or labels of velocities. Default: all joints. Each choice is compiled "
        "separately.",
        {
            "UnknownNameError, DuplicateNameError": "A name is that of no joint or velocity, or is given twice.",
            "ConstraintError": "Motors at these joints do not determine the motion.",
        },
    ),
    "axes": ('{"world", "local"}', "Axes of stiffness, damping and errors, at the frame's origin.", {}),
    "forward": (
        "sequence of str",
        "Names of the joints whose force is known (forward dynamics). Each choice is compiled separately.",
        {"UnknownNameError, DuplicateNameError": "A name in ``forward`` is that of no joint, or is given twice."},
    ),
}
"""Name, type and meaning of each static choice, and the errors of wrong ones."""

ERRORS = {
    "SingularityError": "The inertia of the joints has no inverse at q: some of them move no mass there.",
    "UnsupportedError": "The model has loop joints, equalities, tendons with forces, or actuators that exert a force "
    "without a control (`Model.unsupported` names them), which are not computed yet.",
}
"""When other errors are raised that several algorithms have."""
