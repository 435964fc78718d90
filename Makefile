# `make` lists the commands. They need make and Python 3.11 or newer; the rest they install.

VENV := .venv
PYTHON := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed

# Spark starts its workers with the first python3 on the PATH unless told otherwise.
export PYSPARK_PYTHON := $(CURDIR)/$(PYTHON)
# Another Spark on this machine must not replace the one in the virtual environment.
unexport SPARK_HOME PYTHONPATH

# Spark runs on Java: prefix a command with this to give it one.
WITH_JAVA = JAVA_HOME=$$(scripts/find_java.sh) && export JAVA_HOME &&

# Two processes, each with one Spark session; a file stays in one process, the longest come first.
BY_FILE = --numprocesses 2 --dist loadfile --no-loadscope-reorder

.PHONY: help setup demo examples notebooks docs clean
.PHONY: check lint kernels test test-browser test-campaign test-cluster test-matrix test-package test-pipeline
.PHONY: bench-batch bench-flink bench-join bench-kernels bench-patterns bench-planner bench-skew bench-sources bench-stream

help: ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## /make \1	/p' Makefile

setup: $(INSTALLED) ## install everything into .venv, and Java if there is none
	@$(WITH_JAVA) echo "Ready: $$($(PYTHON) --version), Java in $$JAVA_HOME"

demo: $(INSTALLED) ## show windows over a live stream, check them and draw artifacts/demo.png
	@$(WITH_JAVA) $(PYTHON) -m windrow.cli demo

examples: $(INSTALLED) ## run the example programs on Spark
	@$(WITH_JAVA) for program in examples/*.py; do $(PYTHON) $$program || exit 1; done

notebooks: $(INSTALLED) ## execute the notebooks anew, and keep their outputs
	@$(WITH_JAVA) $(PYTHON) -m scripts.notebooks

check: lint ## lint, then run the tests that need no Java, with few examples: for every change
	HYPOTHESIS_PROFILE=quick $(PYTHON) -m pytest --numprocesses 2 --dist worksteal \
		-m 'not spark and not campaign and not browser and not pipeline and not cluster' --doctest-modules --ignore tests/e2e tests src/windrow

test: $(INSTALLED) ## lint, then run all tests and doctests: what continuous integration runs
	$(MAKE) --no-print-directory --jobs 2 --output-sync lint kernels
	$(WITH_JAVA) $(PYTHON) -m pytest $(BY_FILE) --doctest-modules tests src/windrow

test-campaign: $(INSTALLED) ## run the long tests that `make test` leaves out: kills and clusters
	$(WITH_JAVA) $(PYTHON) -m pytest $(BY_FILE) -m campaign tests

test-browser: $(INSTALLED) ## run the tests of the live view in Chromium; installs it if there is none
	@command -v chromium google-chrome > /dev/null || scripts/install_chromium.sh
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --editable '.[browser]'
	$(WITH_JAVA) $(PYTHON) -m pytest -m browser tests/browser

test-cluster: $(INSTALLED) ## ship an environment to a standalone cluster, and run queries and streams there
	$(WITH_JAVA) scripts/test_cluster.sh

test-package: $(INSTALLED) ## build the wheel and the sdist, and try them in empty environments
	$(WITH_JAVA) scripts/test_package.sh

test-pipeline: $(INSTALLED) ## run a pipeline from Kafka to PostgreSQL, Delta Lake and Kafka, with kills
	$(WITH_JAVA) scripts/test_pipeline.sh

test-matrix: $(INSTALLED) ## test with every release line of PySpark and every Python that is installed; takes hours
	$(WITH_JAVA) $(PYTHON) scripts/test_matrix.py

kernels: $(INSTALLED) ## compile all kernels ahead: else each process of the tests compiles what it needs
	@$(PYTHON) -m windrow.cli warm

lint: $(INSTALLED) ## check format, lint, types and dead code
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m ruff check .
	$(PYTHON) -m mypy
	$(PYTHON) -m vulture

docs: $(INSTALLED) ## draw the pictures and build the site of the documentation in build/site
	$(PYTHON) -m scripts.drawings
	$(PYTHON) -m mkdocs build --strict
	@echo "Open build/site/index.html"

bench-kernels: $(INSTALLED) ## check and time the kernels and the engine in process
	$(PYTHON) -m benchmarks.bench_kernels_ranges
	$(PYTHON) -m benchmarks.bench_engine

bench-patterns: $(INSTALLED) ## check and time pane farms and window partitioning against Win_Seq, in process
	$(PYTHON) -m benchmarks.bench_patterns

bench-planner: $(INSTALLED) ## check and time the plans of queries on Spark: is the chosen one the fastest?
	$(WITH_JAVA) $(PYTHON) -m benchmarks.bench_planner

bench-batch: $(INSTALLED) ## check and time queries over bounded DataFrames against Spark's own
	$(WITH_JAVA) $(PYTHON) -m benchmarks.bench_batch

bench-stream: $(INSTALLED) ## check and time queries over streaming DataFrames against Spark's own
	$(WITH_JAVA) $(PYTHON) -m benchmarks.bench_stream

bench-join: $(INSTALLED) ## check and time joins against Spark's own, by layout and window
	$(WITH_JAVA) $(PYTHON) -m benchmarks.bench_join

bench-sources: $(INSTALLED) ## check and time queries over files against Spark, DuckDB and Polars
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	$(WITH_JAVA) $(PYTHON) -m benchmarks.bench_sources

bench-flink: $(INSTALLED) ## check and time overlapping windows over files against Flink SQL
	scripts/install_flink.sh
	$(WITH_JAVA) $(PYTHON) -m benchmarks.bench_flink

bench-skew: $(INSTALLED) ## check and time windows and panes of unequal cost and keys of unequal frequency
	$(WITH_JAVA) $(PYTHON) -m benchmarks.bench_skew

clean: ## remove the virtual environment and everything generated
	rm -rf $(VENV) .cluster .flink .pipeline build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	rm -rf artifacts derby.log metastore_db spark-warehouse
	find src tests -name __pycache__ -prune -exec rm -rf {} +

$(INSTALLED): pyproject.toml | $(VENV)/bin/pip
	@echo "Installing Windrow and its dependencies into $(VENV): the first time takes minutes."
	$(PYTHON) -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

$(VENV)/bin/pip:
	@python=$$(scripts/find_python.sh) && "$$python" -m venv --clear --upgrade-deps $(VENV)
