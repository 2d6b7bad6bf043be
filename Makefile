# Thin names for what the README and .ci/run do; nobody needs make.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: install test lint docs bench ci

install: ## everything that a developer needs, torch included
	$(PYTHON) -m venv .venv
	$(BIN)/pip install -c constraints.txt -e '.[test,lint,docs,integrations]' \
		-e './packages/eval[rivals,mteb]' -e './packages/train[export]' -e ./packages/lab

test:
	$(BIN)/python -m pytest -n auto

lint:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: ## the site; its two references are made from the program
	$(BIN)/python tools/make_cli.py
	$(BIN)/python tools/make_python.py
	$(BIN)/zensical build --strict

bench: ## start-up; the others ask for arguments, see bench/
	$(BIN)/python bench/startup.py

ci:
	.ci/run
