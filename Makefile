# make run     a fresh machine: the environment, then the default study, to results/publish/default/index.html
# make test    the environment, then the tests of daily work: no neural model, no real corpora, nothing slow, but the pinned study
# make test-all   the environment, then all tests: also the workflow, Slurm, the browser, kills, real corpora
# make lint    what reads the code: mistakes, format, types, rules
# make lock    today's code into resources/code.lock, with new versions where results of the pinned study changed
# make audit   the advisories on the locked packages, where the package index tells them; exit 1 if there is one
# make sbom    the locked packages as CycloneDX, for a release: sbom.json
PYTHON ?= python3
# Our own pins. envs/requirements.lock instead: every package at one version, its files checked against their hashes (with CUDA, 3 GB more).
REQUIREMENTS ?= envs/requirements.txt
VENV = .venv
ENVIRONMENT = $(VENV)/installed
# A worker of pytest for each core, at most eight. `make test-all` has one more, since the tests of Slurm mostly wait. The tests of one file share what is dear and stay together.
CORES := $(shell getconf _NPROCESSORS_ONLN)
TOGETHER = --maxprocesses 8 --dist loadfile --no-loadscope-reorder
WORKERS ?= -n $(shell expr $(CORES) + 1) $(TOGETHER)

# Some images say that no bytecode is to be kept: each start of Python then compiles the project anew, and pytest 250 files of tests.
export PYTHONDONTWRITEBYTECODE =

.PHONY: run lint test test-all lock environment audit sbom
run: environment
	$(VENV)/bin/snakemake --cores all

lint: environment
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/snakefmt --check Snakefile rules
	$(VENV)/bin/snakemake --lint

test: environment
	$(VENV)/bin/python -m pytest -m "daily or not (models or mirror or slow)" --hypothesis-profile quick -n $(CORES) $(TOGETHER)

test-all: environment
	$(VENV)/bin/python -m pytest $(WORKERS) --durations 20 --durations-min 5

lock: environment
	$(VENV)/bin/python -m tests.lock

audit: .audit/installed
	@timeout 30 .audit/bin/pip-audit --disable-pip --no-deps -r envs/requirements.lock 2>&1 | awk '/^WARNING/ {next} \
	  /could not be audited/ {left++; next} /^Found/ {bad = 1} {print} END {if (!NR) print "no answer in 30 s"; \
	  if (left) print left " packages were not checked: this index tells no advisories on them"; exit bad}'

sbom: .audit/installed
	.audit/bin/cyclonedx-py requirements envs/requirements.lock --output-reproducible --of JSON -o sbom.json

.audit/installed:
	$(PYTHON) -m venv .audit
	.audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit==2.10.1 cyclonedx-bom==7.5.0
	touch $@

environment: $(ENVIRONMENT)

$(ENVIRONMENT): $(REQUIREMENTS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "timestride needs Python 3.11 or newer; give one with: make run PYTHON=python3.11" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check -r $(REQUIREMENTS)
	touch $@
