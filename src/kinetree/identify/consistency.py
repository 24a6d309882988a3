r"""Inertial parameters that a body can have: pseudo-inertias that are positive definite.

The second moments of a mass density in homogeneous coordinates,

.. math:: \mathcal{J} = \int (r, 1)(r, 1)^T dm = \begin{pmatrix} P & h \\ h^T & m \end{pmatrix}, \qquad P = \tfrac12
          \mathrm{tr}(I)\, 1 - I,

are positive definite exactly if some spread-out mass has them. Positive definite matrices have unique triangular
factors with positive diagonals, and logarithms of these are free to take any value.
"""

from __future__ import annotations

import numpy as np

from kinetree.arguments import a_model, a_shape, an_array, checked
from kinetree.errors import InertiaError, ShapeError
from kinetree.model import Model
from kinetree.model.inertial_parameters import inertial_parameters
from kinetree.model.planar import refuse_planar

# Places of (xx, xy, yy, xz, yz, zz).
_ROWS, _COLUMNS = np.array([0, 1, 1, 2, 2, 2]), np.array([0, 0, 1, 0, 1, 2])
# Of the ten numbers (alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3) of a factor.
_SHEAR = ((0, 1), (1, 2), (0, 2))


@checked(pi=an_array)
def pseudo_inertia(pi) -> np.ndarray:
    """The pseudo-inertia of bodies from their ten inertial parameters.

    Parameters
    ----------
    pi : (..., 10) array
        m, m c (x, y, z), I about the origin (xx, xy, yy, xz, yz, zz) [kg, kg m, kg m^2].

    Returns
    -------
    J : (..., 4, 4) array
        Symmetric [kg m^2, kg m, kg].

    Notes
    -----
    Source: Wensing, Kim, Slotine, "Linear matrix inequalities for physically consistent inertial parameter
    identification" (2018), eq. 16.

    Examples
    --------
    >>> import numpy as np
    >>> pseudo_inertia([2.0, 0.0, 0.0, 1.0, 3.0, 0.0, 3.0, 0.0, 0.0, 1.0]).diagonal().tolist()
    [0.5, 0.5, 2.5, 2.0]
    """
    pi = _tens(pi, "pseudo_inertia: pi")
    J = np.zeros((*pi.shape[:-1], 4, 4))
    J[..., 3, 3] = pi[..., 0]
    J[..., :3, 3] = J[..., 3, :3] = pi[..., 1:4]
    J[..., _ROWS, _COLUMNS] = J[..., _COLUMNS, _ROWS] = -pi[..., 4:]
    half = 0.5 * (pi[..., 4] + pi[..., 6] + pi[..., 9])
    for k in range(3):
        J[..., k, k] += half
    return J


@checked(J=a_shape(..., 4, 4))
def from_pseudo_inertia(J) -> np.ndarray:
    """The ten inertial parameters of bodies from their pseudo-inertias; the inverse of `pseudo_inertia`.

    Parameters
    ----------
    J : (..., 4, 4) array
        Symmetric [kg m^2, kg m, kg].

    Returns
    -------
    pi : (..., 10) array
        m, m c (x, y, z), I about the origin (xx, xy, yy, xz, yz, zz) [kg, kg m, kg m^2].

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> pi = kt.identify.inertial_parameters(kt.models.pendulum())
    >>> J = kt.identify.pseudo_inertia(pi.reshape(-1, 10))
    >>> J.shape, np.allclose(kt.identify.from_pseudo_inertia(J), pi)
    ((1, 4, 4), True)
    """
    J = np.asarray(J, float)
    I = -J[..., :3, :3]
    trace = np.trace(J[..., :3, :3], axis1=-2, axis2=-1)  # tr P = tr I / 2
    moments = I[..., _ROWS, _COLUMNS]
    moments[..., [0, 2, 5]] += trace[..., None]
    return np.concatenate([J[..., 3, 3, None], J[..., :3, 3], moments], axis=-1)


@checked(model=a_model)
def impossible_bodies(model: Model) -> tuple[str, ...]:
    """Names of the bodies whose pseudo-inertia has a negative eigenvalue, which no distribution of mass has.

    Parameters
    ----------
    model : Model

    Returns
    -------
    tuple of str
        Points and plates are possible.

    Raises
    ------
    UnsupportedError
        For a planar model.

    Examples
    --------
    >>> import kinetree as kt
    >>> impossible_bodies(kt.load("humanoid"))
    ()
    """
    refuse_planar(model, "impossible_bodies")
    w = np.linalg.eigvalsh(pseudo_inertia(inertial_parameters(model).reshape(-1, 10)))
    wrong = w[:, 0] < -1e-9 * np.abs(w).max(axis=1, initial=0.0)  # a plate's zero is rounding
    return tuple(name for name, bad in zip(model.body_names[1:], wrong, strict=True) if bad)


