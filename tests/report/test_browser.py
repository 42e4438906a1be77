"""The page in a real browser: what is drawn, selected, moved, read and exported is right."""

import re

import numpy as np
import pytest

from sightline import ProjectionPursuit
from sightline.report import write_report

WAITED = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))"

CONTRASTS = """
() => {
  const channel = (c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  const parts = (text) => text.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) =>
    0.2126 * channel(r / 255) + 0.7152 * channel(g / 255) + 0.0722 * channel(b / 255);
  const paper = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const [r, g, b, a = 1] = parts(getComputedStyle(at).backgroundColor);
      if (a === 1) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    if (!text || !element.checkVisibility() || element.closest("script, title")) continue;
    const style = getComputedStyle(element);
    const ink = parts(element.closest("svg") ? style.fill : style.color);
    const [low, high] = [luminance(ink), luminance(paper(element))].sort((a, b) => a - b);
    found.push([(high + 0.05) / (low + 0.05), text]);
  }
  return found;
}
"""

CONTROLS = "a[href], button, input, select, summary, [tabindex='0']"


def settle(page):
    page.evaluate(WAITED)
    page.evaluate(WAITED)


def selected(page) -> int:
    """Return how many rows are selected, when every panel says the same number."""
    settle(page)
    labels = page.eval_on_selector_all(
        ".histogram svg, canvas", "all => all.map(one => one.getAttribute('aria-label'))"
    )
    said = {re.search(r"([\d,]+) of [\d,]+ rows selected", label).group(1) for label in labels}
    assert len(labels) == 5
    assert len(said) == 1
    return int(said.pop().replace(",", ""))


def drawn_part(page, place: int) -> float:
    """Return the height of the selected bars of a histogram over the height of all bars."""
    heights = []
    for kind in ("chosen", "faded"):
        paths = page.locator(".histogram svg").nth(place).locator(f"path.{kind}[fill]")
        drawn = " ".join(path.get_attribute("d") for path in paths.all())
        heights.append(sum(float(tall) for tall in re.findall(r"v([\d.]+)", drawn)))
    return heights[0] / heights[1]


def fill_range(page, place: int, low: float, high: float) -> None:
    panel = page.locator(".histogram").nth(place)
    panel.get_by_label(re.compile("from")).fill(str(low))
    panel.get_by_label(re.compile(r"\bto$")).fill(str(high))


def in_wide_gaps(scores) -> tuple[float, float]:
    """Return two bounds in wide gaps between scores, where rounding to 16 bits moves no row."""
    ordered = np.sort(scores)
    gaps = np.diff(ordered)
    low, high = 10 + gaps[10:150].argmax(), 250 + gaps[250:390].argmax()
    assert min(gaps[low], gaps[high]) > 4 * (ordered[-1] - ordered[0]) / 65535
    return ordered[low : low + 2].mean(), ordered[high : high + 2].mean()


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_range_selects_the_same_rows_in_every_panel(open_page, report, example, place):
    page = open_page(report)
    scores = example.scores[:, place]
    low, high = in_wide_gaps(scores)
    fill_range(page, place, low, high)
    expected = int(np.count_nonzero((scores >= low) & (scores <= high)))
    assert 100 <= expected <= 380
    assert selected(page) == expected
    for panel in range(3):
        assert drawn_part(page, panel) == pytest.approx(expected / 400, rel=1e-6)
    assert page.locator("#status").text_content().startswith(f"{expected} of 400 rows are")


def test_brushing_with_the_mouse_selects_and_a_click_lets_go(open_page, report, example):
    page = open_page(report)
    page.locator(".histogram").first.scroll_into_view_if_needed()
    box = page.locator(".histogram svg").first.bounding_box()
    line = page.locator(".histogram svg .threshold").first.bounding_box()
    height = box["y"] + 90
    page.mouse.move(line["x"] + 2, height)
    page.mouse.down()
    page.mouse.move(line["x"] + 40, height, steps=4)
    page.mouse.move(box["x"] + box["width"] + 5, height, steps=4)
    page.mouse.up()
    from_field = page.locator(".histogram").first.get_by_label(re.compile("from"))
    low = float(from_field.input_value())
    assert selected(page) == np.count_nonzero(example.scores[:, 0] >= low) > 0
    page.mouse.click(box["x"] + box["width"] / 2, height)
    assert selected(page) == 0
    assert from_field.input_value() == ""


