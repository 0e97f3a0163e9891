"""Everything that is between us and a student's code."""
