.DEFAULT_GOAL := help
.PHONY: help setup course grade quick test slow check coverage mutants library torch kit solved site try lab bench figures lock clean
PYTHON ?= python3
MODULE ?= 04_attention
BIN := .venv/bin
INSTALLED := .venv/.installed
FOR_SITE := .venv/.site
SIDE_BY_SIDE := --numprocesses=auto --maxprocesses=4 --dist=loadfile
# NumPy, one thread each: two processes on two cores are faster than one that quarrels with itself
export OPENBLAS_NUM_THREADS ?= 1
# tests that run side by side share the machine, so their limits are a little longer
export GRADER_TEST_PATIENCE ?= 1.5

help:  ## print this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/\1\t\2/' | expand -t 10

setup: $(INSTALLED)  ## make .venv, install the locked packages and the project

$(INSTALLED): requirements.lock pyproject.toml settings.ini
	@test -x $(BIN)/python || $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11 setup")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/pip install -qq --no-build-isolation --no-deps -e .
	@# the wheel is tinytorch alone; these two make the rest importable here, and give it a command
	$(BIN)/python -c 'import os, site; open(os.path.join(site.getsitepackages()[0], "course.pth"), "w").write(os.getcwd())'
	@printf '#!/bin/sh\nexec "$$(dirname "$$0")/python" -P -m grader "$$@"\n' > $(BIN)/grader && chmod +x $(BIN)/grader
	@command -v bwrap >/dev/null || { $(INSTALL_BUBBLEWRAP); }
	touch $@

# as root: install it; else, or where that fails (no network), say what to install and go on
define INSTALL_BUBBLEWRAP
  if command -v apt-get >/dev/null; then tool=apt-get; else tool=dnf; fi; \
  if [ "$$(id -u)" = 0 ]; then \
    if [ $$tool = dnf ]; then dnf install -y -q bubblewrap; \
    else apt-get update -qq && apt-get install -y -qq --no-install-recommends bubblewrap; fi; fi; \
  command -v bwrap >/dev/null || echo "For the best jail (docs/jail.md), install bubblewrap: sudo $$tool install bubblewrap"
endef

course: setup  ## make tinytorch/ and modules/ from the notebooks in solutions/
	$(BIN)/python -m grader course

grade: setup  ## grade the class in classroom/ (the sample class, if there is none), print a table, write feedback
	@if [ -d classroom/submitted ]; then class=classroom; else \
	  class=classroom-sample; mkdir -p $$class/submitted; cp -R examples/class/. $$class/submitted/; \
	  echo "classroom/ has no submissions: grading the sample class in classroom-sample/"; fi; \
	$(BIN)/python -m grader grade $(MODULE) --class $$class && \
	$(BIN)/python -m grader feedback $(MODULE) --class $$class

quick: setup  ## run the tests that need neither the jail nor a browser (a minute)
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) -m "not jail and not browser and not long and not slow"

test: setup  ## run all tests but the slow ones (8 minutes)
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) -m "not slow"

slow: setup  ## run the slow tests (40 minutes)
	$(BIN)/python -m pytest -m slow

check: setup  ## fail if something generated is stale, a notebook does not run, or ruff or mypy complain
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m grader course --check --run

coverage: setup  ## run what `make test` runs, and fail if too few lines of the grader were run
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -m "not slow"
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage report

mutants: setup  ## break the code in one place at a time, and name the places that no test notices
	$(BIN)/python tests/support/mutants.py

library: setup  ## run the library's own tests, on every Python that is found
	$(BIN)/python -m pytest tests/library

torch: setup  ## install PyTorch and compare the library with it
	$(BIN)/pip install --quiet torch --index-url https://download.pytorch.org/whl/cpu
	$(BIN)/python -m pytest tests/library -m torch

kit: setup  ## make the archives that students get, in dist/
	$(BIN)/python -m grader kit

solved: kit  ## make the kits with right answers in them, in dist/solved/, to try their commands elsewhere
	$(BIN)/python tests/support/solved_kits.py dist/solved

site: $(FOR_SITE)  ## make dist/site/: pages, and the course in the browser (MODULES="02 03 04": no others; BUNDLE=1: with Pyodide)
	$(BIN)/python -m grader site $(MODULES) $(if $(BUNDLE),--bundle)

$(FOR_SITE): $(INSTALLED) requirements-site.lock
	$(BIN)/pip install --quiet --require-hashes -r requirements-site.lock
	touch $@

try: setup  ## judge one notebook at once: make try FILE=workspace/04_attention/attention.ipynb
	$(BIN)/python -m grader try $(FILE)

lab: setup  ## open JupyterLab in workspace/, with copies of the notebooks to work in
	$(BIN)/python -m grader workspace
	$(BIN)/jupyter lab --LabApp.default_url=/lab/tree/workspace

bench: setup  ## time the library against PyTorch, if it is installed, our grader against stock nbgrader, and checks (40 minutes)
	$(BIN)/python benchmarks/library.py --markdown docs/performance.md
	$(BIN)/python benchmarks/grading.py --markdown docs/performance.md
	$(BIN)/python benchmarks/practice.py --markdown docs/performance.md

figures: setup  ## draw the pictures of README and docs/
	$(BIN)/python docs/figures.py

lock:  ## lock what pyproject.toml lists (make lock UPGRADE=--upgrade: the newest versions of all)
	$(COMPILE) --extra grader --extra test --extra dev pyproject.toml -o requirements.lock
	$(COMPILE) --extra site --constraint requirements.lock pyproject.toml -o requirements-site.lock

COMPILE = uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header $(UPGRADE)

clean:  ## remove what can be made again; classroom/ stays
	rm -rf .venv .cache dist build *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis .coverage .coverage.*