def test_the_small_side_is_the_one_that_the_table_counts(open_page, report):
    page = open_page(report)
    for number in (1, 2, 3):
        page.get_by_role("button", name=f"Select small side of direction {number}").click()
        row = page.locator(".overview tbody tr").nth(number - 1).text_content()
        assert f"{selected(page):,} (" in row


def test_selections_are_added_and_narrowed(open_page, report):
    page = open_page(report)
    first, second = (page.locator("#legend button", has_text=name) for name in ("first", "second"))
    first.click()
    assert selected(page) == 40
    page.locator("#mode").select_option("add")
    second.click()
    assert selected(page) == 60
    page.locator("#mode").select_option("narrow")
    second.click()
    assert selected(page) == 20
    first.click()
    assert selected(page) == 0
    first.click()  # of nothing there is nothing to narrow: this is a new selection
    assert selected(page) == 40
    page.get_by_role("button", name="Clear").click()
    assert selected(page) == 0


def test_export_holds_the_ids_of_the_selected_rows(open_page, report, example):
    page = open_page(report)
    page.locator("#legend button", has_text="second").click()
    selected(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export row ids").click()
    lines = download.value.path().read_text().split("\n")
    assert lines == ["row", *example.ids[40:60], ""]
    assert download.value.suggested_filename == "selected-rows.csv"


def test_a_lasso_selects_what_it_encloses(open_page, report):
    page = open_page(report)
    box = page.locator("#scatter-canvas").bounding_box()
    corners = [(2, 2), (box["width"] - 2, 2), (box["width"] - 2, box["height"] - 2)]
    corners += [(2, box["height"] - 2), (2, 2)]
    page.mouse.move(box["x"] + 2, box["y"] + 2)
    page.mouse.down()
    for x, y in corners:
        page.mouse.move(box["x"] + x, box["y"] + y, steps=3)
    page.mouse.up()
    assert selected(page) == 400


def test_a_lasso_around_a_group_selects_that_group(open_page, report, example):
    page = open_page(report)
    x, y = (example.scores[:, place] for place in (0, 1))
    far = x > (np.sort(x)[-40] + np.sort(x)[-41]) / 2
    assert far.sum() == 40
    # The canvas spans the scores between margins of 54 left, 20 right, as wide as it is drawn.
    box = page.locator("#scatter-canvas").bounding_box()
    edge = (np.sort(x)[-40] + np.sort(x)[-41]) / 2
    part = (edge - x.min()) / (x.max() - x.min())
    left = 54 + part * (box["width"] - 74)
    page.mouse.move(box["x"] + left, box["y"] + 1)
    page.mouse.down()
    for across, down in [(box["width"] - 1, 1), (box["width"] - 1, box["height"] - 1)]:
        page.mouse.move(box["x"] + across, box["y"] + down)
    page.mouse.move(box["x"] + left, box["y"] + box["height"] - 1)
    page.mouse.up()
    assert selected(page) == 40
    assert y.size == 400


def test_a_lasso_can_be_drawn_from_the_keyboard(open_page, report):
    page = open_page(report)
    page.locator("#scatter-canvas").focus()
    for keys in (["ArrowUp", "ArrowLeft"], ["ArrowRight"], ["ArrowDown"], ["ArrowLeft"]):
        for key in keys:
            for _ in range(30):
                page.keyboard.press(f"Shift+{key}")
        page.keyboard.press("Space")
    page.keyboard.press("Enter")
    assert selected(page) == 400
    page.keyboard.press("Space")  # begins a new shape
    page.keyboard.press("Escape")
    assert selected(page) == 400


def test_choosing_other_axes_redraws_the_scatter(open_page, report):
    page = open_page(report)
    before = page.evaluate("document.getElementById('scatter-canvas').toDataURL()")
    page.locator("#scatter-x").select_option("2")
    assert page.evaluate("document.getElementById('scatter-canvas').toDataURL()") != before
    assert "direction 3 across" in page.locator("#scatter-canvas").get_attribute("aria-label")


def picture(page) -> str:
    return page.evaluate("document.getElementById('tour-canvas').toDataURL()")


def test_the_tour_moves_and_stops(open_page, report):
    page = open_page(report)
    still = picture(page)
    page.wait_for_timeout(150)
    assert picture(page) == still
    page.get_by_role("button", name="Play the tour").press("Enter")
    page.wait_for_function(
        "still => document.getElementById('tour-canvas').toDataURL() !== still", arg=still
    )
    assert page.locator("#tour-where").text_content().startswith("Towards")
    page.get_by_role("button", name="Pause the tour").press("Space")
    settle(page)
    stopped = picture(page)
    page.wait_for_timeout(150)
    assert picture(page) == stopped


def test_the_tour_passes_through_random_views_and_pairs_of_directions(open_page, report):
    page = open_page(report)
    page.locator("#tour-speed").fill("3")
    page.get_by_role("button", name="Play the tour").click()
    words = page.locator("#tour-where")
    for passage in ("a random view", "direction 1 and direction", "a random view"):
        page.wait_for_function(
            "text => document.getElementById('tour-where').textContent.includes(text)",
            arg=passage,
        )
    assert words.is_visible()


def middle(box) -> tuple[float, float]:
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_an_axis_of_the_tour_follows_the_pointer_and_the_arrow_keys(open_page, report):
    page = open_page(report)
    handle = page.get_by_role("button", name="Axis 2 of the tour")
    page.locator("#tour-canvas").scroll_into_view_if_needed()
    stage = middle(page.locator("#tour-canvas").bounding_box())
    goal = (stage[0] - 70, stage[1] + 45)
    page.mouse.move(*middle(handle.bounding_box()))
    page.mouse.down()
    page.mouse.move(stage[0] - 20, stage[1], steps=4)
    page.mouse.move(*goal, steps=4)
    page.mouse.up()
    settle(page)
    assert middle(handle.bounding_box()) == pytest.approx(goal, abs=1.5)
    handle.press("ArrowRight")
    settle(page)
    assert middle(handle.bounding_box())[0] > goal[0] + 5


def test_every_control_has_a_name(open_page, report):
    page = open_page(report)
    tree = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")
    focusable = [
        node
        for node in tree["nodes"]
        if any(
            prop["name"] == "focusable" and prop["value"]["value"]
            for prop in node.get("properties", [])
        )
        and node["role"]["value"] != "RootWebArea"
    ]
    assert len(focusable) > 20
    nameless = [node for node in focusable if not node.get("name", {}).get("value", "").strip()]
    assert nameless == []


def test_every_control_is_reachable_by_keyboard(open_page, report):
    page = open_page(report)
    page.locator("#legend button").first.click()  # so that the buttons of the bar are enabled
    settle(page)
    page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
    total = page.evaluate(
        """selector => {
          const controls = [...document.querySelectorAll(selector)];
          const shown = controls.filter((one) => one.checkVisibility() && !one.disabled);
          shown.forEach((one, place) => { one.dataset.control = place; });
          return shown.length;
        }""",
        CONTROLS,
    )
    reached = set()
    for _ in range(2 * total):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.dataset.control"))
    assert reached - {None} == {str(place) for place in range(total)}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("marked", [False, True], ids=["unselected", "selected"])
def test_every_text_has_contrast(open_page, report, scheme, marked):
    page = open_page(report, color_scheme=scheme)
    page.eval_on_selector_all("details", "all => all.forEach(one => { one.open = true; })")
    if marked:
        page.locator("#legend button").first.click()
        settle(page)
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) > 150
    assert min(contrasts)[0] >= 4.5, min(contrasts)


