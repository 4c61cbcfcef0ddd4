"""The page in a real browser: its numbers are the model's, and clicks and keys do what they say."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect
from shown import HEADS, LAYERS, SOURCE

from headway.errors import UserError
from headway.models import Model
from headway.show.document import Document, attention_document
from headway.show.page import Figure, attention_page, write_page
from headway.show.plots import smoothing_plot
from headway.show.story import choose_opening
from headway.text.vocabulary import Vocabulary

OpenPage = Callable[..., Page]


@pytest.fixture
def page(document: Document, open_page: OpenPage) -> Page:
    return open_page(attention_page(document))


def title(page: Page) -> str:
    return page.locator("#detail-title").inner_text()


def head(page: Page, layer: int, number: int):
    return page.locator(f'.head[data-layer="{layer}"][data-head="{number}"]')


def shown_map(page: Page) -> np.ndarray:
    """The weights that the large map and the lines are drawn from."""
    map_ = page.evaluate("(({ map }) => ({ ...map, weights: [...map.weights] }))(headway.view())")
    return np.array(map_["weights"]).reshape(map_["rows"], map_["columns"])


def test_all_weights_in_the_page_are_the_models(page: Page, document: Document) -> None:
    for kind, maps in document.maps.items():
        read = [
            page.evaluate(f"[...headway.kinds.find(({{ name }}) => name === '{kind}').at({layer}, {number}).weights]")
            for layer in range(LAYERS)
            for number in range(HEADS)
        ]
        weights = np.array(read).reshape(maps.weights.shape)
        np.testing.assert_allclose(weights, maps.weights, atol=1e-4)
        np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)


def test_it_opens_on_the_story(page: Page, document: Document) -> None:
    opening = choose_opening(document)
    assert title(page) == f"Layer {opening.layer + 1}, head {opening.head + 1}"
    expect(page.locator("#finding")).to_have_text(opening.finding)
    expect(page.locator("#rule")).to_have_text(opening.rule)
    expect(page.locator("#readout")).to_contain_text("it looks at")
    expect(page.locator(".strip .token.pointed")).to_have_text("it")
    assert page.locator(".head").count() == LAYERS * HEADS
    head(page, 0, 0).click()
    page.locator("#reopen").click()
    assert title(page) == f"Layer {opening.layer + 1}, head {opening.head + 1}"


def test_a_click_shows_a_head_and_a_cell_its_number(page: Page, document: Document) -> None:
    page.check('input[value="cross"]')
    head(page, 2, 1).click()
    assert title(page) == "Layer 3, head 2"
    expect(head(page, 2, 1)).to_have_attribute("aria-pressed", "true")
    weights = document.maps["cross"].weights[2, 1]
    np.testing.assert_allclose(shown_map(page), weights, atol=1e-4)
    cell = float(page.locator("#map").get_attribute("data-cell"))
    query, key = 3, 5
    page.locator("#map canvas").hover(position={"x": (key + 0.5) * cell, "y": (query + 0.5) * cell})
    names = (document.sequences["written"].texts[query].strip(), document.sequences["source"].texts[key].strip())
    expect(page.locator("#tip")).to_have_text(f"{names[0]} → {names[1]}: {weights[query, key]:.3f}")
    expect(page.locator("#map .band.row")).to_be_visible()


def test_a_token_shows_where_it_looks_and_who_looks_at_it(page: Page, document: Document) -> None:
    head(page, 1, 3).click()
    weights = document.maps["encoder"].weights[1, 3]
    page.locator(".strip .token").nth(4).hover()
    looks, looked = page.locator("#readout .out"), page.locator("#readout .in")
    texts = [text.strip() for text in document.sequences["source"].texts]
    expect(looks).to_contain_text(f"{texts[weights[4].argmax()]} {weights[4].max():.2f}")
    expect(looked).to_contain_text(f"{texts[weights[:, 4].argmax()]} {weights[:, 4].max():.2f}")
    shade = page.locator(".strip .token").nth(7).evaluate("token => Number(token.style.getPropertyValue('--looks'))")
    assert shade == pytest.approx(weights[4, 7], abs=1e-3)
    beside = page.locator('#lines [data-side="key"][data-place="7"] .number')
    expect(beside).to_have_text(f"{weights[4, 7]:.2f}")


def test_chosen_heads_are_averaged(page: Page, document: Document) -> None:
    weights = document.maps["encoder"].weights
    head(page, 0, 1).click()
    head(page, 2, 2).click(modifiers=["Shift"])
    assert title(page) == "Average of 2 heads"
    np.testing.assert_allclose(shown_map(page), (weights[0, 1] + weights[2, 2]) / 2, atol=1e-4)
    page.locator("#several").click()
    head(page, 0, 1).click()
    assert title(page) == "Layer 3, head 3"
    page.locator("#average").click()
    assert title(page) == "Average of all heads"
    np.testing.assert_allclose(shown_map(page), weights.mean((0, 1)), atol=1e-4)
    page.get_by_role("button", name="Layer 2: average of its heads").click()
    assert title(page) == "Average of layer 2"
    np.testing.assert_allclose(shown_map(page), weights[1].mean(0), atol=1e-4)


def test_words_average_queries_and_sum_keys(page: Page, document: Document) -> None:
    page.locator("#joined").click()
    opening = choose_opening(document)
    owner = np.array(document.sequences["source"].words)
    words = np.eye(owner.max() + 1)[owner]  # (pieces, words)
    weights = document.maps["encoder"].weights[opening.layer, opening.head]
    expected = (words / words.sum(0)).T @ weights @ words
    np.testing.assert_allclose(shown_map(page), expected, atol=1e-4)
    np.testing.assert_allclose(shown_map(page).sum(1), 1, atol=1e-5)
    assert page.locator("#map .row-labels .label").all_inner_texts()[:4] == ["The", "animal", "didn't", "cross"]
    expect(page.locator(".strip .token.pointed")).to_have_text("it")


def test_keys_move_choose_and_go_back(page: Page) -> None:
    head(page, 1, 1).click()
    for key, place in (
        ("ArrowRight", "Layer 2, head 3"),
        ("ArrowDown", "Layer 3, head 3"),
        ("ArrowDown", "Layer 3, head 3"),
    ):
        page.keyboard.press(key)
        assert title(page) == place
    expect(head(page, 2, 2)).to_be_focused()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Space")
    assert title(page) == "Layer 3, head 2", "the last head stays"
    head(page, 0, 0).focus()
    page.keyboard.press("Space")
    assert title(page) == "Average of 2 heads"
    page.keyboard.press("Escape")  # lets go of the token
    expect(page.locator("#readout")).to_have_text("Point at a token, a row or a cell.")
    page.keyboard.press("Escape")
    assert title(page) == "Layer 1, head 1"
    page.locator("#theme").focus()
    page.keyboard.press("Escape")
    expect(head(page, 0, 0)).to_be_focused()
    page.keyboard.press("w")
    expect(page.locator("#joined")).to_have_attribute("aria-pressed", "true")
    expect(head(page, 0, 0)).to_be_focused()


def test_tokens_and_cells_can_be_reached_with_keys(page: Page, document: Document) -> None:
    page.locator(".strip .token").first.focus()
    page.keyboard.press("ArrowRight")
    second = document.sequences["source"].texts[1].strip()
    expect(page.locator("#readout .out")).to_contain_text(f"{second} looks at")
    page.locator("#map").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    texts = [text.strip() for text in document.sequences["source"].texts]
    expect(page.locator("#readout")).to_contain_text(f"{texts[1]} → {texts[1]}: ")


def test_narrow_screens_have_one_view_and_no_sideways_scrolling(document: Document, open_page: OpenPage) -> None:
    page = open_page(attention_page(document), viewport={"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    expect(page.locator("#lines")).to_be_hidden()
    page.check('input[value="lines"]')
    expect(page.locator("#lines")).to_be_visible()
    expect(page.locator("#map")).to_be_hidden()
    page.keyboard.press("v")
    expect(page.locator("#map")).to_be_visible()


def test_the_theme_follows_the_reader_and_the_button(document: Document, open_page: OpenPage) -> None:
    page = open_page(attention_page(document), color_scheme="dark")

    def background() -> int:
        colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3]))

    assert background() < 150
    page.locator("#theme").click()
    expect(page.locator("#theme")).to_have_accessible_name("Theme: light")
    assert background() > 600
    page.locator("#theme").click()
    assert background() < 150


@pytest.mark.parametrize(("family", "label"), [("encoder-only", "Encoder"), ("decoder-only", "Decoder")])
def test_models_of_one_stack_have_a_page(
    family: str, label: str, model_of: Callable[..., Model], vocabulary: Vocabulary, open_page: OpenPage
) -> None:
    page = open_page(attention_page(attention_document(model_of(family), vocabulary, SOURCE)))
    assert page.locator("#kinds label").all_inner_texts() == [f"{label} self-attention"]
    assert page.locator(".head").count() == LAYERS * HEADS


def test_texts_are_text_whatever_is_in_them(
    model_of: Callable[..., Model], vocabulary: Vocabulary, open_page: OpenPage
) -> None:
    text = "</script><script>throw 1</script> <!-- & {{script}} \u2028 它"
    html = attention_page(attention_document(model_of(), vocabulary, text, "<b>\n\t</b>"))
    page = open_page(html)
    assert page.title() == f"Attention: {text}"
    assert page.evaluate("headway.data.source_text") == text
    assert page.evaluate("headway.data.target_text") == "<b>\n\t</b>"


def test_figures_stand_under_the_attention(document: Document, open_page: OpenPage) -> None:
    page = open_page(attention_page(document, [Figure(smoothing_plot(), "What is <learned> & how")]))
    expect(page.locator(".figures figcaption")).to_have_text("What is <learned> & how")
    expect(page.locator(".figures svg")).to_be_visible()


def test_the_document_in_the_page_is_the_documented_one(document: Document) -> None:
    html = attention_page(document)
    inside = re.search(r'<script type="application/json" id="document">(.*?)</script>', html, re.DOTALL)
    data = json.loads(inside[1])
    assert {key: data[key] for key in document.as_json()} == document.as_json()
    assert data["opening"]["rule"] == choose_opening(document).rule
    assert "http" not in re.sub(r"http-equiv|http://www.w3.org/2000/svg", "", html)


def test_a_page_is_written_or_the_reason_told(tmp_path: Path) -> None:
    write_page("é", tmp_path / "page.html")
    assert (tmp_path / "page.html").read_bytes() == "é".encode()
    with pytest.raises(UserError, match=r"cannot write .*: there is no directory .*missing; make it"):
        write_page("x", tmp_path / "missing" / "page.html")
