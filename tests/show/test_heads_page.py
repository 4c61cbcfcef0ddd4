"""The page of heads in a real browser: its numbers are the study's, and columns sort."""

import re
from collections.abc import Callable
from xml.etree import ElementTree

import pytest
from playwright.sync_api import Page, expect

from headway.show.heads import MEASURES, Ablation, HeadEffect, HeadStatistics, Statistics
from headway.show.heads_page import HeadStudy, findings, heads_page, heads_plot

OpenPage = Callable[..., Page]
PLACES = [(layer, head) for layer in range(2) for head in range(3)]
CHANGES = [0.5, -0.25, 0.0, 0.125, 0.001, 0.004]


def statistics() -> Statistics:
    heads = [
        HeadStatistics(kind, layer, head, 2.0 + layer, 1.5, 0.25, 0.1 * head, 0, 0, 0.5, 1.0)
        for kind in ("encoder", "cross")
        for layer, head in PLACES
    ]
    return Statistics(1234, tuple(heads))


@pytest.fixture
def study() -> HeadStudy:
    effects = [
        HeadEffect(kind, layer, head, 2.0 + change / scale, change / scale)
        for kind, scale in (("encoder", 1), ("cross", 10))
        for (layer, head), change in zip(PLACES, CHANGES, strict=True)
    ]
    return HeadStudy("runs/<a>", "test.en", statistics(), Ablation(2.0, tuple(effects)), 50, left_out=7)


def column(page: Page, number: int) -> list[str]:
    rows = page.locator(".numbers").first.locator("tbody tr")
    return [row.locator("th, td").nth(number).inner_text() for row in rows.all()]


def test_maps_have_the_numbers_in_their_places(study: HeadStudy, open_page: OpenPage) -> None:
    page = open_page(heads_page(study))
    assert page.title() == "Heads: runs/<a>"
    expect(page.locator(".top p")).to_have_text(
        "runs/<a> · 1,234 sentences of test.en · 7 left out: empty or too long · loss 2.000 nats a token on 50 of them"
    )
    sections = page.locator(".kind")
    assert sections.locator("h2").all_inner_texts() == ["Encoder self-attention", "Cross-attention"]
    assert sections.first.locator(".heat").count() == 1 + len(MEASURES)
    effects = sections.first.locator(".heat").first
    assert effects.locator("tbody td").all_inner_texts() == ["0.500", "-0.250", "0.000", "0.125", "0.001", "0.004"]
    shares = effects.locator("tbody td").evaluate_all(
        "cells => cells.map(cell => cell.style.getPropertyValue('--share'))"
    )
    assert shares == ["1.00", "0.50", "0.00", "0.25", "0.00", "0.01"]
    assert sections.last.locator(".heat td").nth(1).get_attribute("style") == "--share:0.10", "one scale for all kinds"
    assert effects.locator(".below").all_inner_texts() == ["-0.250"]


def test_tables_are_sorted_by_effect_and_by_what_is_clicked(study: HeadStudy, open_page: OpenPage) -> None:
    page = open_page(heads_page(study))
    page.locator("summary").first.click()
    assert column(page, 0)[:2] == ["layer 1, head 1", "layer 2, head 1"]
    heads = page.locator(".numbers").first.locator("thead button")
    heads.nth(1).click()
    assert column(page, 1) == ["-0.250", "0.000", "0.001", "0.004", "0.125", "0.500"]
    heads.nth(2).click()
    assert column(page, 2) == ["3.00"] * 3 + ["2.00"] * 3
    heads.nth(0).click()
    heads.nth(0).click()
    assert column(page, 0) == [f"layer {layer + 1}, head {head + 1}" for layer, head in PLACES]
    assert page.locator('.numbers th[aria-sort="ascending"]').first.inner_text() == "Head"


def test_the_theme_can_be_chosen(study: HeadStudy, open_page: OpenPage) -> None:
    page = open_page(heads_page(study), color_scheme="dark")
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.locator("#theme").click()
    expect(page.locator("#theme")).to_have_accessible_name("Theme: light")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before


def test_narrow_screens_do_not_scroll_sideways(study: HeadStudy, open_page: OpenPage) -> None:
    page = open_page(heads_page(study), viewport={"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_the_findings_name_the_heads_that_matter(study: HeadStudy) -> None:
    assert findings(study) == [
        "Without layer 1, head 1 of the encoder self-attention, the loss goes from 2.000 to 2.500 nats a token; next "
        "come layer 2, head 1 of the encoder self-attention and layer 1, head 1 of the cross-attention.",
        "6 of 12 heads change it by less than 0.01 when switched off alone.",
    ]


def test_without_ablation_there_are_only_statistics(open_page: OpenPage) -> None:
    study = HeadStudy("run", "test.en", statistics())
    page = open_page(heads_page(study))
    assert page.locator(".kind").first.locator(".heat").count() == len(MEASURES)
    assert "Loss without it" not in page.locator("main").inner_text()
    assert findings(study) == []


def test_the_plot_has_a_map_for_each_kind_and_measure(study: HeadStudy) -> None:
    svg = heads_plot(study)
    ElementTree.fromstring(svg)
    titles = re.findall(r'class="title"[^>]*>([^<]*)<', svg)
    assert len(titles) == 2 * (1 + len(MEASURES))
    assert titles[:2] == [
        "Encoder self-attention: loss without the head, change from 2",
        "Cross-attention: loss without the head, change from 2",
    ]
