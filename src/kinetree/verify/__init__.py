"""Verification: all independent roads to a mechanism's dynamics on random states, and what deviates."""

from kinetree.verify.report import Row, Verification
from kinetree.verify.verify import verify

__all__ = ["Row", "Verification", "verify"]
