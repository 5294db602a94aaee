"""The page in a real browser: it draws, sorts, searches, folds and turns dark without a network."""

from __future__ import annotations

import itertools

import pytest

PAGES = ["everything", "hostile"]
ALL_DRAWN = "() => [...document.querySelectorAll('.chart')].every((c) => 'drawn' in c.dataset)"
CLOSED = "details.printed:not([open])"


def names(page, table: str) -> list[str]:
    """The names in the first column of what is shown."""
    cells = page.locator(f"#{table} tbody tr:not([hidden]) td:first-child")
    return [text.split(" (only")[0] for text in cells.all_text_contents()]


def background(page) -> str:
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 400])
@pytest.mark.parametrize("name", PAGES)
def test_every_figure_is_drawn_and_nothing_sticks_out_of_the_page(visit, name, width, scheme):
    page = visit(name, width, scheme)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.locator(".chart svg").count() == page.locator(".chart").count() > 10
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    bottom = page.evaluate("document.querySelector('footer').getBoundingClientRect().bottom")
    assert page.evaluate("document.documentElement.scrollHeight + 1 - scrollY") > bottom


def test_the_verdict_is_the_largest_text_below_the_title(visit):
    page = visit("everything")
    size = "one => parseFloat(getComputedStyle(one).fontSize)"
    verdict = page.locator(".verdict").evaluate(size)
    assert verdict > page.locator(".taken").evaluate(size)
    assert verdict > page.locator("h2").first.evaluate(size)
    box = page.locator(".verdict").bounding_box()
    assert box["y"] + box["height"] < 400


def test_a_click_on_a_head_sorts_by_number_and_a_second_one_turns_the_order(visit):
    page = visit("everything")
    head = page.locator("#features-1 th", has_text="support")
    values = "all => all.map((cell) => Number(cell.dataset.value))"
    orders = []
    for order in ("descending", "ascending"):
        head.locator("button").click()
        assert head.get_attribute("aria-sort") == order
        orders.append(page.locator("#features-1 tbody td:nth-child(2)").evaluate_all(values))
    assert orders == [sorted(orders[0], reverse=True), sorted(orders[0])]


def test_rows_without_a_value_stay_last_in_either_order(visit):
    page = visit("everything")
    for _ in range(2):
        page.locator("#features-1 th", has_text="weight").locator("button").click()
        cells = page.locator("#features-1 tbody td:nth-child(5)").all_text_contents()
        known = sum(cell != "–" for cell in cells)
        assert 0 < known < len(cells)
        assert "–" not in cells[:known]


def test_the_mark_of_the_chosen_model_goes_along_when_sorted(visit):
    page = visit("everything")
    page.locator("#leaderboard-2 th", has_text="size").locator("button").click()
    chosen = page.locator("#leaderboard-2 tr.chosen td:first-child > bdi")
    assert chosen.all_text_contents() == ["induction"]
    assert page.locator("#leaderboard-2 .tag").all_text_contents() == ["chosen"]


def test_search_keeps_the_rows_with_all_the_words_and_marked_ones_can_be_seen_alone(visit):
    page = visit("everything")
    every = names(page, "features-1")
    search = page.locator(".controls[data-table=features-1] input[type=search]")
    search.fill("last=e prev")
    wanted = [name for name in every if "Last=e" in name]
    assert names(page, "features-1") == wanted
    output = page.locator(".controls[data-table=features-1] output")
    assert output.text_content() == f"{len(wanted)} of {len(every)}"
    search.fill("")
    page.get_by_label("only with the domain of the document").check()
    assert names(page, "features-1") == [every[0], every[3]]


def test_the_keyboard_reaches_the_switch_the_search_the_heads_and_what_is_folded(visit):
    page = visit("everything")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    for place in ("button.theme", "input[type=search]", ".box", "summary", "th button", "pre"):
        page.keyboard.press("Tab")
        page.locator(place).first.focus()
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.locator("#features-1 th button").first.focus()
    page.keyboard.press("Enter")
    assert names(page, "features-1") == sorted(names(page, "features-1"))
    assert not page.locator("#features-2").is_visible()
    page.locator("summary", has_text="Atomic features").focus()
    page.keyboard.press("Enter")
    assert page.locator("#features-2").is_visible()


@pytest.mark.parametrize("name", PAGES)
def test_every_box_that_scrolls_can_be_reached(visit, name):
    page = visit(name, width=400)
    unreachable = """() => [...document.querySelectorAll('.box, .drawing, pre')]
        .filter((one) => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight)
        .filter((one) => one.tabIndex !== 0).length"""
    assert page.evaluate(unreachable) == 0


def test_the_page_follows_the_system_and_the_switch_turns_it_figures_too(visit):
    page = visit("everything", scheme="light")
    look = """() => [getComputedStyle(document.body).backgroundColor,
        getComputedStyle(document.querySelector('.mark-rect path')).fill,
        getComputedStyle(document.querySelector('.matrix td.better')).backgroundColor,
        getComputedStyle(document.querySelector('.matrix td.worse')).backgroundColor]"""
    light = page.evaluate(look)
    page.locator("button.theme").click()
    dark = page.evaluate(look)
    assert len({*light, *dark}) == 8
    page.reload()
    page.wait_for_function(ALL_DRAWN)
    assert background(page) == dark[0]
    page.evaluate("localStorage.clear()")
    assert background(visit("everything", scheme="dark")) == dark[0]


