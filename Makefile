# Everything from a fresh machine with Python 3.11 or newer and make; PYTHON names another interpreter.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
.PHONY: setup demo test slow clean

setup: .venv/setup-done

demo: setup
	$(BIN)/diprl train CartPole-v1

test: .venv/test-setup-done
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/pytest --numprocesses auto --dist loadfile

slow: .venv/test-setup-done
	$(BIN)/pytest -m slow tests/test_slow.py

.venv/setup-done: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("diprl needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(INSTALL) --editable .
	@touch $@

.venv/test-setup-done: .venv/setup-done
	$(INSTALL) --editable '.[dev]'
	@touch $@

clean:
	rm -rf .venv .pytest_cache .ruff_cache .hypothesis build dist
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
