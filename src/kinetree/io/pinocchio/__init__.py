"""Models to and from ``pinocchio.Model``."""
