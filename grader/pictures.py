"""Text of a student's with its pictures, and with nothing else in it that is live."""

import base64
import re
from collections import Counter
from collections.abc import Mapping
from urllib.parse import unquote

Attachments = dict[str, dict[str, str]]  # as in a cell: name, then media type, then base64

EACH, TOGETHER = 5 << 20, 20 << 20  # bytes of one picture, and of all in a notebook

_TARGET = r"<[^<>\n]*>|[^\s()<>]*+(?:\([^\s()<>]*+\)[^\s()<>]*+)*+"
_PICTURE = re.compile(
    rf"(?<!\\)!\[(?P<alt>[^\[\]]*+)\]\(\s*+(?P<target>{_TARGET})(?:\s++(?:\"[^\"\n]*+\"|'[^'\n]*+'))?+\s*+\)|(?P<tag><img\b[^<>]*>)",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"\b(src|alt)\s*+=\s*+(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))", re.IGNORECASE)
_OURS = re.compile(r"(?<!\\)!\[[\w .,+=-]*\]\(attachment:(picture-\d+\.[a-z]+)\)")
_KINDS = re.compile(
    rb"(?P<png>\x89PNG\r\n\x1a\n)|(?P<jpeg>\xff\xd8\xff)|(?P<gif>GIF8[79]a)|(?P<webp>RIFF....WEBP)", re.DOTALL
)


class Pictures:
    """Takes the pictures of a notebook's texts, as far as they are some and not too large, under names of our own."""

    def __init__(self) -> None:
        self._left = TOGETHER
        self._count = 0
        self._left_out: Counter[tuple[str, str]] = Counter()

    def take(self, text: str, attached: Mapping[str, str], where: str) -> tuple[str, Attachments]:
        """A text that refers to its pictures as our attachments, and these.

        They are attached to the cell or pasted into its text. Other links to pictures stay as they are: dead text.
        """
        names: dict[str, str] = {}  # of what was taken already; "" for what was left out
        taken: Attachments = {}

        def replaced(found: re.Match[str]) -> str:
            alt, target = found["alt"], found["target"]
            if found["tag"]:
                attributes = {m[1].lower(): m[2] or m[3] or m[4] or "" for m in _ATTRIBUTE.finditer(found["tag"])}
                alt, target = attributes.get("alt", ""), attributes.get("src", "")
            target = target.removeprefix("<").removesuffix(">")
            kind, _, rest = target.partition(":")
            if kind.lower() not in ("attachment", "data"):
                return found[0]
            name = rest if rest in attached else unquote(rest)
            key = target if kind.lower() == "data" else f"attachment:{name}"
            if key not in names:
                encoded = rest.partition(",")[2] if kind.lower() == "data" else attached.get(name)
                names[key] = self._add(encoded, where, taken)
            alt = re.sub(r"[^\w .,+=-]", "", alt)[:200]
            return f"![{alt}](attachment:{names[key]})" if names[key] else f"(picture left out: {alt or 'no name'})"

        return _PICTURE.sub(replaced, text), taken

    def lines(self) -> list[str]:
        """What was left out: one line for each place and reason."""
        return [
            f"{f'{count} pictures' if count > 1 else 'a picture'} in {where} {'were' if count > 1 else 'was'} left out: {reason}"
            for (where, reason), count in self._left_out.items()
        ]

    def _add(self, encoded: str | None, where: str, taken: Attachments) -> str:
        """The name under which a picture was taken; "" if it was left out."""
        data = b""
        reason = "it is not in the notebook"
        if encoded is not None:
            data, reason = _decoded(encoded)
        kind = _KINDS.match(data)
        if not reason and not kind:
            reason = "only PNG, JPEG, GIF and WebP are shown"
        elif not reason and len(data) > self._left:
            reason = f"all pictures of a notebook may have {TOGETHER >> 20} MB together"
        if reason or not kind:
            self._left_out[where, reason] += 1
            return ""
        self._left -= len(data)
        self._count += 1
        name = f"picture-{self._count}.{kind.lastgroup}"
        taken[name] = {f"image/{kind.lastgroup}": base64.b64encode(data).decode()}
        return name


def _decoded(encoded: str) -> tuple[bytes, str]:
    """The bytes, or why there are none."""
    too_large = f"a picture may have {EACH >> 20} MB"
    if len(encoded) > 2 * EACH:
        return b"", too_large
    try:
        data = base64.b64decode("".join(encoded.split()), validate=True)
    except ValueError:
        return b"", "it is damaged"
    return (data, "") if len(data) <= EACH else (b"", too_large)


def no_live_html(text: str, attachments: Mapping[str, object]) -> str:
    """Markdown in which no tag is a tag, no link a link and no picture is fetched, and which reads the same.

    Pictures are shown that are attached to it.
    """
    dead, end = [], 0
    for found in _OURS.finditer(text):
        if found[1] in attachments:
            dead += [_dead(text[end : found.start()]), found[0]]
            end = found.end()
    return "".join([*dead, _dead(text[end:])])


def _dead(text: str) -> str:
    return re.sub(r"<|!(?=\[)|\](?=[(\[:])", "\\g<0>\u2060", text)
