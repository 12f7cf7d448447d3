# Each target makes .venv by itself when it is missing.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready
ZSHASH_DATA ?= ../shared/data
# Pictures of CIFAR-10, as cifar-10-batches-py; downloaded where they are not there.
CIFAR10 ?= build/cifar10
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
# Markers of the tests that need more than Python packages, or more than seconds.
REST := benchmark or browser or cluster or crash or large or milvus or service or study or torch or types
# Processes that share the tests. Threads of one that wait do not spin on a core that the other one
# needs, and bytecode is kept, since many tests start programs.
WORKERS ?= 2
PYTEST = OMP_WAIT_POLICY=passive OPENBLAS_THREAD_TIMEOUT=4 PYTHONDONTWRITEBYTECODE= \
	$(BIN)/pytest --quiet --numprocesses $(WORKERS) --durations 20

# Packages of npm for the tests of the page; nothing of them is part of zshash.
NPM := axe-core@4.14.0 puppeteer-core@24.43.1

.PHONY: demo test test-all test-rest check bench compare reproduce study names rivals browser milvus torch wheel format clean

demo: $(READY) ## an album of drawings without labels, searched by name
	$(BIN)/zshash demo --output zshash-demo.html

test: $(READY) ## every test and doctest that needs nothing but the packages of .venv
	$(PYTEST) --dist worksteal -m "not ($(REST))"

test-rest: $(READY) ## the tests that `make test` leaves out; those whose needs are missing are skipped
	$(PYTEST) --dist loadgroup -m "$(REST)"

test-all: test test-rest ## every test

check: $(READY) wheel ## style, types, import contract, and the wheel in an empty environment
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

wheel: $(READY)
	$(BIN)/python tools/check_wheel.py

bench: $(READY) ## fits against the bare matrix products, searches against faiss, collections
	$(BIN)/python benchmarks/fit.py
	$(BIN)/python benchmarks/methods.py
	$(BIN)/python benchmarks/mth.py
	$(BIN)/python benchmarks/search.py
	$(BIN)/python benchmarks/quantised.py
	$(BIN)/python benchmarks/collection.py
	$(BIN)/python benchmarks/serve.py
	$(BIN)/python benchmarks/scale.py

compare: $(READY) torch ## every method at every code length by the standard protocols (ZSHASH_DATA)
	$(BIN)/zshash compare cifar10 tiny100 --set MTH.effort=fast --output docs/comparison

reproduce: $(READY) ## the paper's experiments, tables and figures (ZSHASH_DATA, CIFAR10)
	@test -d $(CIFAR10) || test ! -f $(ZSHASH_DATA)/get_cifar10.py || \
		$(BIN)/python $(ZSHASH_DATA)/get_cifar10.py $(CIFAR10)
	$(BIN)/zshash reproduce --all --output docs/results $$(test -d $(CIFAR10) && echo --from $(CIFAR10))

study: $(READY) ## MTH against all methods, each category hidden in its turn (ZSHASH_DATA)
	$(BIN)/zshash reproduce mth --output docs/transfer

names: $(READY) ## search by any name, and the related work (ZSHASH_DATA, CIFAR10)
	$(BIN)/zshash reproduce any-name --output docs/any-name --from $(CIFAR10)
	$(BIN)/zshash reproduce name-baselines --output docs/name-baselines --from $(CIFAR10)

rivals: $(READY) torch ## all methods and quantisers at equal bytes (ZSHASH_DATA, CIFAR10, openclipart-png)
	@mkdir -p build/features
	test -f build/features/cifar10_lite2.npz || $(BIN)/zshash extract $(CIFAR10) \
		--extractor efficientnet-lite2 --output build/features/cifar10_lite2.npz
	$(BIN)/zshash reproduce rivals rivals-clipart rivals-lite2 rivals-long --output docs/rivals

browser: ## browsers and packages of npm for the tests of the page, on Debian and its kin
	@missing=$$(for program in chromium firefox-esr npm; do command -v $$program > /dev/null || echo $$program; done); \
		test -z "$$missing" || \
		{ apt-get update --quiet && apt-get install --yes --no-install-recommends $$missing; }
	@mkdir -p build
	npm install --prefix build --no-save --no-audit --no-fund $(NPM)

milvus: .venv-milvus/ready ## a Milvus server and its client for the tests of its index, on Linux

.venv-milvus/ready: constraints.txt
	$(PYTHON) -m venv .venv-milvus
	echo '*' > .venv-milvus/.gitignore
	.venv-milvus/bin/pip install --quiet milvus pymilvus
	.venv-milvus/bin/python tests/milvus_server.py unpack
	touch $@

torch: $(READY) ## PyTorch, for the tests of fits on a device
	$(BIN)/pip install --quiet torch

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv .venv-milvus build dist zshash-demo.html

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --editable ".[dev]"
	touch $@
