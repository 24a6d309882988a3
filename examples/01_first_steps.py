"""First steps: load a robot and compute its dynamics.

You learn to load a model, to call an algorithm on one state and on a batch of states, to add an external force, and
to hold the function itself. Each algorithm is compiled for this robot when it is first called.

Output::

    <Model 'arm7': 9 moving bodies, nq=9, nv=9>
    tool at [...] m
    inverse dynamics (rnea)   tau = [...] N m
    forward dynamics (aba)    recovers a within ...
    4 kg at the tool need ... N m more of the shoulder
    1000 mass matrices: (1000, 9, 9)
    <Function aba(q (9,), v (9,), tau (9,)) -> a (9,) for model 'arm7'>
    ... multiplications, ... additions, ... divisions
"""

import numpy as np

import kinetree as kt


def main() -> None:
    arm = kt.load("arm7")  # a URDF file, or the name of a robot that ships with kinetree
    print(arm)

    rng = np.random.default_rng(1)
    q, v = arm.random_state(rng)
    a = rng.standard_normal(arm.nv)
    R, p = kt.pose(arm, q, frame="tool")
    print(f"tool at {p.round(3)} m")

    tau = kt.rnea(arm, q, v, a)  # the joint forces for a wanted motion
    print(f"inverse dynamics (rnea)   tau = {tau[:3].round(2)} N m")
    error = np.abs(kt.aba(arm, q, v, tau) - a).max()  # the motion that joint forces cause
    print(f"forward dynamics (aba)    recovers a within {error:.0e}")

    print(f"4 kg at the tool need {shoulder_torque_of_payload(arm, q, 4.0):.1f} N m more of the shoulder")

    Q = np.array([arm.random_q(rng) for _ in range(1000)])  # leading axes are batches
    print(f"1000 mass matrices: {kt.crba(arm, Q).shape}")

    f = kt.compile(arm, "aba")  # the same function as an object, f(q, v, tau)
    count = f.operations
    print(f)
    print(f"{count.multiplications} multiplications, {count.additions} additions, {count.divisions} divisions")


def shoulder_torque_of_payload(arm, q, payload: float) -> float:
    """How much more torque the second joint needs to hold a payload at the tool [N m]."""
    p = kt.pose(arm, q, frame="tool").p_WF
    weight = payload * np.array(arm.gravity)
    wrench = np.concatenate([np.cross(p, weight), weight])  # (moment, force), about the world's origin, world axes
    rest = np.zeros(arm.nv)
    loaded = kt.rnea(arm, q, rest, rest, f_ext={"flange_link": wrench})
    return float((loaded - kt.rnea(arm, q, rest, rest))[1])


def check() -> None:
    """The equation of motion: M a + c is what the Newton-Euler algorithm computes, and M is symmetric."""
    arm = kt.load("arm7")
    rng = np.random.default_rng(2)
    q, v = arm.random_state(rng)
    a = rng.standard_normal(arm.nv)
    M, c = kt.crba(arm, q), kt.bias_forces(arm, q, v)
    assert np.allclose(M @ a + c, kt.rnea(arm, q, v, a), rtol=0.0, atol=1e-11)
    assert np.array_equal(M, M.T)


if __name__ == "__main__":
    main()
