# Plain venv and pip. Each target installs what it needs, once.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

# The versions that were tested, on the Python that they were tested with; on others pip chooses.
CONSTRAINTS := $(shell $(PYTHON) -c 'import sys; print("-c constraints.txt" * (sys.version_info[:2] == (3, 11)))')
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

OLDEST := $(abspath .venv-oldest)
# The lowest versions that pyproject.toml allows; what these need in turn is the newest that fits.
define LOWEST
import tomllib
project = tomllib.load(open("pyproject.toml", "rb"))["project"]
extras = project["optional-dependencies"]
names = ("report", "data", "demo", "search", "dask", "crfsuite", "dev")
wanted = project["dependencies"] + [one for name in names for one in extras[name]]
print(*dict.fromkeys(one.replace(">=", "==") for one in wanted), sep="\n")
endef
export LOWEST

.PHONY: help demo test test-oldest test-browser lint bench docs clean clean-kernels

help:
	@echo "make demo          try it on letter-to-sound data; ends by naming the report"
	@echo "make test          style, types, import rules and all tests"
	@echo "make test-oldest   the tests with the lowest versions that pyproject.toml allows"
	@echo "make test-browser  open the reports and the documentation in Chromium"
	@echo "make docs          build the documentation site in site/"
	@echo "make bench         measure against the peers; writes benchmarks/results.json"
	@echo "make clean         remove the virtual environment and caches"

# The stamp is older than pyproject.toml or constraints.txt when the dependencies have changed.
$(VENV)/.demo: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) $(CONSTRAINTS) -e '.[report,demo]'
	touch $@

$(VENV)/.dev: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) $(CONSTRAINTS) -e '.[report,data,demo,dev]'
	touch $@ $(VENV)/.demo

$(VENV)/.bench: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) $(CONSTRAINTS) -e '.[report,data,demo,dev,bench]'
	touch $@ $(VENV)/.demo $(VENV)/.dev

$(VENV)/.docs: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) $(CONSTRAINTS) -e '.[docs]'
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

$(OLDEST)/.installed: pyproject.toml
	$(PYTHON) -m venv --clear $(OLDEST)
	$(PYTHON) -c "$$LOWEST" > $(OLDEST)/lowest.txt
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check -r $(OLDEST)/lowest.txt
	$(OLDEST)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -e .
	touch $@

test-oldest: $(OLDEST)/.installed
	NUMBA_CACHE_DIR=$(OLDEST)/numba $(OLDEST)/bin/python -m pytest

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
	rm -rf $(VENV) $(OLDEST) site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
