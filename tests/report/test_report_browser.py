"""The page in a real browser: it draws, sorts, searches and turns dark without a network."""

from __future__ import annotations

import itertools

import pytest

PAGES = ["sample", "hostile", "memory", "hostile-memory", "trees", "hostile-trees"]
PAGES += ["transfer", "hostile-transfer"]
ALL_DRAWN = "() => [...document.querySelectorAll('.chart')].every((c) => 'drawn' in c.dataset)"


def shown(page, table: str = "conjunctions") -> list[str]:
    cells = page.locator(f"#{table} tbody tr:not([hidden]) td:first-child")
    return [text.removesuffix(" (domain)") for text in cells.all_text_contents()]


def background(page) -> str:
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


@pytest.mark.parametrize("width", [1400, 400])
@pytest.mark.parametrize("name", PAGES)
def test_every_figure_is_drawn_and_nothing_sticks_out_of_the_page(visit, name, width):
    page = visit(name, width)
    assert page.locator(".chart svg").count() == page.locator(".chart").count() > 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    bottom = page.evaluate("document.querySelector('footer').getBoundingClientRect().bottom")
    assert page.evaluate("document.documentElement.scrollHeight") - bottom < 2


def test_a_click_on_a_head_sorts_by_number_and_a_second_one_turns_the_order(visit, sample_result):
    page = visit("sample")
    found = sample_result["induction"]["conjunctions"]
    support = {feature["name"]: feature["support"] for feature in found}
    head = page.locator("#conjunctions th", has_text="support")
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending"
    falling = [support[name] for name in shown(page)]
    assert falling == sorted(support.values(), reverse=True)
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert [support[name] for name in shown(page)] == sorted(support.values())


def test_features_without_a_weight_stay_last_in_either_order(visit, sample_result):
    page = visit("sample")
    weighed = sum(f["weight"] is not None for f in sample_result["induction"]["conjunctions"])
    for _ in range(2):
        page.locator("#conjunctions th", has_text="weight").locator("button").click()
        cells = page.locator("#conjunctions tbody td:last-child").all_text_contents()
        assert "–" not in cells[:weighed]
        assert set(cells[weighed:]) == {"–"}


def test_search_keeps_the_features_with_all_the_words(visit):
    page = visit("sample")
    every = shown(page)
    page.locator("#features .controls input[type=search]").first.fill("last=e prev")
    wanted = [name for name in every if "Last=e" in name and "Prev" in name]
    assert shown(page) == wanted
    assert 0 < len(wanted) < len(every)
    output = page.locator("#features output").first
    assert output.text_content() == f"{len(wanted)} of {len(every)}"
    page.locator("#features .controls input[type=search]").first.fill("no such feature")
    assert shown(page) == []


def test_the_features_that_involve_the_domain_can_be_seen_alone(visit):
    page = visit("sample")
    wanted = [name for name in shown(page) if "Domain=" in name]
    page.get_by_label("only with the domain of the document").check()
    assert shown(page) == wanted
    assert wanted


def test_the_keyboard_reaches_the_switch_the_search_and_the_heads(visit):
    page = visit("sample")
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate("document.activeElement.className || document.activeElement.type")
        )
    assert reached[0] == "skip"
    assert "theme" in reached
    assert "search" in reached
    assert "button" in reached
    page.locator("#conjunctions th button").first.focus()
    page.keyboard.press("Enter")
    assert shown(page) == sorted(shown(page))


def test_the_page_follows_the_system_and_the_switch_turns_it(visit):
    page = visit("sample", scheme="light")
    light = background(page)
    page.locator("button.theme").click()
    dark = background(page)
    assert dark != light
    page.reload()
    page.wait_for_function(ALL_DRAWN)
    assert background(page) == dark
    page.evaluate("localStorage.clear()")
    assert background(visit("sample", scheme="dark")) == dark


def test_figures_take_the_colours_of_the_theme(visit):
    page = visit("sample")
    colour = "getComputedStyle(document.querySelector('.mark-rect path')).fill"
    light = page.evaluate(colour)
    page.locator("button.theme").click()
    dark = page.evaluate(colour)
    assert light != dark
    assert {light, dark}.isdisjoint({"none", "rgb(0, 0, 0)"})
    page.evaluate("localStorage.clear()")


def test_paper_is_light_and_shows_no_controls(visit):
    page = visit("sample", scheme="dark")
    page.emulate_media(media="print")
    assert background(page) == "rgb(253, 253, 251)"
    assert not page.locator("nav").is_visible()
    assert not page.locator(".controls").first.is_visible()


def test_names_that_look_like_scripts_are_only_text(visit):
    page = visit("hostile")
    assert page.evaluate("document.querySelectorAll('script:not([type])').length") == 2
    assert page.evaluate("document.querySelectorAll('img, iframe').length") == 0
    assert "broken" not in page.title().split("·")[-1]
    assert page.title().startswith("</script><script>")
    page.locator("#features .controls input[type=search]").first.fill("alert(1)</script>")
    assert any(name.startswith("<script>alert(1)</script>") for name in shown(page))


def test_a_tooltip_shows_the_numbers_of_a_bar(visit):
    page = visit("sample")
    page.locator("#scores .mark-rect path").first.hover()
    tooltip = page.locator("#vg-tooltip-element")
    assert tooltip.is_visible()
    assert "features" in tooltip.text_content()