def test_paper_is_light_and_shows_what_is_closed_on_the_screen(visit):
    page = visit("everything", width=680, scheme="dark")
    assert page.locator(CLOSED).count() > 3
    page.emulate_media(media="print")
    assert background(page) == "rgb(253, 253, 251)"
    for place in ("nav", ".controls", "button.copy"):
        assert not page.locator(place).first.is_visible()
    for table in ("features-2", "curves-2", "data-2"):
        height = page.locator(f"#{table}").evaluate("one => one.getBoundingClientRect().height")
        assert height > 40
    assert page.evaluate("document.documentElement.scrollWidth") <= 680
    cut = """() => [...document.querySelectorAll('.box')]
        .filter((one) => getComputedStyle(one).overflow !== 'visible').length"""
    assert page.evaluate(cut) == 0


def test_names_that_look_like_scripts_are_only_text(visit):
    page = visit("hostile")
    assert page.evaluate("document.querySelectorAll('script:not([type])').length") == 2
    assert page.evaluate("document.querySelectorAll('img, iframe').length") == 0
    assert page.evaluate("document.querySelectorAll('main a').length") == 0
    assert "broken" not in page.title().split("·")[-1]


def test_a_tooltip_shows_the_numbers_of_a_bar(visit):
    page = visit("everything")
    page.locator("#features .mark-rect path").first.hover()
    tooltip = page.locator("#vg-tooltip-element")
    assert tooltip.is_visible()
    assert "features" in tooltip.text_content()


def test_a_line_and_its_entry_in_the_legend_have_one_colour(visit):
    figure = visit("everything").locator("#search figure").nth(1)
    stroke = "all => all.map((line) => getComputedStyle(line).stroke)"
    entries = figure.locator(".legend line").evaluate_all(stroke)
    drawn = figure.locator(".mark-line path").evaluate_all(stroke)
    assert len(set(entries)) == 2
    assert set(drawn) == set(entries)


def test_calibration_stands_on_a_square_from_0_to_100(visit):
    figure = visit("everything", width=400).locator("#chosen figure").first
    words = figure.locator("svg text").all_text_contents()
    assert words.count("0") == words.count("100") == 2
    assert "predicted probability of >50K (%)" in words


def test_the_bars_of_two_models_differ_on_either_page(visit):
    page = visit("everything")
    colour = "one => getComputedStyle(one).backgroundColor"
    seen = []
    for _ in range(2):
        first = page.locator("#errors-1 .bar:not(.second) i").first.evaluate(colour)
        second = page.locator("#errors-1 .bar.second i").first.evaluate(colour)
        seen += [first, second, background(page)]
        page.locator("button.theme").click()
    assert len(set(seen)) == 6
    page.evaluate("localStorage.clear()")


def test_a_wide_page_shows_the_whole_leaderboard_at_once(visit):
    box = visit("everything").locator(".box.board")
    assert box.evaluate("one => one.scrollHeight <= one.clientHeight")


def test_the_lines_to_use_can_be_copied(visit):
    page = visit("everything")
    button = page.locator("button.copy").first
    button.click()
    page.wait_for_function("() => document.querySelector('button.copy').textContent !== 'Copy'")
    assert button.text_content() in ("Copied", "Marked")


def test_a_branch_of_a_tree_opens_by_the_keyboard_and_its_numbers_stand_in_line(visit):
    page = visit("everything")
    for column in ("rows", "gain"):
        ends = page.locator(f".tree .node .{column}:visible").evaluate_all(
            "all => all.map((one) => Math.round(one.getBoundingClientRect().right))"
        )
        assert len(ends) > 1
        assert len(set(ends)) == 1
    summary = page.locator(".tree summary").first
    inner = page.locator(".tree ul .says").first
    assert inner.is_visible()
    summary.focus()
    page.keyboard.press("Enter")
    assert not inner.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_wrong_arc_differs_in_colour_and_in_dash_and_words_do_not_overlap(visit, scheme):
    page = visit("everything", scheme=scheme)
    look = "arc => [getComputedStyle(arc).stroke, getComputedStyle(arc).strokeDasharray]"
    wrong = page.locator(".arcs-box .wrong .arc").first.evaluate(look)
    same = page.locator(".arcs-box .same .arc").first.evaluate(look)
    assert wrong[0] != same[0]
    assert wrong[1] != same[1] == "none"
    boxes = (
        page.locator(".arcs-box svg")
        .first.locator(".word")
        .evaluate_all(
            "all => all.map((word) => [word.getBBox().x, word.getBBox().x + word.getBBox().width])"
        )
    )
    assert all(right < left for (_, right), (left, _) in itertools.pairwise(boxes))
