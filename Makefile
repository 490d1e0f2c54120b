# Everything runs from .venv, which `make install` makes; nothing needs to be activated.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# The first interpreter that runs and is new enough; `make PYTHON=/path/to/python install` overrides.
PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3.14 python3; do \
	if $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then echo $$p; break; fi; done)

VENV := .venv
PY := $(VENV)/bin/python
STAMP := $(VENV)/.installed

# The kernel first, then its plugins, then the distribution that only depends on them.
CODE_PLUGINS := tensormove concat_notask memconflict memassign onnx runtime
EDITABLE := '.[cli]' $(CODE_PLUGINS:%=plugins/%)
SOURCES := ge_core $(wildcard plugins/*/src)
INPUTS := pyproject.toml constraints.txt requirements-dev.txt $(wildcard plugins/*/pyproject.toml)

# `make test ARGS='tests/test_repository.py -k names'` narrows a run.
ARGS ?=

.PHONY: help
help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

.PHONY: install
install: $(STAMP)  ## make .venv and install the workspace into it, editable

$(PY):
	@if [ -z "$(PYTHON)" ]; then \
		echo "no Python 3.11 or newer found; on Debian or Ubuntu: apt-get install python3 python3-venv" >&2; exit 1; fi
	@if ! $(PYTHON) -c 'import ensurepip, venv' >/dev/null 2>&1; then \
		version=$$($(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])'); \
		echo "$(PYTHON) cannot make virtual environments; on Debian or Ubuntu: apt-get install python$$version-venv" >&2; \
		exit 1; fi
	$(PYTHON) -m venv $(VENV)

# Backends come from requirements-dev.txt, pinned, so the editable builds need no isolated environment;
# uv_build looks for its binary on PATH. plugins/all has no code that could be edited.
$(STAMP): $(INPUTS) | $(PY)
	$(PY) -m pip install --quiet --upgrade --constraint constraints.txt pip
	$(PY) -m pip install --quiet --constraint constraints.txt --requirement requirements-dev.txt
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(PY) -m pip install --quiet --constraint constraints.txt \
		--no-build-isolation $(addprefix --editable ,$(EDITABLE)) ./plugins/all
	@touch $@

.PHONY: demo
demo: $(STAMP)  ## compile a small model and show what changed
	$(PY) examples/demo.py

.PHONY: test
test: $(STAMP)  ## run the whole test suite, in random order, warnings as errors
	$(PY) -m pytest -n 2 -p randomly $(ARGS)

.PHONY: soak
soak: $(STAMP)  ## run the long tests that `make test` leaves out
	GE_SOAK=1 $(PY) -m pytest -m soak $(ARGS)

.PHONY: lint
lint: $(STAMP)  ## check formatting and style
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .

.PHONY: format
format: $(STAMP)  ## rewrite the sources in the project's format
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

.PHONY: types
types: $(STAMP)  ## check types, strictly, and those of the documentation's code
	$(PY) -m mypy $(SOURCES)
	$(PY) -m scripts.snippet_types

.PHONY: layers
layers: $(STAMP)  ## check who may import whom
	$(VENV)/bin/lint-imports --no-logo

.PHONY: bench
bench: $(STAMP)  ## run the benchmarks
	$(PY) -m benchmarks $(ARGS)

.PHONY: docs
docs: $(STAMP)  ## write the generated pages, and the outputs that the documentation shows
	$(PY) -m scripts.generate_docs
	$(PY) -m scripts.doc_snippets --write

# The search index follows the order of sets: with a fixed seed, equal sources give equal files.
.PHONY: api
api: $(STAMP)  ## record the public API as it is now; docs/stability.md says what may change in it
	$(PY) -m scripts.api_snapshot --write

.PHONY: docs-html
docs-html: $(STAMP)  ## build the documentation as HTML into docs/_build/html, warnings as errors
	PYTHONHASHSEED=0 $(PY) -m sphinx -W --keep-going -q -E -b html -d docs/_build/doctrees docs docs/_build/html
	$(PY) -m scripts.html_check docs/_build/html

.PHONY: wheels
wheels: $(STAMP)  ## build the wheels of all distributions into dist/
	rm -rf dist
	$(VENV)/bin/uv build --quiet --all-packages --wheel --no-build-isolation --python $(PY) --out-dir dist

.PHONY: check
check: lint types layers test  ## everything a change has to pass

.PHONY: constraints
constraints: $(STAMP)  ## resolve constraints.txt anew
	{ sed '/^[^#]/d' constraints.txt; \
	  $(VENV)/bin/uv pip compile --quiet --upgrade --python-version 3.11 --no-sources --all-extras \
		--no-header --no-annotate pyproject.toml requirements-dev.txt; } > constraints.txt.new
	mv constraints.txt.new constraints.txt

.PHONY: clean
clean:  ## remove everything that make made
	rm -rf $(VENV) dist build docs/_build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .coverage
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	find . -name '*.egg-info' -type d -prune -exec rm -rf {} +
