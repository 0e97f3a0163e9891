"""Tables in a page, each between two marks: <!-- name --> and <!-- end of name -->."""

from pathlib import Path


def replace_tables(page: Path, name: str, lines: list[str]) -> None:
    """Put the lines between the marks of that name. Raises ValueError if the page has none."""
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, found, rest = page.read_text(encoding="utf-8").partition(begin)
    _, also_found, after = rest.partition(end)
    if not (found and also_found):
        raise ValueError(f"{page}: there is no {begin} ... {end} to put the tables in")
    page.write_text("\n".join([before + begin, "", *lines, "", end + after]), encoding="utf-8")
