# Every target makes what it needs; a second run is instant. `make help` lists them.
PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV := .venv
BIN := $(VENV)/bin
# Real corpora, where they lie beside the checkout; tests that need them are skipped where they do not.
FIRSTSTORY_DATA ?= $(abspath $(wildcard ../shared/data))
export FIRSTSTORY_DATA
STAMP := $(VENV)/.stamp
# Fonts and libraries of the page; its tests are skipped where they cannot be had.
ASSETS := $(VENV)/.stamp-assets
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help demo test test-quick check bench experiments docs soak fuzz clean assets screenshots system-packages
.DEFAULT_GOAL := help

help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(STAMP)-run ## real news in, first stories out: the whole thing in the terminal, then firststory-demo.html
	$(BIN)/firststory demo

test: $(STAMP)-test $(ASSETS) system-packages ## all tests (system packages are installed when root, named when not)
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not soak"

assets: ## fonts, htmx and ECharts for the page, by npm into src/firststory/serve/page/static/vendor
	PYTHONPATH=src $(PYTHON) -m firststory.serve.page.assets

screenshots: $(STAMP)-test assets system-packages ## pictures of the page on made-up news, in docs/images
	$(BIN)/python scripts/screenshots

# The edges, the store, alerts, text, stories and the step itself: what most changes break first. Left out are
# scikit-learn's checks, doctests, experiments and whatever starts other processes.
QUICK := tests/alerts tests/sources tests/store tests/stories tests/text tests/pipeline/test_step.py \
  tests/pipeline/test_steps.py tests/cli/test_main.py tests/cli/test_interrupt.py tests/cli/test_help_page.py \
  $(filter-out tests/test_public_estimators.py tests/test_docs.py tests/test_river.py,$(wildcard tests/test_*.py))

test-quick: $(STAMP)-test ## the tests to run while working: about a minute when the kernels are compiled
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not soak and not slow" $(QUICK)

check: $(STAMP)-check ## ruff, mypy --strict, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(STAMP)-bench ## speed and memory beside peers, written to benchmarks/RESULTS.md
	$(BIN)/firststory bench --out benchmarks

experiments: $(STAMP)-test ## the papers' tables and figures, written to experiments/RESULTS.md
	$(BIN)/firststory reproduce --all --out experiments

docs: $(STAMP)-docs ## the documentation site, in site/
	$(BIN)/mkdocs build --strict

soak: $(STAMP)-test system-packages ## the long versions of the tests: many kills, fuzzing, millions of documents
	$(BIN)/python -m pytest -n 2 -m soak

fuzz: $(STAMP)-test ## damaged and hand-made states, for five minutes
	FIRSTSTORY_FUZZ_SECONDS=100 $(BIN)/python -m pytest tests/test_state.py -k fuzz

clean: ## remove the virtual environment and everything built
	rm -rf $(VENV) site build dist node_modules src/firststory/serve/page/static/vendor .mypy_cache .ruff_cache .pytest_cache .hypothesis

system-packages:
	@scripts/system-packages

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)
	$(PIP) --upgrade pip

$(STAMP)-run: pyproject.toml | $(VENV)/bin/python
	$(PIP) --editable '.[meaning,serve]'
	@touch $@

$(ASSETS): package-lock.json src/firststory/serve/page/assets.py | $(STAMP)-test
	-PYTHONPATH=src $(PYTHON) -m firststory.serve.page.assets
	@touch $@

$(STAMP)-check: pyproject.toml | $(VENV)/bin/python
	$(PIP) --editable '.[check]'
	@touch $@

$(STAMP)-test: pyproject.toml scripts/system-packages | $(VENV)/bin/python
	@scripts/system-packages
	$(PIP) --editable '.[test]'
	@touch $@

$(STAMP)-docs: pyproject.toml | $(VENV)/bin/python
	$(PIP) --editable '.[docs]'
	@touch $@

$(STAMP)-bench: pyproject.toml | $(VENV)/bin/python
	$(PIP) --editable '.[bench]'
	@touch $@
