# Two commands set the project up: `make demo` shows it at work, `make test` proves it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := $(BIN)/ics-recorder
CORPUS := tests/corpus/server
JOBS ?= 3
# The tests start hundreds of processes: with the compiled modules on the disk each of them costs a third less.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test lint docs score bench soak clean

COMPILED := $(shell sed -n '/^compiled = \[/,/^\]/s/^ *"\(.*\)",/\1/p' pyproject.toml)

# The stamp is newer than pyproject.toml and the compiled modules' sources only if the last installation succeeded.
$(VENV)/.installed: pyproject.toml .ci/ics_recorder_build.py $(COMPILED)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@

demo: $(VENV)/.installed
	rm -rf demo && mkdir demo
	$(RUN) import --db demo/archive.sqlite $(CORPUS)/a01_standard/observer_GuestObsA.raw.gz
	$(RUN) games --db demo/archive.sqlite
	$(RUN) export pgn --db demo/archive.sqlite --last 1
	$(RUN) clocks --db demo/archive.sqlite
	$(RUN) export pgn --db demo/archive.sqlite -o demo/games.pgn
	@echo "The archive is demo/archive.sqlite, its games are in demo/games.pgn."

test: $(VENV)/.installed
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal -q
	$(BIN)/python -m pytest -n 2 -q --nbmake --nbmake-timeout=120 examples

lint: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --config-file tests/mypy.ini tests

docs: $(VENV)/.installed
	$(BIN)/python -m recorder.cli.reference docs/cli.md

score: $(VENV)/.installed
	$(BIN)/python -m tests.score
	$(BIN)/python -m tests.clock_figures

bench: $(VENV)/.installed
	$(BIN)/python -m benchmarks.run $(ARGS)

# Hours: every fault 200 times. ARGS="--minutes 20" makes it shorter.
soak: $(VENV)/.installed
	$(BIN)/python -m tests.faults.soak --write docs/reliability.md $(ARGS)

clean:
	rm -rf demo build .pytest_cache .mypy_cache .ruff_cache .benchmarks
	rm -f recorder/*.so recorder/*/*.so $(VENV)/.installed
