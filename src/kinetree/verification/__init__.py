"""Verification: all independent roads to a mechanism's dynamics on random states, and what deviates."""

from kinetree.verification.report import Row, Verification
from kinetree.verification.verify import verify

__all__ = ["Row", "Verification", "verify"]
