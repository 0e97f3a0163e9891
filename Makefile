.DEFAULT_GOAL := help
.PHONY: help setup course grade test check kit try lab bench figures lock clean
PYTHON ?= python3
MODULE ?= 04_attention
BIN := .venv/bin
INSTALLED := .venv/.installed
# NumPy, one thread each: two processes on two cores are faster than one that quarrels with itself
export OPENBLAS_NUM_THREADS ?= 1

help:  ## print this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/\1\t\2/' | expand -t 10

setup: $(INSTALLED)  ## make .venv, install the locked packages and the project

$(INSTALLED): requirements.lock setup.py settings.ini pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or newer is needed: make PYTHON=python3.11 setup")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --require-hashes -r requirements.lock
	$(BIN)/pip install -qq --no-build-isolation --no-deps -e .
	@# the wheel is tinytorch alone; here the grader and the tests are importable, too
	$(BIN)/python -c 'import os, site; open(os.path.join(site.getsitepackages()[0], "course.pth"), "w").write(os.getcwd())'
	@command -v bwrap >/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get update -qq && apt-get install -y -qq --no-install-recommends bubblewrap; \
	  elif [ "$$(id -u)" = 0 ] && command -v dnf >/dev/null; then dnf install -y -q bubblewrap; \
	  elif command -v dnf >/dev/null; then echo "To grade, install bubblewrap: sudo dnf install bubblewrap"; \
	  else echo "To grade, install bubblewrap: sudo apt-get install bubblewrap"; fi; }
	touch $@

course: setup  ## make tinytorch/ and modules/ from the notebooks in solutions/
	$(BIN)/python -m grader course

grade: setup  ## grade the class in classroom/ (the sample class, if there is none), print a table, write feedback
	@if [ -d classroom/submitted ]; then class=classroom; else \
	  class=classroom-sample; mkdir -p $$class/submitted; cp -R examples/class/. $$class/submitted/; \
	  echo "classroom/ has no submissions: grading the sample class in classroom-sample/"; fi; \
	$(BIN)/python -m grader grade $(MODULE) --class $$class && \
	$(BIN)/python -m grader feedback $(MODULE) --class $$class

test: setup  ## run all tests
	$(BIN)/python -m pytest

check: setup  ## fail if something generated is stale, a notebook does not run, or ruff complains
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/python -m grader course --check --run

kit: setup  ## make the archives that students get, in dist/
	$(BIN)/python -m grader kit

try: setup  ## judge one notebook at once: make try FILE=workspace/04_attention/attention.ipynb
	$(BIN)/python -m grader try $(FILE)

lab: setup  ## open JupyterLab in workspace/, with copies of the notebooks to work in
	$(BIN)/python -m grader workspace
	$(BIN)/jupyter lab --LabApp.default_url=/lab/tree/workspace

bench: setup  ## time the library against PyTorch, if it is installed, and our grader against stock nbgrader (40 minutes)
	$(BIN)/python benchmarks/library.py --markdown docs/performance.md
	$(BIN)/python benchmarks/grading.py --markdown docs/performance.md

figures: setup  ## draw the pictures of README and docs/
	$(BIN)/python docs/figures.py

lock:  ## choose the newest versions that fit requirements.in
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header requirements.in -o requirements.lock

clean:  ## remove what can be made again; classroom/ stays
	rm -rf .venv dist build *.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis
