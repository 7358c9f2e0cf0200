# `make demo` and `make test` set up all they need by themselves; see `make help`.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo demo-mlops test lint bench down setup slurm-packages test-long test-rare
PY := .venv/bin/python
# Some images set this; every process would compile what it imports again, which is most of the time of a short one.
unexport PYTHONDONTWRITEBYTECODE

help:  ## this list of targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  Options: make demo LEVEL=embedded, make test TIER=unit, make test ARGS='-k digits', make test ARGS=tests/unit/core"

setup:  ## the Python environment in .venv (the other targets call it)
	@bootstrap/setup

demo: setup  ## a hybrid cluster on this machine: on-prem nodes, emulated AWS, two training jobs
	@$(PY) -m sandbox.demo $(if $(LEVEL),--level $(LEVEL)) $(ARGS)

demo-mlops: setup  ## a model's life: registry, signature, serving, canaries, refusals, drift; LEVEL=full: with a pipeline in the lab of `make demo`
	@$(PY) -m sandbox.model_life $(if $(LEVEL),--level $(LEVEL)) $(ARGS)

test: setup  ## every tier of tests that this machine can run
	@$(PY) -m tests.run $(if $(TIER),--tier $(TIER)) -- $(ARGS)

test-long: setup  ## also the long tests: both Slurm versions everywhere, every change of every key, a whole rack
	@LANDBRIDGE_TESTS_LONG=yes $(PY) -m tests.run $(if $(TIER),--tier $(TIER)) -- $(ARGS)

test-rare: setup  ## repeat a test under load until it fails: N=20 ARGS='tests/unit/... -k name'
	@$(PY) -m tests.runner.rare --times $(or $(N),20) -- $(ARGS)

lint: setup  ## ruff, mypy, import-linter, ansible-lint, yamllint, shellcheck
	@bootstrap/lint

bench: setup  ## times of commands and bursts, growth of check, compared with ParallelCluster
	@$(PY) -m bench $(ARGS)

slurm-packages: setup  ## Slurm from its own source, built once into a signed repository
	@.venv/bin/landbridge packages slurm $(or $(VERSION),24.11) --into $(or $(INTO),packages) $(ARGS)

down:  ## stop the sandbox and remove its resources, also after a crash
	@if [ -x .venv/bin/landbridge ]; then $(PY) -m sandbox.embedded.leftovers && .venv/bin/landbridge sandbox down; \
	else echo "nothing was set up in this checkout (no .venv); 'make setup' first if a lab still runs"; fi
