# Everything from a fresh machine with Python 3.11 or newer and make; PYTHON names another interpreter.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
.PHONY: setup demo test slow docs lowest release clean

setup: .venv/setup-done

demo: setup
	$(BIN)/diprl train CartPole-v1

test: .venv/test-setup-done
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/pytest --numprocesses auto --dist loadfile --max-worker-restart 0

slow: .venv/test-setup-done
	$(BIN)/pytest -m slow tests/test_slow.py tests/docs

# The site, in build/site; a link that leads nowhere is an error, and nothing is loaded from the network.
docs: .venv/docs-setup-done
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "open build/site/index.html"

# The shorter tests with the lowest versions that pyproject.toml allows.
lowest:
	$(PYTHON) -m venv .lowest
	$(PYTHON) .ci/lowest.py > .lowest/constraints.txt
	.lowest/bin/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]' --constraint .lowest/constraints.txt
	.lowest/bin/pytest --numprocesses auto --dist loadfile --max-worker-restart 0 src tests/program tests/export tests/verify tests/tasks tests/runs

# A wheel that has been installed and run on its own, with a list of all that it was tested with (CycloneDX).
release: .venv/test-setup-done
	rm -rf dist
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
	$(PYTHON) -m venv dist/bare
	dist/bare/bin/python -m pip install --quiet --disable-pip-version-check dist/*.whl
	cd dist && bare/bin/diprl train CartPole-v1 --total-timesteps 20000 --out run && bare/bin/diprl eval run
	dist/bare/bin/python .ci/sbom.py > dist/sbom.json
	rm -rf dist/bare dist/run

.venv/setup-done: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("diprl needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(INSTALL) --editable .
	@touch $@

.venv/test-setup-done: .venv/setup-done
	$(INSTALL) --editable '.[dev]'
	@touch $@

.venv/docs-setup-done: .venv/setup-done
	$(INSTALL) --editable '.[docs]'
	@touch $@

clean:
	rm -rf .venv .lowest .pytest_cache .ruff_cache .hypothesis build dist
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +
