"""The page of a comparison in a real browser: wide and narrow, light and dark, and on paper."""

from __future__ import annotations

import pytest

PAGES = ["discover", "adult-discover", "hostile-discover"]
FIGURES = {"discover": 2, "adult-discover": 3, "hostile-discover": 3}
CLOSED = "details.printed:not([open])"


def background(page) -> str:
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def names(page, table: str) -> list[str]:
    """The names in the first column of what is shown."""
    rows = page.locator(f"#{table} tbody tr:not([hidden]) td:first-child > bdi")
    return rows.all_text_contents()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 400])
@pytest.mark.parametrize("name", PAGES)
def test_every_figure_is_drawn_and_nothing_sticks_out_of_the_page(visit, name, width, scheme):
    page = visit(name, width, scheme)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    assert page.locator(".chart svg").count() == page.locator(".chart").count() == FIGURES[name]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    bottom = page.evaluate("document.querySelector('footer').getBoundingClientRect().bottom")
    assert page.evaluate("document.documentElement.scrollHeight + 1 - scrollY") > bottom


def test_the_verdict_is_the_largest_text_below_the_title(visit):
    page = visit("discover")
    size = "one => parseFloat(getComputedStyle(one).fontSize)"
    verdict = page.locator(".verdict").evaluate(size)
    assert verdict > page.locator(".taken").evaluate(size)
    assert verdict > page.locator("h2").first.evaluate(size)
    box = page.locator(".verdict").bounding_box()
    assert box["y"] + box["height"] < 400


def test_the_leaderboard_sorts_by_any_score_and_the_mark_goes_along(visit):
    page = visit("discover")
    table = "discover-leaderboard-table"
    assert names(page, table)[:2] == ["gradient boosting", "induction"]
    head = page.locator(f"#{table} th", has_text="learns in")
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert names(page, table)[0] == "memory-based learning"
    head.locator("button").click()
    assert names(page, table)[0] == "commonest class"
    assert page.locator(f"#{table} tr.chosen td:first-child > bdi").text_content() == "induction"
    assert page.locator(f"#{table} .tag").all_text_contents() == ["chosen"]


def test_a_finding_opens_by_the_keyboard_and_is_searched(visit):
    page = visit("discover")
    table = page.locator("#discover-found-2")
    assert page.locator("#discover-found-1").is_visible()
    assert not table.is_visible()
    page.locator("summary", has_text="linear model: weights").focus()
    page.keyboard.press("Enter")
    assert table.is_visible()
    page.locator(".controls[data-table=discover-found-2] input").fill("next=e")
    assert names(page, "discover-found-2") == ["next=e"]
    output = page.locator(".controls[data-table=discover-found-2] output")
    assert output.text_content() == "1 of 3"


def test_classes_are_searched_and_sorted_by_what_is_gained(visit):
    page = visit("discover")
    page.locator("#discover-errors-class th", has_text="gain").locator("button").click()
    assert names(page, "discover-errors-class")[0] == "-"
    page.locator(".controls[data-table=discover-errors-group] input").fill("document 2")
    found = names(page, "discover-errors-group")
    assert found == [f"document {j}" for j in range(30) if "2" in str(j)]


def test_the_bars_of_the_two_methods_differ_on_either_page(visit):
    page = visit("discover")
    colour = "one => getComputedStyle(one).backgroundColor"
    seen = []
    for _ in range(2):
        first = page.locator("#discover-errors-class .bar:not(.second) i").first.evaluate(colour)
        second = page.locator("#discover-errors-class .bar.second i").first.evaluate(colour)
        seen += [first, second, background(page)]
        page.locator("button.theme").click()
    assert len(set(seen)) == 6
    page.evaluate("localStorage.clear()")


def test_the_held_out_score_is_another_mark_in_the_colours_of_the_theme(visit):
    page = visit("discover")
    look = "all => all.map((dot) => getComputedStyle(dot).stroke)"
    dots = page.locator("figure").first.locator(".mark-symbol path")
    light = dots.evaluate_all(look)
    assert len(light) == 8
    assert len(set(light)) == 3
    page.locator("button.theme").click()
    assert set(dots.evaluate_all(look)).isdisjoint(light)
    page.evaluate("localStorage.clear()")