@checked(pi=an_array)
def log_cholesky(pi) -> np.ndarray:
    """Ten free numbers for the ten inertial parameters of a body.

    Parameters
    ----------
    pi : (..., 10) array
        Of bodies whose pseudo-inertias are positive definite [kg, kg m, kg m^2].

    Returns
    -------
    theta : (..., 10) array
        ``(alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3)`` [1, for lengths in m and masses in kg]: ``J = U U^T`` with
        ``U = exp(alpha) [[exp(d1), s12, s13, t1], [0, exp(d2), s23, t2], [0, 0, exp(d3), t3], [0, 0, 0, 1]]``.

    Raises
    ------
    InertiaError
        A pseudo-inertia is not positive definite.

    Notes
    -----
    Source: Rucker and Wensing, "Smooth parameterization of rigid-body inertia" (2022), eq. 14-15: a density that is
    stretched, sheared and shifted. (t1, t2, t3) is the center of mass, exp(2 alpha) the mass.

    Examples
    --------
    >>> import numpy as np
    >>> pi = np.array([2.0, 0.1, 0.0, 1.0, 3.0, 0.0, 3.0, 0.0, 0.0, 1.0])
    >>> bool(np.allclose(from_log_cholesky(log_cholesky(pi)), pi))
    True
    """
    J = pseudo_inertia(pi)
    try:
        # Lower factors of the matrix with its rows and columns in reverse are upper factors of the matrix.
        U = np.linalg.cholesky(J[..., ::-1, ::-1])[..., ::-1, ::-1]
    except np.linalg.LinAlgError:
        U = np.full(J.shape, np.nan)
    if not np.all(np.isfinite(U)):
        least = np.linalg.eigvalsh(J).min()
        raise InertiaError(
            f"log_cholesky: a pseudo-inertia has the eigenvalue {least:.3g}, expected positive ones: mass that is "
            "spread out in three dimensions",
            eigenvalue=least,
        )
    scale = U[..., 3, 3]
    U = U / scale[..., None, None]
    shear = [U[..., i, j] for i, j in _SHEAR]
    stretch = [np.log(U[..., k, k]) for k in range(3)]
    return np.stack([np.log(scale), *stretch, *shear, *(U[..., k, 3] for k in range(3))], axis=-1)


@checked(theta=an_array)
def from_log_cholesky(theta) -> np.ndarray:
    """The ten inertial parameters for ten free numbers; the inverse of `log_cholesky`.

    Parameters
    ----------
    theta : (..., 10) array
        Any numbers [1].

    Returns
    -------
    pi : (..., 10) array
        Their pseudo-inertia is positive definite [kg, kg m, kg m^2].

    Examples
    --------
    >>> import kinetree as kt, numpy as np
    >>> pi = kt.identify.inertial_parameters(kt.models.free_body()).reshape(-1, 10)
    >>> theta = kt.identify.log_cholesky(pi)
    >>> np.allclose(kt.identify.from_log_cholesky(theta), pi)
    True
    >>> mass, *_ = kt.identify.from_log_cholesky(theta + 0.1)[0]
    >>> bool(mass > 0.0)  # of any ten numbers
    True
    """
    U = pseudo_inertia_factor(theta)
    return from_pseudo_inertia(U @ np.swapaxes(U, -1, -2))


def log_cholesky_jacobian(theta) -> np.ndarray:
    """Derivatives of `from_log_cholesky`.

    Parameters
    ----------
    theta : (..., 10) array
        [1].

    Returns
    -------
    (..., 10, 10) array
        ``d pi / d theta`` [kg, kg m, kg m^2].
    """
    U = pseudo_inertia_factor(theta)
    columns = [2.0 * U @ np.swapaxes(U, -1, -2)]
    for i, j in [(0, 0), (1, 1), (2, 2), *_SHEAR, (0, 3), (1, 3), (2, 3)]:
        dU = np.zeros(U.shape)
        dU[..., i, j] = U[..., i, i] if i == j else U[..., 3, 3]
        half = dU @ np.swapaxes(U, -1, -2)
        columns.append(half + np.swapaxes(half, -1, -2))
    return np.stack([from_pseudo_inertia(dJ) for dJ in columns], axis=-1)


def pseudo_inertia_factor(theta) -> np.ndarray:
    """The factor U with ``J = U U^T`` of `log_cholesky`, for ten free numbers; shape (..., 4, 4)."""
    theta = _tens(theta, "from_log_cholesky: theta")
    U = np.zeros((*theta.shape[:-1], 4, 4))
    for k in range(3):
        U[..., k, k] = np.exp(theta[..., 1 + k])
        U[..., k, 3] = theta[..., 7 + k]
    for k, (i, j) in enumerate(_SHEAR, 4):
        U[..., i, j] = theta[..., k]
    U[..., 3, 3] = 1.0
    return U * np.exp(theta[..., 0])[..., None, None]


def _tens(x, what: str) -> np.ndarray:
    x = np.asarray(x, float)
    if x.ndim == 0 or x.shape[-1] != 10:
        raise ShapeError(f"{what} has shape {x.shape}, expected (..., 10)", shape=x.shape)
    return x