def test_light_and_dark_are_different_papers(open_page, report):
    papers = [
        open_page(report, color_scheme=scheme).evaluate(
            "getComputedStyle(document.body).backgroundColor"
        )
        for scheme in ("light", "dark")
    ]
    assert papers == ["rgb(255, 255, 255)", "rgb(20, 24, 27)"]


@pytest.mark.parametrize("width", [320, 390, 768])
def test_nothing_sticks_out_of_a_small_screen(open_page, report, width):
    page = open_page(report, viewport={"width": width, "height": 700})
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width
    page.set_viewport_size({"width": width - 10, "height": 700})
    settle(page)
    assert page.evaluate("document.scrollingElement.scrollWidth") <= width - 10


def test_touch_scrolls_until_the_lasso_is_asked_for(open_page, report):
    page = open_page(report, has_touch=True, viewport={"width": 390, "height": 844})
    action = "getComputedStyle(document.getElementById('scatter-canvas')).touchAction"
    assert page.evaluate(action) == "auto"
    page.get_by_role("button", name="Lasso by touch").tap()
    assert page.evaluate(action) == "none"
    assert page.get_by_role("button", name="Lasso by touch", pressed=True).is_visible()


def test_print_unfolds_the_tables_and_leaves_out_the_controls(open_page, report):
    page = open_page(report, color_scheme="dark")
    page.evaluate(
        "addEventListener('beforeprint', () => "
        "{ window.open_when_printed = document.querySelectorAll('details[open]').length; })"
    )
    assert page.pdf(format="A4").startswith(b"%PDF")
    assert page.evaluate("window.open_when_printed") == 3
    page.emulate_media(media="print", color_scheme="dark")
    assert not page.locator("#mode").is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == (
        "rgb(255, 255, 255)"
    )


