# make run   a fresh machine: the environment, then the default study, to results/publish/default/index.html
# make test  the environment, then all tests
PYTHON ?= python3
ENVIRONMENT = .venv/installed

.PHONY: run test environment
run: environment
	.venv/bin/snakemake --cores all

test: environment
	.venv/bin/python -m pytest

environment: $(ENVIRONMENT)

$(ENVIRONMENT): envs/requirements.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "timestride needs Python 3.11 or newer; give one with: make run PYTHON=python3.11" >&2; exit 1; }
	$(PYTHON) -m venv .venv
	.venv/bin/python -m pip install --quiet --disable-pip-version-check -r envs/requirements.txt
	touch $@
