"""Verification of a model's dynamics on random states by independent methods."""

from kinetree.verification.report import Row, Verification
from kinetree.verification.verify import verify

__all__ = ["Row", "Verification", "verify"]
