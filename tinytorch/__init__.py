"""Attention from scratch in NumPy: the library that the course module builds."""

__version__ = "0.2.0"
