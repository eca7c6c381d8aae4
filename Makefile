# Two commands set the project up: `make demo` shows it at work, `make test` proves it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
RUN := $(BIN)/ics-recorder
CORPUS := tests/corpus
JOBS ?= $(shell getconf _NPROCESSORS_ONLN)
# The tests start hundreds of processes: with the compiled modules on the disk each of them costs a third less.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-all test-newest lint docs docs-html notebooks score bench soak clean

COMPILED := $(shell sed -n '/^compiled = \[/,/^\]/s/^ *"\(.*\)",/\1/p' pyproject.toml)
BUILD := pyproject.toml .ci/ics_recorder_build.py .ci/constraints.txt
# The versions in .ci/constraints.txt, and no folder of its own for a build: everything is downloaded once. The pip of
# Debian 12 takes an old way for packages without pyproject.toml unless --use-pep517 is given, and warns about it.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --use-pep517 \
	--constraint .ci/constraints.txt

# Each stamp is newer than what it depends on only if the last installation succeeded.
# What a user needs: the program with its reports, from its sources.
$(VENV)/.installed: $(BUILD)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) setuptools
	ICS_RECORDER_PURE=1 $(PIP) --no-build-isolation -e '.[report,web,plot]'
	touch $@

# What a developer needs: everything else, and the hot path compiled where there is a compiler.
$(VENV)/.installed-dependencies: $(BUILD)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) setuptools mypy
	ICS_RECORDER_PURE=1 $(PIP) --no-build-isolation -e '.[dev]'
	touch $(VENV)/.installed $@

$(VENV)/.installed-for-development: $(VENV)/.installed-dependencies $(COMPILED)
	$(PIP) --no-build-isolation --no-deps -e .
	touch $@

demo: $(VENV)/.installed
	rm -rf demo && mkdir demo
	$(RUN) import --db demo/archive.sqlite $(CORPUS)/server/a01_standard/observer_GuestObsA.raw.gz $(CORPUS)/pgn
	$(RUN) games --db demo/archive.sqlite --last 12
	$(RUN) clocks --db demo/archive.sqlite --player Helmsman
	$(RUN) export pgn --db demo/archive.sqlite --player Helmsman
	$(RUN) export pgn --db demo/archive.sqlite -o demo/games.pgn
	key=$$($(RUN) games --db demo/archive.sqlite --player Helmsman | tail -n 1 | cut -f 1) && \
		$(RUN) report --db demo/archive.sqlite "$$key" -o demo/game.html
	@echo "The archive is demo/archive.sqlite, its games are in demo/games.pgn."
	@echo "Open this game with its real think times in a browser: $(CURDIR)/demo/game.html"
	@echo "Look at all of them: $(RUN) web --db demo/archive.sqlite --open"

PYTEST := $(BIN)/python -m pytest -q -n $(JOBS) --dist worksteal tests
# One notebook as a user runs it. Among the tests that take longer are those that run all and compare their outputs.
SHORT := --nbmake --nbmake-timeout=120 examples/lag.ipynb -m 'not long' --hypothesis-profile=few
test: $(VENV)/.installed-for-development
	$(PYTEST) $(SHORT) $(ARGS)

# What test does, and everything that takes longer: more examples, all recorded connections.
test-all: $(VENV)/.installed-for-development
	$(PYTEST) $(ARGS)

# The newest version of everything, in an environment of its own that is made again each time.
test-newest:
	$(PYTHON) -m venv --clear .venv-newest
	.venv-newest/bin/python -m pip install --quiet --upgrade pip
	ICS_RECORDER_PURE=1 .venv-newest/bin/python -m pip install --quiet --no-compile '.[dev]'
	.venv-newest/bin/$(PYTEST:$(BIN)/%=%) $(SHORT) $(ARGS)

lint: $(VENV)/.installed-dependencies
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell .
	$(BIN)/python -m tests.plain_words

docs: $(VENV)/.installed-for-development
	$(BIN)/python -m tests.conformance.pages
	$(BIN)/python -m tests.docs.references

# The pages as HTML in build/docs; a broken link is an error. Nothing is downloaded, and the pages load nothing.
docs-html: $(VENV)/.installed-for-development
	$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --fresh-env docs build/docs

# The outputs in the notebooks, from running them.
notebooks: $(VENV)/.installed-for-development
	$(BIN)/python -m tests.notebooks

score: $(VENV)/.installed-for-development
	$(BIN)/python -m tests.score
	$(BIN)/python -m tests.clock_figures

bench: $(VENV)/.installed-for-development
	$(BIN)/python -m benchmarks.run $(ARGS)

# Hours: 200 MB of mutated logs, then every fault 200 times. ARGS="--minutes 20" makes the faults shorter.
soak: $(VENV)/.installed-for-development
	$(BIN)/python -m tests.fuzz --megabytes 200 --write docs/reliability.md
	$(BIN)/python -m tests.faults.soak --write docs/reliability.md $(ARGS)

clean:
	rm -rf demo build .pytest_cache .mypy_cache .ruff_cache .benchmarks
	rm -f recorder/*.so recorder/*/*.so recorder/*/*/*.so $(VENV)/.installed*
