"""Grades a class: submissions run in a jail, their answers are judged outside it."""
