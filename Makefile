# Everything sets itself up in .venv. `make demo` and `make test` are all a new machine needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: setup demo test test-all lint generated bench standing-comparison kernels kernels-check spark-server system-deps clean

setup: $(READY)

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "setveil needs Python 3.11 or newer; name one with make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $(READY)

demo: $(READY)
	$(BIN)/setveil demo --out setveil-demo --force

# What a contributor runs. Each worker takes half of all tests in their order, so that what tests of a file share is made once, and who is
# done early takes half of what the other has left. Python keeps what it compiles: tests start it hundreds of times.
test: export PYTHONDONTWRITEBYTECODE :=
test: $(READY)
	$(BIN)/python -m pytest -n auto --dist worksteal
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -n auto -m plain_python

# What must pass before a change lands: `make test` with the exhaustive tests and all random examples. Those of Spark need Java.
test-all: export SETVEIL_EXHAUSTIVE := 1
test-all: $(if $(shell command -v java),spark-server) test

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Public names, from what the families register, and the parameters on the pages of methods, from their declarations.
generated: $(READY)
	$(BIN)/python tools/write_stub.py
	$(BIN)/python tools/write_parameters.py

bench: $(READY) spark-server
	for figure in benchmarks/bench_*.py; do $(BIN)/python $$figure || exit 1; done

# The tables and pictures of docs/standing-comparison.md, from build/standing-comparison, which it makes or continues.
standing-comparison: $(READY)
	$(BIN)/python benchmarks/standing_comparison.py

# The wheel of compiled kernels, dist/setveil_kernels-*.whl. build/kernels keeps what was compiled, so that the next build compiles changes only.
kernels: $(READY)
	$(BIN)/python kernels-wheel/build.py --cache build/kernels --out dist

# Install both wheels into a new environment: no command may compile anything, and the results must be those of compiling on the spot.
kernels-check: kernels
	$(BIN)/python kernels-wheel/check_wheels.py dist/setveil_kernels-*.whl

# A Spark for tests, in an environment of its own: its package has the same name as that of the client. A download of 456 MB, once.
spark-server: build/spark-server/.ready

build/spark-server/.ready: constraints.txt
	$(PYTHON) -m venv build/spark-server
	build/spark-server/bin/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt pyspark
	touch $@

# What only some tests need, from Debian's packages: a PostgreSQL, of which the tests start their own server (its package would start one too), and
# a browser to look at reports, ip to put parties on networks of their own, and Java for Spark.
system-deps:
	missing=''; \
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || { missing="$$missing postgresql"; \
	  mkdir -p /etc/postgresql-common/createcluster.d && \
	  echo 'create_main_cluster = false' > /etc/postgresql-common/createcluster.d/no-main-cluster.conf; } || exit 1; \
	command -v chromium >/dev/null || missing="$$missing chromium"; \
	command -v ip >/dev/null || missing="$$missing iproute2"; \
	command -v java >/dev/null || missing="$$missing openjdk-17-jre-headless"; \
	test -z "$$missing" || { apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing; }

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis setveil-demo setveil-demo.private
