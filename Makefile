# Every target makes what it needs in .venv; the machine has to bring GNU make and Python >= 3.11.
# To choose the interpreter: make test PYTHON=/path/to/python

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test test-slow lint bench force

BENCHMARK ?=

CANDIDATES := $(if $(PYTHON),"$(PYTHON)",python3.13 python3.12 python3.11 python3)
SUITS := import ensurepip, sys; sys.exit(sys.version_info < (3, 11))

# .venv is stale when it was made elsewhere, its interpreter is gone or not the one asked for, or an
# installation in it did not end. Then it is made again rather than repaired.
IDENTITY := -c 'import sys; print(sys.version, sys.base_prefix)'
STALE := $(shell \
    [ "$$(cat .venv/.made 2>&1)" = "$(CURDIR)" ] && [ ! -e .venv/.installing ] \
    && identity=$$(.venv/bin/python $(IDENTITY) 2>&1) \
    && { [ -z "$(PYTHON)" ] || [ "$$("$(PYTHON)" $(IDENTITY) 2>&1)" = "$$identity" ]; } \
    || echo force)

help:
	@echo 'make demo       find a rare cluster that no column and no principal component shows'
	@echo 'make test       the tests, with coverage'
	@echo 'make test-slow  the tests that take minutes'
	@echo 'make lint       style, format, types, layers'
	@echo 'make bench      speed beside bare matrix products, cost, and peers: sightline bench'

demo: .venv/.installed
	.venv/bin/sightline demo

test: .venv/.installed-test
	.venv/bin/python -m pytest --cov --numprocesses auto --maxprocesses 4

test-slow: .venv/.installed-test
	.venv/bin/python -m pytest -m slow

lint: .venv/.installed-test .venv/.installed-lint
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports

# A machine may pin OpenBLAS to an older kernel, which halves its speed.
bench: .venv/.installed
	unset OPENBLAS_CORETYPE; .venv/bin/sightline bench $(BENCHMARK)

.venv/.made: $(STALE)
	@for python in $(CANDIDATES); do \
	    if "$$python" -c "$(SUITS)" 2>/dev/null; then \
	        echo "Making .venv with $$python"; \
	        rm -rf .venv && "$$python" -m venv .venv && echo "$(CURDIR)" > .venv/.made; \
	        exit; \
	    fi; \
	done; \
	echo 'No Python >= 3.11 that can make environments found as' $(CANDIDATES) >&2; \
	echo 'Install one (on Debian and Ubuntu python3 and python3-venv) or name one: PYTHON=...' >&2; \
	exit 1

.venv/.installed: pyproject.toml .venv/.made
	@touch .venv/.installing
	.venv/bin/python -m pip install --quiet --editable .
	@rm .venv/.installing && touch $@

.venv/.installed-%: pyproject.toml .venv/.made
	@touch .venv/.installing
	.venv/bin/python -m pip install --quiet --editable '.[$*]'
	@rm .venv/.installing && touch $@
