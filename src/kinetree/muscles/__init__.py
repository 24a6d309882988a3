"""Muscles: curves of force over length and velocity, equilibrium of fiber and tendon, activation; over any scalar."""
