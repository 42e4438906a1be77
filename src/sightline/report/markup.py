"""HTML from text that may be hostile: every word goes through `escape`, and only here.

`element("td", name)` escapes `name`; only what is `Markup` already goes in as it is.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from typing import Any
from unicodedata import category

_VOID = {"col", "input", "link", "meta", "rect"}
"""Elements without content."""

_UNREADABLE = {"Cc", "Cs"}
"""Control characters and half surrogates, which no page may hold."""

_LONGEST = 120
"""Characters of a text from data that are shown."""


class Markup(str):
    """Text that is HTML already, because this module made it."""

    __slots__ = ()


def escape(text: object) -> Markup:
    """Return text as HTML that reads the same and does nothing."""
    if isinstance(text, Markup):
        return text
    readable = "".join("\ufffd" if category(c) in _UNREADABLE else c for c in str(text))
    return Markup(html.escape(readable, quote=True))


def element(tag: str, *content: object, **attributes: object) -> Markup:
    """Return an element; `class_` and `for_` are attributes, `_` in their names is `-`.

    An attribute that is None is left out, and one that is True stands without a value.
    """
    words = [tag]
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        attribute = name.rstrip("_").replace("_", "-")
        words.append(attribute if value is True else f'{attribute}="{escape(value)}"')
    opening = f"<{' '.join(words)}>"
    if tag in _VOID:
        return Markup(opening)
    return Markup(f"{opening}{join(content)}</{tag}>")


def join(parts: Any, between: str = "") -> Markup:
    """Return the parts one after the other, each escaped."""
    return Markup(escape(between).join(escape(part) for part in parts))


def name(text: object) -> Markup:
    """Return a name from data: one line, not too long, no say in which way the page reads."""
    line = " ".join(str(text).split())
    if len(line) <= _LONGEST:
        return element("bdi", line)
    return element("bdi", line[: _LONGEST - 1] + "…", title=line[: 10 * _LONGEST])


def embedded_json(data: Any) -> Markup:
    """Return data as JSON that can stand inside a script element: it holds no `<` and no `&`."""
    text = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    for character in "<>&":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def source_hash(text: str) -> str:
    """Return what a content security policy calls a script or style by, so that no other runs."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
