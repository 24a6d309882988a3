"""Where each algorithm is defined. Generated: python -m tests.static.generate."""

_DEFINED = {
    "algorithms.aba": "aba",
    "algorithms.aba_derivatives": "aba_derivatives",
    "algorithms.actuators": (
        "actuator_forces actuator_joint_forces actuator_lengths actuator_moments actuator_velocities"
    ),
    "algorithms.articulated_factorization": "articulated_factorization articulated_solve",
    "algorithms.centroidal": (
        "center_of_mass center_of_mass_jacobian center_of_mass_velocity centroidal_momentum "
        "centroidal_momentum_matrix momentum"
    ),
    "algorithms.complete": "forward_dynamics inverse_dynamics semi_implicit_acceleration",
    "algorithms.complete_hybrid": "hybrid_dynamics",
    "algorithms.constrained_derivatives": "forward_dynamics_derivatives",
    "algorithms.constraint_rows": "closed_loops_bias closed_loops_error closed_loops_jacobian",
    "algorithms.contact_terms": "contact_terms",
    "algorithms.contacts": "contact_bias contact_gaps contact_jacobian contact_points",
    "algorithms.coriolis": "coriolis_matrix",
    "algorithms.crba": "crba",
    "algorithms.derivatives": "rnea_derivatives",
    "algorithms.divide_and_conquer": "divide_and_conquer",
    "algorithms.energy": "elastic_energy kinetic_energy potential_energy",
    "algorithms.floating_base": (
        "floating_base_coefficients floating_base_forward_dynamics floating_base_inverse_dynamics "
        "floating_base_jacobian floating_base_reduced_coefficients"
    ),
    "algorithms.force_elements": "force_state_rates",
    "algorithms.force_slopes": "damping_matrix stiffness_matrix",
    "algorithms.force_terms": "coriolis_forces external_forces inertial_forces",
    "algorithms.forces_by_element": "forces_by_element",
    "algorithms.forward_dynamics_multipliers": (
        "closed_loops_regularity forward_dynamics_clusters forward_dynamics_dense "
        "forward_dynamics_inverse_mass_products forward_dynamics_pivoted forward_dynamics_sparse"
    ),
    "algorithms.forward_dynamics_reduced": (
        "forward_dynamics_null_space forward_dynamics_partitioning forward_dynamics_pseudovelocities"
    ),
    "algorithms.frames": "frame_accelerations frame_jacobians frame_poses frame_transforms frame_velocities",
    "algorithms.hybrid": "crba_restricted hybrid_aba hybrid_crba",
    "algorithms.inverse_mass": "inverse_mass_matrix inverse_mass_product",
    "algorithms.jacobian": "jacobian jacobian_rate",
    "algorithms.jacobian_products": (
        "body_jacobian_product body_jacobian_rate_product body_jacobian_transpose_product"
    ),
    "algorithms.joint_wrenches": "joint_wrenches",
    "algorithms.kinematics": "acceleration body_accelerations body_velocities forward_kinematics pose velocity",
    "algorithms.linearization": "closed_loops_linearization",
    "algorithms.loop_wrenches": "closed_loops_wrenches",
    "algorithms.manifold": "apply_couplings difference integrate normalize q_dot reparameterize tangent_rate",
    "algorithms.mass_factors": (
        "forward_dynamics_crba lower_product lower_solve lower_transpose_product lower_transpose_solve ltdl "
        "ltdl_factorize ltdl_solve ltl ltl_factorize ltl_solve symmetric_product"
    ),
    "algorithms.mass_matrix": "mass_matrix",
    "algorithms.muscles": "muscles_energies muscles_lengths muscles_moment_arms muscles_tensions",
    "algorithms.null_space": "closed_loops_accelerations closed_loops_null_space",
    "algorithms.passive": "passive_joint_forces",
    "algorithms.prescribed": "prescribed_power",
    "algorithms.projection": "closed_loops_project_position closed_loops_project_velocity",
    "algorithms.reduced": (
        "closed_loops_reduced_bias_forces closed_loops_reduced_jacobian closed_loops_reduced_mass_matrix "
        "closed_loops_reduced_regressor"
    ),
    "algorithms.regressor": (
        "generalized_momentum_regressor joint_torque_regressor kinetic_energy_regressor momentum_regressor "
        "potential_energy_regressor"
    ),
    "algorithms.rnea": "bias_forces gravity_forces rnea",
    "algorithms.tendons": "tendon_jacobian tendon_lengths tendon_velocities",
    "control.frame_laws": "cartesian_impedance inverse_task_inertia",
    "control.joint_laws": "computed_torque joint_impedance pd_gravity_compensation tracking_error",
    "integrators.bdf1": "bdf1_step",
    "integrators.implicit_midpoint": "implicit_midpoint_step",
    "integrators.kernels": "rk4_step semi_implicit_step",
    "integrators.linearly_implicit": "linearly_implicit_step",
    "integrators.time_stepping": "contact_step",
    "integrators.variational": "variational_step",
    "redmax.chained_jacobians": "redmax_hyper_reduced",
    "redmax.equations": "redmax_equation redmax_implicit_step redmax_step",
    "redmax.jacobians": "redmax_jacobian redmax_jacobian_rate",
    "textbook.aba_variants": "aba_implicit_joints aba_inverse_inertias",
    "textbook.absolute_coordinates": "aba_world rnea_world",
    "textbook.mass_matrix": "mass_matrix_columns mass_matrix_jacobians",
    "textbook.newton_euler_equations": "newton_euler",
    "textbook.recursive_hybrid": "hybrid_recursive",
}
MODULES = {name: f"kinetree.{module}" for module, names in _DEFINED.items() for name in names.split()}
