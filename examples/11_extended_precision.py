"""How many digits are right? The same algorithm in extended precision.

You learn to run an algorithm uncompiled and with more digits: arrays of `numpy.longdouble` are interpreted, by the
same lines that are compiled otherwise, and so is everything inside `with kt.interpreted():`. A long zigzag arm has a
mass matrix of enormous condition, yet the articulated-body algorithm loses far fewer digits than a solver of M a =
tau - c must fear (Featherstone, section 10.2).

Output::

    links   condition of M   error of aba   error of solve(M, tau - c)
       ...
"""

import numpy as np

import kinetree as kt

EPS = np.finfo(float).eps
LINKS = (4, 8, 16, 32, 64)


def state(n: int):
    """Angles of alternating 75 degrees, and random velocities and forces."""
    rng = np.random.default_rng(n)
    q = np.radians(75.0) * (-1.0) ** np.arange(n)
    return q, rng.standard_normal(n), rng.standard_normal(n)


def digits(n: int):
    """Condition of M, and the relative errors of two forward dynamics in double precision."""
    arm = kt.models.zigzag_arm(n)
    q, v, tau = state(n)
    exact = kt.aba(arm, *(x.astype(np.longdouble) for x in (q, v, tau)))  # extended precision
    M, c = kt.crba(arm, q), kt.bias_forces(arm, q, v)
    by_aba, by_solving = kt.aba(arm, q, v, tau), np.linalg.solve(M, tau - c)
    size = np.linalg.norm(exact)
    return np.linalg.cond(M), np.linalg.norm(by_aba - exact) / size, np.linalg.norm(by_solving - exact) / size


def main() -> None:
    print("links   condition of M   error of aba   error of solve(M, tau - c)")
    for n in LINKS:
        condition, aba, solving = digits(n)
        print(f"{n:5d} {condition:16.1e} {aba:14.1e} {solving:28.1e}")


def check() -> None:
    """The interpreter computes what was compiled; errors stay within eps times the condition of M."""
    arm = kt.models.zigzag_arm(8)
    q, v, tau = state(8)
    compiled = kt.aba(arm, q, v, tau)
    with kt.interpreted():  # also useful to step through an algorithm in a debugger
        assert np.allclose(kt.aba(arm, q, v, tau), compiled, rtol=1e-10)
    for n in LINKS:
        condition, aba, solving = digits(n)
        assert aba < 10.0 * EPS * condition and solving < 10.0 * EPS * condition


if __name__ == "__main__":
    main()
