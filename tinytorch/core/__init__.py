"""One file per module of the course."""
