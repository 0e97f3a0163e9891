"""docs/messages.md shows what students read most often."""

import pytest
from messages import PAGE, page


@pytest.mark.long  # it needs the verdicts on all answers, as test_answers.py does
def test_messages_page_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "python tests/support/messages.py writes it"
