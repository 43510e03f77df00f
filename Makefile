# The course from one command: `make lab`. Everything on your machine proved by another: `make test`.
# GNU make and bash, on Linux, macOS and WSL; CONTRIBUTING.md has the same steps for Windows.

SHELL := /bin/bash
.DEFAULT_GOAL := help

PYTHON ?= python3#   any Python from 3.11 on, to make .venv with
TORCH ?=#            empty: the build that PyPI gives; cpu: the CPU build (Linux without a GPU: saves gigabytes); cu126 …
LAB_ARGS ?=#         more arguments for JupyterLab
NB ?= notebooks#     what `make refresh` runs: notebooks or folders

bin := .venv/bin
pip := $(bin)/python -m pip install --disable-pip-version-check
ready := .venv/.ready
models := all-MiniLM-L6-v2

# Kernels of another CPU, as far as environment variables can simulate one (x86: no AVX in PyTorch, MKL, oneDNN, NumPy).
other_cpu := ATEN_CPU_CAPABILITY=default MKL_CBWR=COMPATIBLE ONEDNN_MAX_CPU_ISA=SSE41 \
             NPY_DISABLE_CPU_FEATURES="X86_V3 X86_V4 AVX512_ICL AVX512_SPR"
nbval := $(bin)/pytest --nbval --nbval-current-env --nbval-sanitize-with=notebooks/sanitize.cfg \
         --nbval-cell-timeout=300 notebooks

##@ The course

.PHONY: lab
lab: $(ready) models ## open the course in JupyterLab (the first time: install it, a few minutes)
	@$(bin)/python tools/lab.py $(LAB_ARGS)

.PHONY: test
test: $(ready) models ## prove it all here: lint, types, unit tests, doctests, gate, every notebook
	@MAKE='$(MAKE)' tools/in_turn.sh lint types unit gate notebooks

.PHONY: test-portable
test-portable: $(ready) models ## run the notebooks once more, with the kernels of another CPU
	@MAKE='$(MAKE)' tools/in_turn.sh notebooks-on-another-cpu

.PHONY: results
results: $(ready) models ## make all of data/results again (hours; goes on where it stopped)
	@set -e; for script in $(sort $(wildcard experiments/[!_]*.py)); do \
	    echo "== $$script"; nice -n 10 $(bin)/python "$$script"; done

results-%: $(ready) models experiments/%.py ## make one of them, results-NAME for experiments/NAME.py
	nice -n 10 $(bin)/python experiments/$*.py

# BertViz alone, without its dependencies, which we have or which it does not need here; and the scripts it loads.
peers := runs/peers
$(peers)/bertviz:
	$(pip) -qq --no-deps --target $(peers) bertviz==1.4.1
	cd $(peers) && for it in d3@5.7.0 jquery@2.2.4 requirejs@2.3.6; do npm pack -s $$it; done && \
	    tar xzOf d3-5.7.0.tgz package/dist/d3.min.js > d3.min.js && \
	    tar xzOf jquery-2.2.4.tgz package/dist/jquery.min.js > jquery.min.js && \
	    tar xzOf requirejs-2.3.6.tgz package/require.js > require.js

.PHONY: bench
bench: $(ready) $(peers)/bertviz ## ours beside others: BertViz, the Rust tokenizers (needs Chromium, npm, the data)
	@set -e; for script in $(sort $(wildcard benchmarks/[!_]*.py)); do \
	    echo "== $$script"; $(bin)/python "$$script"; done

# What a deck of slides stands on: reveal.js and MathJax, once from npm, then local.
lectern := runs/lectern
$(lectern)/tex-svg-full.js:
	@mkdir -p $(lectern) && cd $(lectern) && npm pack -s reveal.js@5.2.1 mathjax@3.2.2 > /dev/null && \
	    for it in dist/reset.css dist/reveal.css dist/reveal.js plugin/notes/notes.js; do \
	        tar xzOf reveal.js-5.2.1.tgz package/$$it > $$(basename $$it); done && \
	    tar xzOf mathjax-3.2.2.tgz package/es5/tex-svg-full.js > tex-svg-full.js && rm -f *.tgz

##@ To teach with it

.PHONY: slides
slides: $(ready) $(lectern)/tex-svg-full.js ## a deck and a PDF of every notebook, all parts local (needs npm, Chromium)
	@$(bin)/python tools/slides.py --pdf
	@$(bin)/pytest -q tests/notebooks/test_slides.py

