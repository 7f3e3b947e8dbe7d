# Basanite. `make help` lists what can be made. Needs python3 (3.11 or newer) and make; the rest is fetched into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
HASHED := $(PIP) install --no-deps --require-hashes -r requirements/build.txt
HASHES := $(wildcard requirements/*.txt)
OURS := $(PIP) install --no-deps --no-build-isolation -e .
BASE := $(VENV)/.installed-base
BUILD := build/wheel/bin/python
OF_DEMO := server reading measure parquet charts slides
DEV := $(VENV)/.installed-dev
TORCH ?= yes
TORCHED := $(VENV)/.installed-weights
CLIENTS := $(VENV)/.installed-clients
SCLITE := /usr/lib/sctk/bin/sclite
BROWSERS := chromium chromium-browser google-chrome
# One worker more than there are cores, since servers, browsers and children are waited for.
WORKERS ?= $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2) + 1 )))
# Workers take whole files, so that what a file of tests shares is made once and a story told in several tests stays in
# order; folders with long files come first (tests/conftest.py). Commands that tests start find their modules compiled.
PYTEST := env -u PYTHONDONTWRITEBYTECODE OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile \
	--no-loadscope-reorder

# What opens an office. Fault tests choose their database themselves; a demo always lies in its own folder, on SQLite.
OFFICES := tests/campaign tests/server tests/cli/test_admin.py tests/cli/test_doctor.py tests/cli/test_help.py \
	tests/threats/test_forms.py tests/threats/test_secrets.py tests/doors/test_calendar_rules.py \
	tests/doors/test_season_rules.py tests/doors/test_matrix.py --ignore tests/campaign/faults \
	--ignore tests/campaign/model --ignore tests/server/demo

# Where CI says so, a test that needs a browser fails without one instead of being skipped.
export BASANITE_BROWSER := $(if $(filter true 1,$(CI)),required,optional)

.DEFAULT_GOAL := help
.PHONY: help setup check gates types compiled test quick-tests test-all test-gpu demo docs screens bench conformance audit fuzz wheel dist build-tools requirements clean browser clients torch torch-left-out

help: ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(DEV) ## install everything that working on Basanite needs, into .venv

check: gates types ## the gates, in about a minute: format, lint, types, layers, repository, doors, registry

gates: $(DEV) ## the gates but types
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/python -m tools.check_repository
	$(BIN)/python -m tools.conformance --doors
	$(BIN)/python -m pytest -q tests/test_registry.py

types: $(DEV) ## mypy, strict
	$(BIN)/mypy -p basanite -p tools

test: ## the gates and all tests but the slow ones; writes build/requirements.json
	@$(MAKE) --no-print-directory --jobs 2 --output-sync=target gates types compiled
	@$(MAKE) --no-print-directory --jobs 1 browser torch quick-tests

# In a fresh clone each worker would compile all tests for itself; mypy leaves a core idle in which that is done once.
compiled: $(DEV) gates
	@mkdir -p build
	@env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest -q --collect-only >build/collected.txt || \
	  { tail -n 40 build/collected.txt; exit 1; }

quick-tests: $(DEV)
	@rm -f .pytest_cache/v/cache/lastfailed build/unsteady.txt
	$(PYTEST) -m "not slow and not gpu"; code=$$?; \
	if [ $$code -eq 1 ]; then $(BIN)/python -m tools.second_try; else exit $$code; fi

test-all: check browser torch clients ## all tests; those that open an office again on PostgreSQL and S3; what passed on what
	@mkdir -p build; rm -f build/tests-*.xml; one=0; two=0; \
	DRAW_ANEW=yes FUZZ_TRIES=24 $(PYTEST) -m "not gpu" --junitxml=build/tests-sqlite.xml || one=$$?; \
	BASANITE_TESTS_ON=postgres+s3 $(PYTEST) -m "not gpu" --junitxml=build/tests-postgres.xml $(OFFICES) || two=$$?; \
	$(BIN)/python -m tools.passes "SQLite + local files=build/tests-sqlite.xml" \
	  "PostgreSQL + S3=build/tests-postgres.xml"; three=$$?; exit $$((one + two + three > 0))

test-gpu: $(TORCHED) ## the tests that need an accelerator
	@$(BIN)/python -m pytest -m gpu; code=$$?; \
	if [ $$code -eq 5 ]; then echo "no GPU tests yet"; else exit $$code; fi

demo: $(BASE) ## start an example season on this machine (ARGS="--port 9000 --reset"); Ctrl-C stops it
	$(BIN)/basanite demo $(ARGS)

docs: $(DEV) ## build the documentation as a site and check it: links, anchors, and every example run
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	$(PYTEST) -q -m "not browser" tests/test_docs.py tests/website
	@echo "The documentation is in build/site: open index.html there"

screens: $(DEV) browser ## take the pictures of the documentation again, from a demo in a browser
	SCREENS=take $(BIN)/python -m pytest -q tests/demo/test_screens.py

bench: $(DEV) ## measure against peers on the same data and print the ratios
	$(BIN)/python benchmarks/clir.py

conformance: $(DEV) ## which requirements are proven (ARGS="--verbose", "--strict", "--require M29 M28")
	@$(BIN)/python -m tools.conformance $(ARGS)

audit: $(DEV) ## what we depend on at run time: pins, licences, versions known to be bad (works without a network)
	@$(BIN)/python -m tools.audit $(ARGS)

fuzz: $(DEV) ## try every reader of strangers' bytes at length (TRIES=2000, FROM=0); zero crashes
	FUZZ_TRIES=$(or $(TRIES),2000) FUZZ_FROM=$(or $(FROM),0) $(PYTEST) -q --dist load --timeout 1800 tests/fuzz

wheel: build-tools ## build the wheel into dist, with the build tools that requirements/build.txt fixes
	@rm -f dist/basanite-*.whl
	@$(BUILD) -m pip --disable-pip-version-check --quiet wheel --no-deps --no-index --no-build-isolation --wheel-dir dist .
	@ls dist/basanite-*.whl

dist: build-tools ## build source archive and wheel into dist, check them, and try the wheel where nothing else is
	@rm -f dist/basanite-*
	@$(BUILD) -m hatchling build --target sdist --directory dist >/dev/null
	@$(BUILD) -m pip --disable-pip-version-check --quiet wheel --no-deps --no-index --no-build-isolation \
	  --wheel-dir dist dist/basanite-*.tar.gz
	@$(BUILD) -m tools.dist dist
	@[ -n "$$BASANITE_REPOSITORY" ] || echo "Without project links: to publish, set BASANITE_REPOSITORY=https://…"

build-tools:
	@$(PYTHON) -m venv build/wheel
	@$(BUILD) -m pip --disable-pip-version-check --quiet install --no-deps --require-hashes -r requirements/build.txt

requirements: $(DEV) ## write the hashes of all packages again after a change of pins (needs uv and a network)
	$(BIN)/python -m tools.hashed_requirements

clean: ## remove build outputs and caches (.venv stays)
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  found="$$($(PYTHON) --version 2>&1 | head -n 1)"; \
	  echo "Basanite needs Python 3.11 or newer; $(PYTHON) says: $$found"; \
	  echo "Name another one: make $(or $(MAKECMDGOALS),setup) PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) cannot make a virtual environment. On Debian and Ubuntu type:"; \
	  echo "    sudo apt-get install python3-venv"; \
	  echo "or, where uv is installed:  uv venv --seed $(VENV)"; exit 1; }
	@echo "Making $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv $(VENV)

# Everything by its hash, the build backends too, so that nothing outside requirements/ decides what we get; some peers of
# tests are published as source alone, and are built by what is installed before them.
$(BASE): $(HASHES) pyproject.toml | $(BIN)/python
	@echo "Installing Basanite with the extras of the demo into $(VENV): about 800 MB, a minute or so"
	@$(HASHED) $(addprefix -r requirements/,$(addsuffix .txt,$(OF_DEMO)))
	@$(OURS)
	@touch $@

$(DEV): $(HASHES) pyproject.toml | $(BIN)/python
	@echo "Installing Basanite and the tools to work on it into $(VENV): about 1.5 GB, some minutes"
	@$(HASHED)
	@$(HASHED) --no-build-isolation -r requirements/dev.txt
	@$(OURS)
	@touch $(BASE) $@

# PyTorch is large and only some tests need it, so it is not part of the installation: TORCH=no leaves it out.
torch: $(if $(filter no,$(TORCH)),torch-left-out,$(TORCHED))

torch-left-out:
	@echo "PyTorch is left out (TORCH=no). Skipped for it:"
	@grep -lE 'importorskip\("torch"\)' -r tests | sed 's/^/    /'

$(TORCHED): | $(DEV)
	@echo "Installing PyTorch 2.13.0 and what reads folders of weights, for tests: about 1 GB as a CPU build, several GB with"
	@echo "CUDA libraries where your package index offers only that. Without it: make test TORCH=no"
	@$(PIP) install -c constraints.txt torch torchvision timm transformers safetensors onnxruntime
	@touch $@

# Programs that hand us tables or take results; only slow tests need them.
clients: $(CLIENTS)

$(CLIENTS): requirements/clients.txt | $(DEV)
	@echo "Installing MLflow, Weights & Biases, OpenTelemetry, Arrow and Hugging Face's datasets for tests: about 450 MB"
	@$(HASHED) -r requirements/clients.txt
	@touch $@

# Debian's Chromium and sclite (SCTK), where they are missing and we may install them; otherwise it is said what will not
# be run.
browser:
	@there=; for name in $(BROWSERS); do command -v $$name >/dev/null && there=$$name; done; \
	[ -n "$$there" ] && [ -x $(SCLITE) ] && exit 0; \
	packages="sctk"; [ -n "$$there" ] || packages="chromium sctk"; \
	as_root=; [ "$$(id -u)" -eq 0 ] || as_root="sudo -n"; \
	if command -v apt-get >/dev/null && $$as_root true 2>/dev/null; then \
	  echo "Installing chromium and sctk for the tests that need a browser or sclite"; \
	  $$as_root apt-get update -qq && $$as_root apt-get install -y -qq $$packages >/dev/null && exit 0; \
	fi; \
	[ -x $(SCLITE) ] || echo "There is no $(SCLITE): tests against it are skipped, and fail where CI is set."; \
	[ -n "$$there" ] && exit 0; \
	echo "There is no browser ($(BROWSERS)) and it cannot be installed from here."; \
	if [ "$(BASANITE_BROWSER)" = required ]; then echo "The tests marked 'browser' will fail, since CI is set."; \
	else echo "The tests marked 'browser' are skipped."; fi
