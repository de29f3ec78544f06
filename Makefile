# Everything a developer or a machine runs. `make demo` and `make test` need Python 3.11 or newer and make, nothing else.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
POLICYD := $(BIN)/policyd
MINUTES ?= 60

.PHONY: demo test lint types contracts unit acceptance conformance bench fuzz soak reference serve clean setup

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("policyd needs Python 3.11 or newer") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@$(BIN)/python -m compileall -q policyd
	@touch $@

# A tour of the example application: audit, two questions, the card behind the answers, a grant explained.
demo: setup
	@$(BIN)/python -m compileall -q policyd
	@sh examples/demo.sh $(POLICYD)

# The whole suite: form, types, import contracts, tests.
test: setup lint types contracts unit

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: setup
	$(BIN)/mypy

contracts: setup
	$(BIN)/lint-imports

unit: setup
	$(BIN)/pytest -n 2 --dist loadfile -m 'not acceptance'

# The full counts that the issues ask for, with recorded seeds; takes a while.
acceptance: setup
	$(BIN)/pytest -n 2 -m acceptance

# VECTORS=folder: recorded questions and answers of the platform.
conformance: setup
	$(POLICYD) conformance $(VECTORS)

# Every measuring program; each can be run by itself.
bench: setup
	for program in bench/bench_*.py; do echo "== $$program"; $(BIN)/python $$program || exit 1; done

# Coverage-guided fuzzing of every reader and of the HTTP surface, MINUTES of it; what breaks something is kept in .fuzz/.
fuzz: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[fuzz]'
	$(BIN)/python -m tests.fuzz.run --minutes $(MINUTES) --keep

# docs/reference.md from the code.
reference: setup
	$(BIN)/python docs/make_reference.py

# The service under mixed load for MINUTES: latency, memory and errors, minute by minute.
soak: setup
	$(BIN)/python bench/soak.py --minutes $(MINUTES)

# An embedded database with the example application; prints the address.
serve: export POLICYD_DATABASE_URL = sqlite:///.run/policyd.db
serve: setup
	@mkdir -p .run
	@$(POLICYD) db upgrade
	@$(POLICYD) import examples/shop/golem.yaml --env prod
	$(POLICYD) serve

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
