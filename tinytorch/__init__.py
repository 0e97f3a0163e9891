"""Attention from scratch in NumPy: the library that the course module builds."""
