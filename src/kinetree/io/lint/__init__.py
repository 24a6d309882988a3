"""Every fault of a robot file in one run."""
