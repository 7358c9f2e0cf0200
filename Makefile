# `make demo` and `make test` set up all they need by themselves; see `make help`.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help demo test lint bench down setup
PY := .venv/bin/python

help:  ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  Options: make demo LEVEL=embedded, make test TIER=unit, make test ARGS='-k digits'"

setup:  ## the Python environment in .venv (the others do this by themselves)
	@bootstrap/setup

demo: setup  ## a hybrid cluster on this machine: on-prem nodes, an AWS half, two training jobs
	@$(PY) -m sandbox.demo $(if $(LEVEL),--level $(LEVEL)) $(ARGS)

test: setup  ## every tier of tests that this machine can carry
	@$(PY) -m tests.run $(if $(TIER),--tier $(TIER)) -- $(ARGS)

lint: setup  ## ruff, mypy, import-linter, ansible-lint, yamllint, shellcheck
	@bootstrap/lint

bench: setup  ## how long commands take, how check grows, and ParallelCluster beside it
	@$(PY) -m bench $(ARGS)

down:  ## end the sandbox and remove what it left, also after a crash
	@if [ -x .venv/bin/landbridge ]; then $(PY) -m sandbox.embedded.leftovers && .venv/bin/landbridge sandbox down; \
	else echo "nothing was set up in this checkout (no .venv); 'make setup' first if a lab still runs"; fi
