"""What is no text at all, told by its first bytes: one error instead of ten thousand quarantined lines."""

from __future__ import annotations

MAGIC = {
    b"PK\x03\x04": "a ZIP archive",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"%PDF-": "a PDF file",
    b"\x7fELF": "a program",
    b"SQLite format 3\0": "a SQLite database",
    b"7z\xbc\xaf\x27\x1c": "a 7-Zip archive",
    b"Rar!": "a RAR archive",
    b"ARROW1\0": "an Arrow file",
    b"\x04\x22\x4d\x18": "an LZ4 file",
}
LOOKED_AT = 8192
LEAST = 64
"""Bytes below which only the known beginnings are believed."""
CONTROL_SHARE, BROKEN_SHARE = 0.05, 0.3
"""Control characters, and bytes that are no UTF-8, from which on it is not taken for text. Latin-1 has fewer."""

_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\b\x1b"))


def other_kind(begin: bytes) -> str | None:
    """What the bytes are the beginning of, where that is not text.

    Examples
    --------
    >>> other_kind(b"\\x89PNG\\r\\n"), other_kind(b'{"text": "a"}')
    ('a PNG image', None)
    """
    for magic, name in MAGIC.items():
        if begin.startswith(magic):
            return name
    head = begin[:LOOKED_AT]
    if len(head) < LEAST:
        return None
    controls = len(head) - len(head.translate(None, _CONTROLS))
    broken = head.decode("utf-8", "replace").count("\N{REPLACEMENT CHARACTER}") - head.count(b"\xef\xbf\xbd")
    if controls > CONTROL_SHARE * len(head):
        return "binary data"
    return "text in another encoding than UTF-8" if broken > BROKEN_SHARE * len(head) else None
