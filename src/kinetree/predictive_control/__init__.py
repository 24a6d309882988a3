"""Predictive control: forces over a horizon by sampled rollouts (MPPI, CEM) or by derivatives of steps (iLQR, DDP)."""
