"""Algorithms compiled for a model: functions called with arrays, their derivatives and combinations."""
