# Everything a developer or a curious user needs. The environment is .venv; .ci/setup makes it and what it needs.
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory
PYTHON := .venv/bin/python
# Written whatever the surroundings say: else each worker and each program of a test compiles everything anew.
export PYTHONDONTWRITEBYTECODE :=
# In a fresh checkout each of eight processes would compile every test for itself: one does it for all.
compile_tests = find tests/unit -name '*-pytest-*.pyc' | grep -q . || $(PYTHON) -m pytest -n 0 -qq --collect-only >/dev/null 2>&1 || true
# Handed on: make demo ARGS="--for 20s --output json"
ARGS ?=

.PHONY: help demo unit test check check-format check-lint check-types check-windows check-macos check-imports bench sqlserver soak screenshots share clean setup

help: ## this list
	@sed -n 's/^\([a-z]*\):[^#]*## /\1	/p' Makefile | while IFS='	' read -r name text; do printf '  make %-12s %s\n' "$$name" "$$text"; done

demo: ## qmon on a PostgreSQL of its own with queues under load; ARGS="--for 20s --output json" and the like
	@.ci/setup demo
	@.venv/bin/qmon demo $(ARGS)

unit: ## the tests that need no server, no Spark and nothing from apt; less than a minute
	@.ci/setup unit
	@$(PYTHON) -m pytest -n 3 -m unit $(ARGS)

test: setup ## all tests, eight at a time, as much of each is waiting; ARGS="-k poller" and the like go to pytest
	@$(compile_tests)
	@$(PYTHON) -m pytest -n 8 --dist worksteal --durations=40 --durations-min=4 $(ARGS)

check: setup ## format, lint, types (of Windows and macOS, too), import contracts; all of them, even when one fails
	@$(MAKE) --keep-going --jobs=2 --output-sync=target check-format check-lint check-types check-windows check-macos check-imports

check-format:
	$(PYTHON) -m ruff format --check .
check-lint:
	$(PYTHON) -m ruff check .
check-types:
	$(PYTHON) -m mypy
check-windows:
	$(PYTHON) -m mypy --platform win32 --no-warn-unreachable --cache-dir .mypy_cache/win32 -p qmon
check-macos:
	$(PYTHON) -m mypy --platform darwin --no-warn-unreachable --cache-dir .mypy_cache/darwin -p qmon
check-imports:
	.venv/bin/lint-imports

bench: setup ## what qmon costs, as ratios measured here (long); ARGS names a part
	@$(PYTHON) -m tests.benchmarks $(ARGS)

sqlserver: ## the contract on a SQL Server of yours: QMON_TEST_SQLSERVER=mssql://sa:password@localhost/?trust=yes; a quarter of an hour
	@test -n "$$QMON_TEST_SQLSERVER" || { echo "QMON_TEST_SQLSERVER names no server, such as mssql://sa:password@localhost/?trust=yes" >&2; exit 2; }
	@.ci/setup contract
	@exec $(PYTHON) -m pytest -n 0 -v -p tests.contract.anywhere_run --tb=short --durations=5 -k sqlserver tests/contract/test_anywhere*.py $(ARGS)

soak: setup ## long runs: every design under fire, a server frozen and killed, actions killed half-way; ARGS are handed on
	@$(PYTHON) -m tests.soak $(ARGS)

share: setup ## the man page, the shell completions and the JSON Schemas, from commands and types
	@$(PYTHON) -m tests.share
	@$(PYTHON) -m tests.schemas

screenshots: setup ## screenshots/*.svg from a live demo
	@$(PYTHON) -m tests.screenshots $(ARGS)

clean: ## remove the environment, caches and what was built
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache snapshot_report.html \
		tests/libraries/node/node_modules
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

setup: ## .venv and the system packages, with all that tests and checks need; the targets above call it
	@.ci/setup test