def test_a_change_of_theme_redraws_the_canvases(open_page, report):
    page = open_page(report)
    before = page.evaluate("document.getElementById('scatter-canvas').toDataURL()")
    page.emulate_media(color_scheme="dark")
    settle(page)
    assert page.evaluate("document.getElementById('scatter-canvas').toDataURL()") != before


def test_a_page_of_one_axis_has_no_scatter_and_still_selects(open_page, tmp_path):
    X = np.r_[np.zeros(50), np.ones(5)][:, None] + np.random.default_rng(0).normal(0, 0.1, (55, 1))
    estimator = ProjectionPursuit(solver="two-step", n_starts=10, random_state=0).fit(X)
    path = write_report(tmp_path / "one.html", estimator=estimator, X=X, column_names=["x"])
    page = open_page(path)
    page.get_by_role("button", name="Select small side of direction 1").click()
    settle(page)
    assert page.locator("#status").text_content().startswith("5 of 55 rows are selected")
    assert not page.locator("#scatter-canvas").is_visible()


def test_long_numbers_on_the_axis_are_not_cut_off(open_page, example, tmp_path):
    """The leftmost pixels of the canvas stay empty: no number begins outside of it."""
    X = example.X * 1e300
    estimator = ProjectionPursuit(
        n_components=2, solver="two-step", n_starts=50, random_state=0
    ).fit(X)
    page = open_page(example.write(tmp_path / "x.html", estimator=estimator, X=X, p_values=None))
    left = """() => { const canvas = document.getElementById('scatter-canvas');
      const { data } = canvas.getContext('2d').getImageData(0, 0, 3, canvas.height);
      return data.reduce((sum, value) => sum + value, 0); }"""
    assert page.evaluate(left) == 0


HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<img src=x onerror=alert(3)>",
    "'\"><svg onload=alert(4)>",
    "{{script}}<!--<script>",
]


def test_text_from_data_does_nothing_but_read(open_page, example, tmp_path):
    ids = [f'{HOSTILE[row % 5]},"{row}"\n' for row in range(400)]
    path = example.write(
        tmp_path / "hostile.html",
        column_names=HOSTILE,
        labels=[HOSTILE[row % 5] for row in range(400)],
        row_ids=ids,
        title=HOSTILE[1],
    )
    page = open_page(path)
    assert page.locator("h1").text_content() == HOSTILE[1]
    assert page.title() == HOSTILE[1]
    legend = page.locator("#legend bdi").all_text_contents()
    assert sorted(legend) == sorted(HOSTILE)
    columns = page.locator("#direction-1 .weights th").all_text_contents()
    assert sorted(columns) == sorted(HOSTILE)
    assert page.locator("script").count() == 2
    assert page.locator("img, [onload], [onerror]").count() == 0
    page.locator("#legend button").first.click()
    settle(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Export row ids").click()
    exported = download.value.path().read_bytes().decode()
    chosen = sorted(HOSTILE)[0]
    quoted = ['"' + one.replace('"', '""') + '"' for one in ids if one.startswith(chosen)]
    assert exported == "row\r\n" + "".join(f"{one}\r\n" for one in quoted)


def test_a_script_that_got_in_would_not_run(browser, report, tmp_path):
    """The policy stands even where escaping should fail."""
    text = report.read_text(encoding="utf-8")
    pierced = tmp_path / "pierced.html"
    inserted = "<footer><script>window.ran = 1</script><img src='http://localhost:9/x.png'>"
    pierced.write_text(text.replace("<footer>", inserted), encoding="utf-8")
    page = browser.new_page()
    said = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(pierced.as_uri())
    settle(page)
    assert page.evaluate("window.ran") is None
    assert sum("Content Security Policy" in message for message in said) == 2
    page.close()
