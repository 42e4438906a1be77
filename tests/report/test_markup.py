"""Whatever text goes in, it comes out as text: read back by parsers that are not ours."""

import base64
import hashlib
import json
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.report.markup import element, embedded_json, escape, join, name, source_hash


class Reader(HTMLParser):
    """Collects tags, attributes and text."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.words = [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.words += data


printable = st.text(st.characters(exclude_categories=("Cc", "Cs")))


@given(printable, printable)
def test_text_and_attributes_read_back_as_they_were(text, title):
    read = Reader(element("p", text, title=title))
    assert read.tags == ["p"]
    assert read.words == text
    assert read.attributes == [("title", title)]


def test_elements_nest_and_only_they_stay_markup():
    inner = element("b", "<i>")
    assert element("p", inner, "&") == "<p><b>&lt;i&gt;</b>&amp;</p>"
    assert join([inner, "<"], ", ") == "<b>&lt;i&gt;</b>, &lt;"
    assert element("rect", width="1") == '<rect width="1">'
    assert element("td", 3, class_="number", hidden=True, title=None, data_axis=0) == (
        '<td class="number" hidden data-axis="0">3</td>'
    )


def test_control_characters_and_half_surrogates_are_replaced():
    assert escape("a\x00b\x1b\ud800") == "a\ufffdb\ufffd\ufffd"
    escape("\ud800").encode("utf-8")


def test_names_are_one_line_isolated_and_not_too_long():
    assert name("a\n b\u202e") == "<bdi>a b\u202e</bdi>"
    long = Reader(name("x" * 5000))
    assert long.words == "x" * 119 + "…"
    assert len(dict(long.attributes)["title"]) == 1200


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(json_values)
def test_embedded_json_reads_back_and_cannot_end_its_element(value):
    text = embedded_json(value)
    assert json.loads(text) == value
    assert not set("<>&\u2028\u2029") & set(text)
    assert text.isascii()


def test_json_refuses_what_is_no_json():
    with pytest.raises(ValueError, match="not JSON compliant"):
        embedded_json(float("nan"))


def test_hash_is_the_one_of_a_content_security_policy():
    kind, _, digest = source_hash("let x = 'ä';").strip("'").partition("-")
    assert kind == "sha256"
    assert base64.b64decode(digest) == hashlib.sha256("let x = 'ä';".encode()).digest()
