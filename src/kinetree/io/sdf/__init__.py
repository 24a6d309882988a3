"""SDF files, read."""
