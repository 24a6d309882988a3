"""Swing a pole up with the least effort: trajectory optimization by CasADi and IPOPT.

You learn to hand a compiled step with its Jacobian and Hessian to CasADi (pip install casadi), to write direct
multiple shooting with it, and to check the result by a rollout.

    python examples/41_swing_up_by_ipopt.py

Output::

    11 iterations; forces up to 12.7 N, cart within 0.88 m
    a rollout ends ... from the upright position at rest
"""

import numpy as np

import kinetree as kt

STEPS, DT, STRONGEST = 50, 0.04, 15.0  # s, N


def optimized():
    """Cart forces (50,) and states (51, 4) of the swing-up in 2 s, from hanging to upright at rest."""
    import casadi

    pole = kt.models.cart_pole()
    step = kt.export.to_casadi(kt.compile(pole, "rk4_step"), method="python", hessian=True)  # C: seconds to build
    opti = casadi.Opti()
    q, v, force = opti.variable(2, STEPS + 1), opti.variable(2, STEPS + 1), opti.variable(1, STEPS)
    tau = casadi.vertcat(force, casadi.DM.zeros(1, STEPS))
    q_next, v_next = step.map(STEPS)(q[:, :-1], v[:, :-1], tau, DT * np.ones((1, STEPS)))
    opti.subject_to(q[:, 1:] == q_next)
    opti.subject_to(v[:, 1:] == v_next)
    opti.subject_to(q[:, 0] == [0.0, np.pi])  # the pole hangs
    opti.subject_to(v[:, 0] == [0.0, 0.0])
    opti.subject_to(q[:, -1] == [0.0, 0.0])
    opti.subject_to(v[:, -1] == [0.0, 0.0])
    opti.subject_to(opti.bounded(-STRONGEST, force, STRONGEST))
    opti.minimize(DT * casadi.sumsqr(force))
    opti.set_initial(q, np.linspace([0.0, np.pi], [0.0, 0.0], STEPS + 1).T)
    quiet = {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"}
    opti.solver("ipopt", quiet | {"ipopt.tol": 1e-6})
    found = opti.solve()
    states = np.concatenate((found.value(q), found.value(v))).T
    return np.array(found.value(force)).ravel(), states, found.stats()["iter_count"]


def replayed(force):
    """The motion under these forces by a rollout with the same steps."""
    tau = np.stack((force, np.zeros(STEPS)), axis=-1)
    q, v = kt.rollout(kt.models.cart_pole(), [0.0, np.pi], None, tau, DT, integrator="rk4")
    return np.concatenate((q, v), axis=-1)


def main() -> None:
    force, states, iterations = optimized()
    print(
        f"{iterations} iterations; forces up to {np.abs(force).max():.1f} N, cart within {np.ptp(states[:, 0]):.2f} m"
    )
    print(f"a rollout ends {np.abs(replayed(force)[-1]).max():.0e} from the upright position at rest")


def check() -> None:
    force, states, _ = optimized()
    motion = replayed(force)
    assert np.abs(motion - states).max() < 1e-5 and np.abs(motion[-1]).max() < 1e-5
    assert np.abs(force).max() <= STRONGEST + 1e-6
    work = (force * np.diff(motion[:, 0])).sum()  # of a force that is constant in each step: what the pole has gained
    assert abs(work - 2.0 * 0.1 * 9.81 * 0.5) < 1e-3


if __name__ == "__main__":
    main()
