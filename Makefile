# Two commands do everything on a machine that has only Python >= 3.11 and make:
#   make demo    a tournament of the agents in both games
#   make test    run the tests
# Each makes .venv by itself if it is missing or stale.

VENV  := .venv
STAMP := $(VENV)/installed.stamp
RUN   := $(VENV)/bin/python
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)

.PHONY: demo test check lint types bench docs playthroughs help clean

help:  ## what there is
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(STAMP): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "easyenvs needs Python >= 3.11; none was found. Say which with: make PYTHON=/path/to/python3.11 …"; exit 1; }
	@echo "== Setting up $(VENV) with $(PYTHON) (one to three minutes, once) =="
	@rm -f $@
	@$(PYTHON) -m venv --clear $(VENV)
	@$(RUN) -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[test,docs,dev]"
	@touch $@

demo: $(STAMP)  ## a tournament of the agents in both games (under a minute)
	@echo "== Random, greedy, heuristic and trained agents against each other, on equal deals (under a minute) =="
	@for game in peasy_v0 school_v0; do \
		$(RUN) -m easyenvs tournament $$game random greedy heuristic trained --games 3000 --jobs -1 || exit 1; done

test: $(STAMP)  ## run the tests (about ten minutes)
	@echo "== Running the tests on all cores (about ten minutes) =="
	@$(RUN) -m pytest -n auto

lint: $(STAMP)  ## ruff
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .

types: $(STAMP)  ## mypy, strict
	@$(RUN) -m mypy

check: lint types test  ## ruff, mypy and the tests

bench: $(STAMP)  ## measure the speed on this machine (about ten minutes)
	@echo "== Measuring the speed on one core (about ten minutes; --quick takes one) =="
	@$(RUN) benchmarks/speed.py

docs: $(STAMP)  ## build the documentation into docs/_build/html
	@$(RUN) -m sphinx -W --keep-going -b html docs docs/_build/html
	@echo "== docs/_build/html/index.html =="

playthroughs: $(STAMP)  ## write the golden playthroughs anew
	@$(RUN) -m easyenvs.testing

clean:  ## remove what make has made
	rm -rf $(VENV) docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis
