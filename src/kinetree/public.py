"""The public names: the module of each, imported on first use; and their names in other libraries.

Compiled calls (`kinetree.rnea`) are made from the algorithm of the same name. In a namespace they go without the word
that is already there: the algorithm ``floating_base_jacobian`` is `kinetree.floating_base.jacobian`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module

PLACES = {
    "kinetree": {
        "Checkpoint": "simulation.options", "Event": "integrators.events", "Inputs": "simulation.options",
        "MechanismBuilder": "model.mechanism", "Model": "model.model", "ModelBuilder": "model.builder",
        "Record": "simulation.options", "Simulation": "simulation.simulation", "Trajectory": "simulation.trajectory",
        "accuracy": "analysis.accuracy", "assemble": "analysis.assemble", "check_gradient": "analysis.check_gradient",
        "compile": "compiler.function", "dh": "io.dh",
        "differentiate": "compiler.derivative_functions",
        "inverse_kinematics": "control.pose_search", "interpreted": "compiler.interpret",
        "lint": "io.lint.lint", "load": "io.load", "maximal": "maximal_coordinates.of_model",
        "rollout": "simulation.rollout",
        "rollout_gradient": "simulation.rollout_gradient", "save": "io.save", "simulate": "simulation.simulate",
        "sweep": "sweeps.sweep", "verify": "verification.verify", "view": "viewer.live",
    },
    "kinetree.closed_loops": {
        "Linearization": "analysis.linearize", "TorqueFamily": "analysis.torque_family",
        "branches": "analysis.branches", "linearize": "analysis.linearize", "mobility": "analysis.mobility",
        "torque_family": "analysis.torque_family",
    },
    "kinetree.collision": {
        "ContactPair": "collision.pair", "ContactPoint": "collision.laws", "Ground": "collision.material",
        "Material": "collision.material", "PAIR_LAWS": "collision.pair", "Shape": "collision.shape",
        "Distances": "queries.distances", "Manifold": "queries.manifold",
        "ContactChange": "queries.changes", "ContactRates": "queries.rates",
        "contact_changes": "queries.changes", "contact_rates": "queries.rates",
        "Overlaps": "queries.start", "check_start": "queries.start",
        "MinimalContactSet": "queries.minimal_set", "colliding_pairs": "queries.distances",
        "contact_axes": "collision.axes", "contact_manifold": "queries.manifold",
        "contact_wrenches": "queries.minimal_set", "distances": "queries.distances",
        "minimal_contact_set": "queries.minimal_set",
    },
    "kinetree.compiler": {"Function": "compiler.function", "packed": "compiler.packed_function"},
    "kinetree.contact": {
        "Pile": "contact.pile", "PileContacts": "contact.pile_run", "PileRun": "contact.pile_run",
        "Collision": "contact.collisions", "Impact": "contact.impacts", "collide": "contact.collisions",
        "ContactAccelerations": "contact.accelerations",
        "contact_accelerations": "contact.accelerations", "contact_states": "contact.accelerations",
        "impact": "contact.impacts", "strike": "contact.responses",
        "ContactProblem": "contact.problem", "ContactSolution": "contact.solution", "LCPSolution": "contact.lcp",
        "JointFrictionStep": "contact.joint_friction", "JointSurface": "contact.joint_surfaces",
        "joint_friction_step": "contact.joint_friction",
        "LeastConstraint": "contact.quadratic", "METHODS": "contact.solvers", "Residuals": "contact.residuals",
        "StepProblem": "contact.problem", "least_constraint": "contact.quadratic",
        "natural_map": "contact.residuals", "solve_lcp": "contact.lcp",
    },
    "kinetree.control": {
        "CEM": "predictive_control.cem", "MPPI": "predictive_control.mppi",
        "MotionCost": "predictive_control.motion_cost",
        "SampledMotions": "predictive_control.controlled_rollout", "SamplingReport": "predictive_control.sampling",
        "OptimalMotion": "predictive_control.ilqr", "iLQR": "predictive_control.ilqr",
        "CartesianImpedance": "control.frame_impedance", "ComputedTorque": "control.joint_control",
        "Controller": "control.controller", "DecoupledControl": "control.decoupled", "Delayed": "control.digital",
        "FrameReference": "control.frame_reference", "FrameTask": "control.tasks", "Held": "control.two_arms",
        "InverseKinematics": "control.pose_search", "InverseKinematicsBatch": "control.pose_search",
        "JointImpedance": "control.joint_control",
        "JointReference": "control.reference", "JointTask": "control.tasks",
        "LinearQuadraticRegulator": "control.linear_quadratic", "LoadPosition": "control.decoupled",
        "LoadTracking": "control.decoupled", "OperationalSpace": "control.operational_space",
        "OperationalSpaceTerms": "control.operational_space", "PDGravityCompensation": "control.joint_control",
        "Sampled": "control.digital", "Sum": "control.digital", "TwoArms": "control.two_arms",
        "grasp_wrenches": "control.grasp",
        "load_difference": "control.decoupled",
        "load_position": "control.decoupled", "lqr": "control.linear_quadratic",
        "operational_space_terms": "control.operational_space",
    },
    "kinetree.deformables": {
        "Attachment": "deformables.attachment", "Coupled": "deformables.coupled",
        "CoupledRun": "deformables.run", "Deformable": "deformables.body",
        "DeformableGradient": "deformables.gradient", "ElementLaw": "deformables.contract",
        "Elements": "deformables.body", "Material": "deformables.material",
        "TetrahedralMesh": "deformables.tetrahedral_mesh", "beam": "deformables.shapes",
        "beam_mesh": "deformables.shapes", "cloth": "deformables.shapes",
        "cloth_of_triangles": "deformables.triangle_cloth", "load_run": "deformables.run",
        "read_mesh": "deformables.tetrahedral_mesh", "solid": "deformables.shapes",
        "spring_network": "deformables.shapes", "strand": "deformables.shapes",
    },
    "kinetree.dynamics": {
        "ArticulatedBody": "analysis.articulated_handles", "Factorization": "compiler.factorization",
        "articulated_inertia": "analysis.articulated_handles",
        "articulated_inverse_inertia": "analysis.articulated_handles",
        "assembly_tree": "algorithms.assembly_tree", "factorize": "compiler.factorization",
    },
    "kinetree.environments": {
        "Environment": "environments.gym", "State": "environments.task", "TASKS": "environments.tasks",
        "Task": "environments.task", "VectorEnvironment": "environments.gym",
        "register": "environments.registration",
    },
    "kinetree.integrators": {
        "ADAPTIVE": "integrators.methods", "Adaptive": "integrators.methods", "BDF": "integrators.bdf",
        "Baumgarte": "integrators.closure",
        "EventDriven": "integrators.event_driven",
        "ExplicitRungeKutta": "integrators.explicit", "FIXED_STEP": "integrators.methods",
        "GeneralizedAlpha": "integrators.generalized_alpha", "LinearlyImplicit": "integrators.linearly_implicit",
        "RungeKutta4": "integrators.rk4",
        "SemiImplicitEuler": "integrators.semi_implicit", "System": "integrators.system",
        "explicit_method": "integrators.explicit",
    },
    "kinetree.io": {
        "DHRow": "io.dh", "DHTable": "io.dh", "Isolation": "io.isolated", "load_mjcf": "io.mjcf.read",
        "load_mujoco": "io.mjcf.objects", "load_pinocchio": "io.pinocchio.read",
        "load_sdf": "io.sdf.read", "load_urdf": "io.urdf.read", "to_dh": "io.dh_extract", "to_mjcf": "io.mjcf.write",
        "to_mujoco": "io.mjcf.objects", "to_pinocchio": "io.pinocchio.write", "to_urdf": "io.urdf.write",
    },
    "kinetree.maximal_coordinates": {
        "Body": "maximal_coordinates.free_bodies", "Equation": "maximal_coordinates.results",
        "MaximalSystem": "maximal_coordinates.of_model", "Solution": "maximal_coordinates.results",
        "Step": "maximal_coordinates.results", "System": "maximal_coordinates.system",
    },
    "kinetree.models": {
        **{
            name: f"model.library.{module}"
            for module, all_of_them in {
                "contact_scenes": "ball_on_turntable free_shape gripper stack_of_boxes wheeled_robot",
                "legs": "cassie_leg",
                "musculoskeletal": "arm26",
                "nonholonomic": "chaplygin_sleigh rolling_disk",
                "open_mechanisms": (
                    "box_cylinder cart_pole double_pendulum free_body geared_arm n_pendulum pendulum puma_like "
                    "satellite zigzag_arm"
                ),
                "parallel_robots": "delta_robot stewart_platform",
                "planar_linkages": "four_bar four_bar_chain ladder parallelogram slider_crank",
                "published": "andrews_squeezer governor",
                "random_loops": "random_loops",
                "spatial_linkages": "bennett spatial_slider_crank",
                "trees": "auto_tree binary_tree chain_gu random_tree star",
            }.items()
            for name in all_of_them.split()
        },
    },
    "kinetree.scenes": {
        "SCENES": "scenes.runs", "SceneRun": "scenes.runs", "plot_scene": "scenes.plot", "run": "scenes.runs",
    },
    "kinetree.muscles": {
        "CURVES": "muscles.library", "Curve": "muscles.curve", "MuscleCurves": "muscles.curve_set",
        "VelocityCurve": "muscles.curve", "activation_rate": "muscles.activation",
        "curves": "muscles.library", "equilibrate": "analysis.equilibrate",
    },
    "kinetree.redmax": {
        "Constrained": "redmax.constrained", "Rows": "redmax.rows", "accelerations": "redmax.constrained",
        "model_rows": "redmax.rows", "point_rows": "redmax.rows", "prescribed": "redmax.rows",
        "velocities": "redmax.constrained",
    },
    "kinetree.simulation": {
        "DifferentiableRollout": "simulation.rollout_gradient", "LimitMonitor": "simulation.limits",
        "Rollout": "simulation.rollout", "RolloutGradient": "simulation.rollout_gradient",
        "rollout_to_jax": "simulation.rollout_tensors", "rollout_to_torch": "simulation.rollout_tensors",
        "Snapshot": "simulation.snapshot", "run_file": "simulation_files.simulation_file",
    },
    "kinetree.sweeps": {
        "Batch": "sweeps.batch", "Distance": "sweeps.measures", "Failure": "sweeps.chunk",
        "MEASURES": "sweeps.measures", "Path": "sweeps.measures", "Runs": "sweeps.runs",
        "SweepRun": "sweeps.sweep", "log_uniform": "sweeps.distributions", "normal": "sweeps.distributions",
        "run_file": "simulation_files.sweeping", "uniform": "sweeps.distributions",
    },
    "kinetree.textbook": {
        "closure_dynamics": "textbook.loop_methods", "cluster_numbering": "textbook.loop_elimination",
        "loop_bias_forces": "textbook.loop_terms", "loop_clusters": "textbook.loop_elimination",
        "loop_constraints": "textbook.loop_terms", "loop_dynamics": "textbook.loop_methods",
        "loop_position_error": "textbook.loop_terms", "solve_by_clusters": "textbook.loop_elimination",
        "maximal_equation": "textbook.sparse_maximal", "solve_constraints": "textbook.loop_elimination",
    },
    "kinetree.viz": {
        "animate": "viewer.stick",
        "JointKind": "viz.joint_table", "joint_gallery": "viz.joints", "joint_kinds": "viz.joint_table",
        "STYLE": "viz.style",
        "plot_comparison": "viz.run_plots", "plot_connectivity": "viz.structure",
        "plot_constraint_drift": "viz.closure", "plot_sparsity": "viz.structure", "plot_workspace": "viz.workspace",
        "plot_contacts": "viz.contacts", "plot_deformables": "viz.deformables",
        "plot_joint": "viz.joints", "plot_energy_balance": "viz.run_plots",
        "plot_mechanism": "viz.mechanism", "plot_path": "viz.run_plots", "plot_phase": "viz.run_plots",
        "plot_power": "viz.run_plots", "plot_trajectory": "viz.plots",
        "save_view": "viewer.saving",
    },
}  # fmt: skip
"""For each namespace its names and the modules that define them."""

ALGORITHMS = {
    "kinetree": (
        "aba aba_derivatives acceleration bias_forces center_of_mass coriolis_matrix crba difference forward_dynamics "
        "forward_kinematics gravity_forces hybrid_dynamics integrate inverse_dynamics jacobian kinetic_energy "
        "mass_matrix momentum normalize pose potential_energy q_dot rnea rnea_derivatives velocity"
    ),
    "kinetree.centroidal": (
        "center_of_mass_jacobian center_of_mass_velocity centroidal_momentum centroidal_momentum_matrix"
    ),
    "kinetree.closed_loops": (
        "closed_loops_accelerations closed_loops_bias closed_loops_error closed_loops_jacobian "
        "closed_loops_linearization closed_loops_null_space closed_loops_project_position "
        "closed_loops_project_velocity closed_loops_reduced_bias_forces closed_loops_reduced_jacobian "
        "closed_loops_reduced_mass_matrix closed_loops_reduced_regressor closed_loops_regularity "
        "closed_loops_wrenches"
    ),
    "kinetree.collision": "contact_bias contact_gaps contact_jacobian contact_points contact_terms",
    "kinetree.control": (
        "cartesian_impedance computed_torque inverse_task_inertia joint_impedance pd_gravity_compensation "
        "tracking_error"
    ),
    "kinetree.dynamics": (
        "actuator_forces actuator_joint_forces actuator_lengths actuator_moments actuator_velocities "
        "articulated_factorization articulated_solve coriolis_forces crba_restricted damping_matrix "
        "divide_and_conquer elastic_energy external_forces force_state_rates forces_by_element "
        "forward_dynamics_clusters forward_dynamics_crba forward_dynamics_dense forward_dynamics_derivatives "
        "forward_dynamics_inverse_mass_products forward_dynamics_null_space forward_dynamics_partitioning "
        "forward_dynamics_pivoted forward_dynamics_pseudovelocities forward_dynamics_sparse hybrid_aba hybrid_crba "
        "inertial_forces inverse_mass_matrix inverse_mass_product joint_wrenches passive_joint_forces "
        "prescribed_power semi_implicit_acceleration stiffness_matrix tendon_jacobian tendon_lengths tendon_velocities"
    ),
    "kinetree.floating_base": (
        "floating_base_coefficients floating_base_forward_dynamics floating_base_inverse_dynamics "
        "floating_base_jacobian floating_base_reduced_coefficients"
    ),
    "kinetree.integrators": (
        "bdf1_step contact_step implicit_midpoint_step linearly_implicit_step rk4_step semi_implicit_step "
        "variational_step"
    ),
    "kinetree.kinematics": (
        "apply_couplings body_accelerations body_jacobian_product body_jacobian_rate_product "
        "body_jacobian_transpose_product body_velocities frame_accelerations frame_jacobians frame_poses "
        "frame_transforms frame_velocities jacobian_rate reparameterize tangent_rate"
    ),
    "kinetree.muscles": "muscles_energies muscles_lengths muscles_moment_arms muscles_tensions",
    "kinetree.redmax": (
        "redmax_equation redmax_hyper_reduced redmax_implicit_step redmax_jacobian redmax_jacobian_rate redmax_step"
    ),
    "kinetree.regressors": (
        "generalized_momentum_regressor joint_torque_regressor kinetic_energy_regressor momentum_regressor "
        "potential_energy_regressor"
    ),
    "kinetree.sparse": (
        "lower_product lower_solve lower_transpose_product lower_transpose_solve ltdl ltdl_factorize ltdl_solve ltl "
        "ltl_factorize ltl_solve symmetric_product"
    ),
    "kinetree.textbook": (
        "aba_implicit_joints aba_inverse_inertias aba_world hybrid_recursive mass_matrix_columns "
        "mass_matrix_jacobians newton_euler rnea_world"
    ),
}
"""For each namespace the algorithms that are called from there."""

NAMESPACES = {name: name for name in (
    "centroidal closed_loops collision compiler constraints contact control conventions data deformables dynamics "
    "environments errors export floating_base forces geometry identify integrators io joints kinematics liegroup "
    "maximal_coordinates model models muscles "
    "redmax regressors simulation sparse spatial surgery sweeps tendons textbook viz"
).split()}  # fmt: skip
NAMESPACES |= {"scenes": "scenes", "signals": "simulation.signals"}
"""The namespaces of kinetree and their modules."""


def shortened(algorithm: str, namespace: str) -> str:
    """The name of an algorithm's call in a namespace.

    Examples
    --------
    >>> shortened("floating_base_jacobian", "kinetree.floating_base"), shortened("ltdl", "kinetree.sparse")
    ('jacobian', 'ltdl')
    """
    word = namespace.rpartition(".")[2]
    return algorithm.removeprefix(f"{word}_").removesuffix("_regressor" if word == "regressors" else "")


CALLS = {
    namespace: {shortened(name, namespace): name for name in names.split()} for namespace, names in ALGORITHMS.items()
}
"""For each namespace the compiled calls, and the algorithms that they compile."""


def place(algorithm: str) -> tuple[str, str]:
    """Namespace and name of an algorithm's public call; of a user's own, kinetree and the same name."""
    for namespace, calls in CALLS.items():
        for name, compiled in calls.items():
            if compiled == algorithm:
                return namespace, name
    return "kinetree", algorithm


def names(namespace: str) -> list[str]:
    """The public names of a namespace that are made when they are used."""
    inner = NAMESPACES if namespace == "kinetree" else ()
    return sorted({*PLACES.get(namespace, ()), *CALLS.get(namespace, ()), *inner})


def namespace(module: str) -> tuple[Callable, Callable, list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a module whose names are made when they are used."""
    places, calls, known = PLACES.get(module, {}), CALLS.get(module, {}), names(module)

    def get(name: str):
        if name in calls:
            found = import_module("kinetree.compiler.calls").public_call(calls[name])
        elif name in places:
            found = getattr(import_module(f"kinetree.{places[name]}"), name)
        elif module == "kinetree" and name in NAMESPACES:
            found = import_module(f"kinetree.{NAMESPACES[name]}")
        else:
            raise AttributeError(missing(module, name), name=name, obj=sys.modules[module])
        return vars(sys.modules[module]).setdefault(name, found)  # so that all threads have the same

    return get, lambda: known, known


def missing(module: str, name: str) -> str:
    """The message about a name that a namespace does not have: the equivalent, its place, or the most similar name."""
    from kinetree.foreign_names import FOREIGN, OF_MODELS, no_attribute

    ours = (OF_MODELS | FOREIGN).get(name) if module == "kinetree" else None
    for space in (*PLACES, *CALLS):
        short = shortened(name, space)
        if not ours and space != module and (name in names(space) or CALLS.get(space, {}).get(short) == name):
            ours = f"It is {_shown(space)}.{name if name in names(space) else short}."
    return no_attribute(f"module {module!r}", name, ours, names(module), f"{_shown(module)}.")


def _shown(module: str) -> str:
    return module.replace("kinetree", "kt", 1)
