"""kinetree: rigid-body dynamics, compiled for your own robot."""
