"""docs/messages.md and tests/said/ show what students read."""

import pytest
from messages import PAGE, SAID, page, said


@pytest.mark.slow  # it needs the verdicts on all answers
def test_messages_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python tests/support/messages.py writes it"


@pytest.mark.slow
def test_every_sentence_stands_beside_every_answer_that_gets_it() -> None:
    """A sentence must be true of each of them. A change is read by a person before it is committed."""
    pages = said()
    assert set(SAID.iterdir()) == set(pages)
    for path, text in pages.items():
        assert path.read_text(encoding="utf-8") == text, "python tests/support/messages.py writes it; read what changed"
