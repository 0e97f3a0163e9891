"""Everything that a class hands in: accidents and dishonesty, each with the row that it must get."""

from kinds import cells, dishonesty, files, running, saving
from kinds.base import Kind
from kinds.dishonesty import SECRETS

KINDS: list[Kind] = [*files.KINDS, *saving.KINDS, *cells.KINDS, *running.KINDS, *dishonesty.KINDS]

__all__ = ["KINDS", "SECRETS", "Kind"]
