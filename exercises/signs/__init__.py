"""Mistakes that show in a reply, not in its numbers: named functions of (question, reply, expected).

Sizes come from the question, never from a constant, so that a sign holds for other seeds and sizes.
"""
