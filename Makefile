# Every target sets up .venv by itself, with plain pip, and only when pyproject.toml has changed.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: help setup demo test test-slow browser lint format docs bench clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 10

setup: .venv/installed  ## make .venv and install the package with its development tools

.venv/installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable ".[dev]"
	@touch $@

demo: setup  ## train on the built-in corpus, translate, score, write an attention page
	$(BIN)/headway demo

test: lint browser  ## lint, types, all tests but the slow ones
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile

test-slow: setup  ## the tests that take minutes: the demo, copying and reversing, a run killed twenty times
	$(BIN)/python -m pytest -m slow

browser:  # the tests of the attention page open it in a real one
	@command -v chromium >/dev/null || (apt-get update -q && apt-get install -qy --no-install-recommends chromium)

lint: setup  ## formatting, lint and strict types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: setup  ## put the code in the house's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: setup  ## write the generated pages again (docs/config.md)
	$(BIN)/python -c "from headway.reference import config_page; print(config_page(), end='')" > docs/config.md

bench: setup  ## measure, side by side; writes benchmarks/results/
	$(BIN)/python -m pip install --quiet --editable ".[bench]"
	$(BIN)/python benchmarks/model_speed.py --save
	$(BIN)/python benchmarks/attention_length.py --save
	$(BIN)/python benchmarks/data.py --save
	$(BIN)/python benchmarks/train_speed.py --save
	$(BIN)/python benchmarks/train_costs.py --save
	$(BIN)/python benchmarks/decode_speed.py --save

clean:  ## remove what can be made again
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis dist