def test_the_confusion_matrix_shades_right_and_wrong_in_two_colours_on_either_page(visit):
    page = visit("adult-discover")
    colour = "all => all.map((one) => getComputedStyle(one).backgroundColor)"
    seen = []
    for _ in range(2):
        right = page.locator("#discover-confusion td.right").evaluate_all(colour)
        wrong = page.locator("#discover-confusion td.wrong").evaluate_all(colour)
        assert len(set(right + wrong)) == 4
        seen += [*right, *wrong, background(page)]
        page.locator("button.theme").click()
    assert len(set(seen)) == 10
    page.evaluate("localStorage.clear()")


@pytest.mark.parametrize("name", ["discover", "adult-discover"])
def test_a_wide_page_shows_the_whole_leaderboard_at_once(visit, name):
    box = visit(name).locator(".board .box")
    assert box.evaluate("one => one.scrollWidth <= one.clientWidth")
    assert box.evaluate("one => one.scrollHeight <= one.clientHeight")


def test_calibration_stands_on_the_diagonal_of_a_square_from_0_to_100(visit):
    page = visit("adult-discover", width=400)
    figure = page.locator("figure", has=page.locator("[data-spec=spec-discover-calibration]"))
    assert figure.locator(".mark-symbol path").count() == 11
    assert figure.locator(".mark-rule.role-mark line").count() == 11
    words = figure.locator("svg text").all_text_contents()
    assert words.count("0") == words.count("100") == 2
    assert "predicted probability of >50K (%)" in words


@pytest.mark.parametrize("name", PAGES)
def test_the_keyboard_reaches_every_box_that_scrolls_and_the_focus_is_seen(visit, name):
    page = visit(name, width=400)
    unreachable = """() => [...document.querySelectorAll('.box, .drawing, pre')]
        .filter((one) => one.scrollWidth > one.clientWidth || one.scrollHeight > one.clientHeight)
        .filter((one) => one.tabIndex !== 0).length"""
    assert page.evaluate(unreachable) == 0
    for place in (".box", "summary", "th button", "pre"):
        page.keyboard.press("Tab")
        page.locator(f"#discover {place}").first.focus()
        outline = "getComputedStyle(document.activeElement).outlineStyle"
        assert page.evaluate(outline) == "solid"


def test_the_links_lead_to_headings(visit):
    page = visit("discover")
    links = page.locator("nav a").evaluate_all("all => all.map((a) => a.hash.slice(1))")
    assert len(links) == 10
    assert page.evaluate("all => all.filter((id) => !document.getElementById(id))", links) == []


def test_the_lines_to_use_can_be_copied(visit):
    page = visit("discover")
    button = page.locator("button.copy").first
    assert button.is_visible()
    button.click()
    page.wait_for_function("() => document.querySelector('button.copy').textContent !== 'Copy'")
    assert button.text_content() in ("Copied", "Marked")


def test_paper_is_light_and_shows_what_is_closed_on_the_screen(visit):
    page = visit("discover", width=680, scheme="dark")
    assert page.locator(CLOSED).count() > 0
    page.emulate_media(media="print")
    assert background(page) == "rgb(253, 253, 251)"
    for table in ("discover-found-2", "discover-curves-table", "classes"):
        height = page.locator(f"#{table}").evaluate("one => one.getBoundingClientRect().height")
        assert height > 40
    assert not page.locator("button.copy").first.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 680
    cut = """() => [...document.querySelectorAll('.box')]
        .filter((one) => getComputedStyle(one).overflow !== 'visible').length"""
    assert page.evaluate(cut) == 0


def test_of_very_wide_tables_paper_shows_the_first_columns_and_says_so(visit):
    page = visit("hostile-discover", width=680)
    page.emulate_media(media="print")
    heads = page.locator("#discover-found-1 th")
    assert heads.count() == 200
    assert heads.nth(5).is_visible()
    assert not heads.nth(6).is_visible()
    said = page.locator(".paper", has_text="The first 6 of 200 columns.")
    assert said.first.is_visible()


def test_names_that_look_like_scripts_are_only_text(visit):
    page = visit("hostile-discover")
    assert page.evaluate("document.querySelectorAll('script:not([type])').length") == 2
    assert page.evaluate("document.querySelectorAll('img, iframe').length") == 0
    assert page.evaluate("document.querySelectorAll('main a').length") == 0
    assert page.title().startswith("</script><script>")
    assert page.locator("#discover-errors-class tbody tr").count() == 133
