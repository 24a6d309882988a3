"""Solutions of contact problems."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinetree.contact.residuals import Residuals
from kinetree.errors import ContactError


class ContactSolution(NamedTuple):
    """Impulses at contacts, with their residuals.

    Attributes
    ----------
    impulses : (n, 3) array
        On the second bodies, contact axes (t1, t2, n) [N s].
    velocities : (n, 3) array
        Of the second bodies relative to the first ones, contact axes [m/s].
    status : str
        "solved": by the method's own law within the tolerance; "not_converged"; "infeasible": no impulses separate the
        contacts; "given" if impulses were not solved for.
    residuals : Residuals
        Misfits of the true law, also for methods that solve an approximation.
    iterations : int
        Sweeps, steps or pivots.
    row_impulses : (m,) array
        Of the rows with bounds [N s or N m s].
    row_velocities : (m,) array
        Of these rows [m/s or rad/s].
    worst : str
        Label of the contact or row with the largest natural map.
    """

    impulses: np.ndarray
    velocities: np.ndarray
    status: str
    residuals: Residuals
    iterations: int
    row_impulses: np.ndarray = np.zeros(0)
    row_velocities: np.ndarray = np.zeros(0)
    worst: str = ""

    def require(self) -> ContactSolution:
        """This solution, or an error that names the worst contact.

        Returns
        -------
        ContactSolution

        Raises
        ------
        ContactError
            The status is not "solved"; ``contact``, ``status`` and ``residuals`` are attributes.

        Examples
        --------
        >>> import kinetree as kt, numpy as np
        >>> kt.contact.ContactProblem(np.eye(3), [0.0, 0.0, -1.0], 0.5).solve().require().impulses
        array([[0., 0., 1.]])
        """
        if self.status not in ("solved", "given"):
            reason = "no impulses separate the contacts" if self.status == "infeasible" else "it did not converge"
            raise ContactError(
                f"the contact problem is not solved: {reason}. Worst at {self.worst!r}: natural map "
                f"{self.residuals.natural_map:.3g} m/s after {self.iterations} iterations. Use method='exact', more "
                "iterations, or allow some compliance.",
                contact=self.worst,
                status=self.status,
                residuals=self.residuals,
            )
        return self
