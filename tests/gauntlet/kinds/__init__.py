"""Everything that a class hands in: accidents and dishonesty, each with the row that it must get."""

from kinds import cells, dishonesty, files, running, saving, scratch, walls
from kinds.base import Kind
from kinds.dishonesty import SECRETS

KINDS: list[Kind] = [
    kind for part in (files, saving, cells, running, scratch, dishonesty, walls) for kind in part.KINDS
]

__all__ = ["KINDS", "SECRETS", "Kind"]
