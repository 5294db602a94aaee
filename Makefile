# Plain venv and pip. Each target installs what it needs, once.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: help demo test test-browser lint bench docs clean clean-kernels

help:
	@echo "make demo          try it on letter-to-sound data; ends by naming the report"
	@echo "make test          style, types, import rules and all tests"
	@echo "make test-browser  open the reports and the documentation in Chromium"
	@echo "make docs          build the documentation site in site/"
	@echo "make bench         measure against the peers; writes benchmarks/results.json"
	@echo "make clean         remove the virtual environment and caches"

# The stamp is older than pyproject.toml when the dependencies have changed.
$(VENV)/.demo: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[report,data]'
	touch $@

$(VENV)/.dev: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[report,data,dev]'
	touch $@ $(VENV)/.demo

$(VENV)/.bench: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[report,data,dev,bench]'
	touch $@ $(VENV)/.demo $(VENV)/.dev

$(VENV)/.docs: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]'
	touch $@

demo: $(VENV)/.demo
	$(BIN)/featloom demo

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: lint
	$(BIN)/python -m pytest

test-browser: $(VENV)/.dev
	@command -v chromium >/dev/null || { echo "install Chromium first, for instance Debian's package chromium"; exit 1; }
	$(BIN)/python -m pytest tests/report tests/test_docs_browser.py -k browser

bench: $(VENV)/.bench
	$(BIN)/python benchmarks/run.py

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "site/index.html, or: $(BIN)/mkdocs serve"

clean-kernels:
	find src -name '*.nbi' -delete -o -name '*.nbc' -delete

clean:
	rm -rf $(VENV) site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
