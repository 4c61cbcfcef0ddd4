"""A small vocabulary, small models and a browser for the tests of the room."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
from playwright.sync_api import Browser, Page, sync_playwright
from shown import HEADS, LAYERS, SOURCE, TARGET

from headway.config import ModelConfig
from headway.models import Model, build_model
from headway.show.document import Document, attention_document
from headway.text.learn import learn_tokenizer
from headway.text.vocabulary import Vocabulary


@pytest.fixture(scope="session")
def vocabulary() -> Vocabulary:
    tokenizer = learn_tokenizer([SOURCE, TARGET] * 5, "bpe", 350)
    return Vocabulary(tokenizer, tokenizer)


@pytest.fixture(scope="session")
def model_of(vocabulary: Vocabulary) -> Callable[..., Model]:
    def build(family: str = "encoder-decoder", **settings) -> Model:
        torch.manual_seed(3)
        sizes = {"layers": LAYERS, "heads": HEADS, "d_model": 16, "d_ff": 16}
        return build_model(ModelConfig(family=family, vocabulary=len(vocabulary.source), **{**sizes, **settings}))

    return build


@pytest.fixture(scope="session")
def document(model_of: Callable[..., Model], vocabulary: Vocabulary) -> Document:
    return attention_document(model_of(), vocabulary, SOURCE, TARGET)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    executable = shutil.which("chromium")
    if executable is None:
        pytest.fail("the page is tested in Chromium, which is not installed; install it: apt-get install -y chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Browser, tmp_path: Path) -> Iterator[Callable[..., Page]]:
    """Opens a page from disk; in the end there must have been no error and no request but for the file."""
    opened: list[Page] = []
    complaints: list[str] = []
    requests: list[str] = []

    def show(html: str, **settings) -> Page:
        path = tmp_path / f"page-{len(opened)}.html"
        path.write_text(html, encoding="utf-8")
        page = browser.new_page(**{"viewport": {"width": 1600, "height": 1000}, **settings})
        page.set_default_timeout(5000)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(path.as_uri())
        opened.append(page)
        return page

    yield show
    for page in opened:
        page.close()
    assert complaints == []
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