def test_the_links_of_a_section_lead_to_its_headings(visit):
    page = visit("memory")
    links = page.locator("nav a, .jump a").evaluate_all("all => all.map((a) => a.hash.slice(1))")
    assert len(links) > 12
    assert page.evaluate("all => all.filter((id) => !document.getElementById(id))", links) == []


def test_the_mode_of_a_feature_is_a_letter_and_stands_out_on_either_page(visit):
    page = visit("memory")
    letters = page.locator("#memory-1-modes tbody tr").nth(1).locator("td.mode")
    assert letters.all_text_contents() == ["M"] * 7
    colours = "cell => [getComputedStyle(cell).color, getComputedStyle(cell).backgroundColor]"
    light = letters.first.evaluate(colours)
    page.locator("button.theme").click()
    dark = letters.first.evaluate(colours)
    assert len({*light, *dark}) == 4
    page.evaluate("localStorage.clear()")


def test_a_line_and_its_entry_in_the_legend_have_one_colour(visit):
    page = visit("memory")
    figure = page.locator("#memory-1 figure").nth(1)
    entries = figure.locator(".legend line").evaluate_all(
        "all => all.map((line) => getComputedStyle(line).stroke)"
    )
    drawn = figure.locator(".mark-line path").evaluate_all(
        "all => all.map((line) => getComputedStyle(line).stroke)"
    )
    assert len(set(entries)) == 4
    assert set(drawn) == set(entries)


def test_a_branch_of_a_tree_opens_by_the_keyboard(visit):
    page = visit("trees")
    closed = page.locator(".tree details:not([open]) > summary:visible").first
    closed.focus()
    branch = closed.locator("xpath=..")
    inner = branch.locator("> ul > li .says").first
    assert not inner.is_visible()
    page.keyboard.press("Enter")
    branch = page.locator(".tree summary:focus").locator("xpath=..")
    assert branch.get_attribute("open") is not None
    assert branch.locator("> ul > li .says").first.is_visible()


def test_the_numbers_of_a_tree_stand_below_one_another(visit):
    page = visit("trees")
    for column in ("rows", "gain"):
        ends = page.locator(f".tree .node .{column}:visible").evaluate_all(
            "all => all.map((one) => Math.round(one.getBoundingClientRect().right))"
        )
        assert len(ends) > 2
        assert len(set(ends)) == 1


def test_templates_are_searched_by_name_though_a_rank_stands_first(visit):
    page = visit("trees")
    page.locator("#trees .controls input[type=search]").first.fill("side")
    rows = page.locator("#trees-templates-table tbody tr:not([hidden])")
    assert rows.locator("td:nth-child(2)").all_text_contents() == ["side", "head.upos & side"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_wrong_arc_differs_in_colour_and_in_dash(visit, scheme):
    page = visit("trees", scheme=scheme)
    look = "arc => [getComputedStyle(arc).stroke, getComputedStyle(arc).strokeDasharray]"
    wrong = page.locator(".arcs-box .wrong .arc").first.evaluate(look)
    same = page.locator(".arcs-box .same .arc").first.evaluate(look)
    assert wrong[0] != same[0]
    assert wrong[1] != same[1] == "none"


def test_words_of_a_sentence_do_not_overlap(visit):
    page = visit("trees")
    boxes = (
        page.locator(".arcs-box svg")
        .first.locator(".word")
        .evaluate_all(
            "all => all.map((word) => [word.getBBox().x, word.getBBox().x + word.getBBox().width])"
        )
    )
    assert all(right < left for (_, right), (left, _) in itertools.pairwise(boxes))


def test_a_long_sentence_scrolls_in_its_own_box(visit):
    page = visit("hostile-trees", width=400)
    widths = page.locator(".arcs-box").evaluate_all(
        "all => all.map((b) => [b.scrollWidth, b.clientWidth])"
    )
    assert any(inside > 2 * outside for inside, outside in widths)
    assert page.evaluate("document.querySelectorAll('script:not([type])').length") == 2
    assert page.evaluate("document.querySelectorAll('img, iframe').length") == 0


def test_tasks_are_sorted_by_what_they_gain_and_searched_by_name(visit):
    page = visit("transfer")
    head = page.locator("#transfer-tasks-table th", has_text="gain")
    assert shown(page, "transfer-tasks-table") == ["ask", "add"]
    head.locator("button").click()
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert shown(page, "transfer-tasks-table") == ["add", "ask"]
    page.locator(".controls[data-table=transfer-tasks-table] input").fill("ad")
    assert shown(page, "transfer-tasks-table") == ["add"]


def test_a_control_is_hollow_on_either_page(visit):
    page = visit("transfer")
    look = "all => all.map((dot) => getComputedStyle(dot).fill)"
    dots = page.locator("#transfer figure").first.locator(".mark-symbol path")
    for _ in range(2):
        fills = dots.evaluate_all(look)
        assert background(page) in fills
        assert len(set(fills)) > 1
        page.locator("button.theme").click()
    page.evaluate("localStorage.clear()")


def test_the_links_of_a_transfer_lead_to_its_headings(visit):
    page = visit("transfer", width=400, scheme="dark")
    links = page.locator("nav a").evaluate_all("all => all.map((a) => a.hash.slice(1))")
    assert len(links) > 6
    assert page.evaluate("all => all.filter((id) => !document.getElementById(id))", links) == []


def test_names_of_tasks_that_look_like_scripts_are_only_text(visit):
    page = visit("hostile-transfer")
    assert page.evaluate("document.querySelectorAll('script:not([type])').length") == 2
    assert page.evaluate("document.querySelectorAll('img, iframe').length") == 0