# What builds the site, beside all else in .venv; only `make site` asks for it.
site_ready := .venv/.site
$(site_ready): $(ready) docs/requirements.txt
	@echo "installing Sphinx and its theme"
	@$(pip) -qq --no-deps -r docs/requirements.txt
	@touch $@

.PHONY: site live
site: $(site_ready) ## the site, in build/site: offline, links checked
	@$(bin)/python tools/live_pages.py notebooks/gallery.ipynb
	@$(bin)/python tools/build_site.py

live: $(ready) models ## run notebooks once, so that the site has their widgets live (NB=notebooks/01….ipynb for one)
	@$(bin)/python tools/live_pages.py $(NB)

# nbgrader apart from the course, since it adds to JupyterLab's menus: an environment on top of .venv.
grading := runs/grading
$(grading)/bin/nbgrader: assignments/requirements.txt
	@$(bin)/python -m venv --without-pip $(grading)
	@$(bin)/python -c 'import sysconfig; print("import site; site.addsitedir(" + repr(sysconfig.get_path("purelib")) + ")")' \
	    > $$($(grading)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/course.pth
	@$(grading)/bin/python -m pip install --disable-pip-version-check -qq -c requirements.txt -r assignments/requirements.txt
	@touch $@

.PHONY: assignment
assignment: $(ready) $(grading)/bin/nbgrader ## what students get, and a proof that three submissions are graded justly
	@$(bin)/python tools/assignments.py

##@ Working on it

.PHONY: refresh
refresh: $(ready) models ## run notebooks and save their outputs (NB=notebooks/01….ipynb for one)
	@$(bin)/python tools/refresh.py $(NB)

.PHONY: format
format: $(ready) ## let ruff mend and format code and notebooks
	$(bin)/ruff check --fix .
	$(bin)/ruff format .

.PHONY: lint
lint: $(ready) ## check style and format, notebooks too
	$(bin)/ruff check .
	$(bin)/ruff format --check .

.PHONY: types
types: $(ready) ## check the type hints of bertlab, tools and experiments
	$(bin)/mypy

.PHONY: unit
unit: $(ready) ## unit tests and doctests, with coverage
	OMP_NUM_THREADS=1 $(bin)/pytest -n auto --dist worksteal --cov --cov-report=term

.PHONY: gate
gate: $(ready) ## refuse what nbval would pass: stripped outputs, missing pictures, …
	$(bin)/python tools/gate.py

.PHONY: notebooks notebooks-on-another-cpu
notebooks: $(ready) ## run every notebook and compare all outputs
	@if [ -n "$$(find notebooks -name '*.ipynb')" ]; then $(nbval); else echo "notebooks/ holds no notebook yet"; fi

notebooks-on-another-cpu: $(ready)
	@$(other_cpu) $(MAKE) --no-print-directory notebooks

.PHONY: pins
pins: $(ready) ## write requirements.txt anew, from what is installed
	$(bin)/python tools/pins.py

##@ What they stand on

.PHONY: install
install: $(ready) ## make .venv and install the exact versions, if that is not done

# Made once, and again when what is needed changes. torch comes first: with it in place, a range installs no other.
$(ready): pyproject.toml requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null || { \
	    echo "bertlab needs Python 3.11 or newer, $(PYTHON) is $$($(PYTHON) --version 2>&1): make lab PYTHON=python3.12"; \
	    exit 1; }
	@[ -x $(bin)/python ] || { echo "making .venv"; $(PYTHON) -m venv .venv; }
	@echo "installing torch"
	@$(pip) -c requirements.txt torch \
	    $(if $(TORCH),--extra-index-url https://download.pytorch.org/whl/$(TORCH))
	@echo "installing the rest in its exact versions (about 210 MB to fetch)"
	@$(pip) -qq -r requirements.txt
	@$(pip) -qq --no-deps -e .
	@touch $@

.PHONY: models
models: $(ready) ## fetch the published models that the course looks into
	@for name in $(models); do $(bin)/python -m bertlab get $$name || \
	    echo "Without $$name, the cells that look into it say so; all the rest works."; done

.PHONY: help
help: ## this list
	@awk 'BEGIN { FS = ":.*## " } \
	    /^##@ / { printf "\n%s\n", substr($$0, 5) } \
	    /^[a-z%-]+:.*## / { sub("%", "NAME", $$1); printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "Variables: PYTHON=$(PYTHON)  TORCH=cpu (Linux without a GPU)  LAB_ARGS=--no-browser  NB=FILE"
