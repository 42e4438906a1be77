"""The examples of docs/theory.md print what the page says."""

import doctest
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "theory.md"


def test_examples_print_what_the_page_says():
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) >= 2
    for block in blocks:
        example = doctest.DocTestParser().get_doctest(block, {}, PAGE.name, str(PAGE), 0)
        outcome = doctest.DocTestRunner(verbose=False).run(example)
        assert outcome.attempted > 0
        assert outcome.failed == 0
