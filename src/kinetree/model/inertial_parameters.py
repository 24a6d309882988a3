"""The inertial parameters of a model as one vector, and a model with other ones."""

from __future__ import annotations

import numpy as np

from kinetree.arguments import a_model, a_truth_value, an_array, checked
from kinetree.errors import NonFiniteError, ShapeError
from kinetree.model.model import Model
from kinetree.model.planar import refuse_planar
from kinetree.spatial import Inertia, Symmetric3, Vector3
from kinetree.spatial.algebra import PLANAR


@checked(model=a_model)
def inertial_parameters(model: Model) -> np.ndarray:
    """The inertial parameters of all moving bodies, in the order of the regressors.

    Parameters
    ----------
    model : Model

    Returns
    -------
    pi : (10 (nb - 1),) array
        Ten numbers for each body: mass, first moment of mass (x, y, z), and rotational inertia about the body's origin
        xx, xy, yy, xz, yz, zz, in the body's axes [kg, kg m, kg m^2]. Their names are ``model.inertial_labels``.

    See Also
    --------
    with_inertial_parameters, joint_torque_regressor

    Notes
    -----
    Pinocchio's ``toDynamicParameters`` has the same ten numbers in the same order. Planar models have four for each
    body: mass, first moment (x, y) and I_zz.

    Examples
    --------
    >>> import kinetree as kt
    >>> model = kt.models.pendulum(length=2.0, mass=3.0)
    >>> dict(zip(model.inertial_labels, kt.identify.inertial_parameters(model).tolist()))["bob.h.z"]
    -6.0
    """
    planar = model.algebra is PLANAR
    return np.array([x for I in model.I[1:] for x in (I.m, *I.h, *((I.I,) if planar else I.I))], dtype=float)


@checked(model=a_model, pi=an_array, accept_impossible=a_truth_value)
def with_inertial_parameters(model: Model, pi, *, accept_impossible: bool = False) -> Model:
    """A copy of a model with other inertial parameters.

    Parameters
    ----------
    model : Model
    pi : (10 (nb - 1),) array
        As returned by `inertial_parameters` [kg, kg m, kg m^2].
    accept_impossible : bool
        Take inertias that no body can have, as a plain least-squares fit may return.

    Returns
    -------
    Model
        Validated like any other. A set of parameters for every state of a batch needs no model:
        ``f.with_parameters(dict(zip(model.inertial_labels, pi.T)))``.

    Raises
    ------
    ShapeError, NonFiniteError, UnsupportedError
        A wrong vector, or a planar model.
    InertiaError
        No body can have such an inertia, and ``accept_impossible`` is not given.

    Examples
    --------
    >>> import kinetree as kt
    >>> arm = kt.models.double_pendulum()
    >>> heavier = kt.identify.with_inertial_parameters(arm, 2.0 * kt.identify.inertial_parameters(arm))
    >>> heavier.total_mass == 2.0 * arm.total_mass
    True
    """
    refuse_planar(model, "with_inertial_parameters")
    array = np.asarray(pi, dtype=float)
    if array.shape != (model.n_inertial,):
        raise ShapeError(
            f"with_inertial_parameters: pi has shape {array.shape}, expected ({model.n_inertial},): ten numbers for "
            f"each of the {model.nb - 1} moving bodies of model {model.name!r}, in the order of model.inertial_labels",
            shape=array.shape,
            expected=(model.n_inertial,),
        )
    if not np.all(np.isfinite(array)):
        k = int(np.argmin(np.isfinite(array)))
        raise NonFiniteError(
            f"with_inertial_parameters: {model.inertial_labels[k]} is {array[k]}, expected a finite number",
            name=model.inertial_labels[k],
        )
    I = [Inertia(m, Vector3(x, y, z), Symmetric3(*moments)) for m, x, y, z, *moments in array.reshape(-1, 10).tolist()]
    arguments = {**model._arguments(), "I": (model.I[0], *I)}
    if accept_impossible:
        arguments["accept_impossible_inertia"] = True
    return Model(**arguments)
