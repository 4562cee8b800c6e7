# The two commands of a newcomer are `make demo` and `make test`; both install what is missing (packages/core.txt).
# CI=1 turns warnings into errors.

JOBS ?= $(shell nproc 2>/dev/null || echo 2)
WERROR := $(if $(CI),ON,OFF)
PREFIX ?= /usr/local
FUZZ_SECONDS ?= 60
MUTANTS ?= 40
SEED ?= 1

.PHONY: help build demo test test-all deep test-peers sanitize tsan msan coverage mutation fuzz bench bench-report reproduction docs format install clean core all-packages

help:
	@echo "make demo      build, then a tour from a robot file to its dynamics"
	@echo "make test      build, then the tests"
	@echo "make build     build only: build/psdm"
	@echo "make install   install under PREFIX (default $(PREFIX))"
	@echo "make test-all  the tests again under sanitizers, valgrind, an outside project, a short fuzz run"
	@echo "make deep      generated code with every combination of options (an hour)"
	@echo "make test-peers  Pinocchio, MuJoCo and KDL as judges"
	@echo "make bench     generated code and recursions beside their peers, derivation and linearization times"
	@echo "make bench-report  a quick run of this machine as a page: build/bench/report.html"
	@echo "make reproduction  docs/reproduction.md, minutes; REPRODUCTION=times: with the times of this machine"
	@echo "make fuzz      fuzz the parsers, then random robots through every route, FUZZ_SECONDS each (default $(FUZZ_SECONDS))"
	@echo "make coverage  line and branch coverage of the tests; what is left: build/coverage/left.txt"
	@echo "make tsan      what has threads under ThreadSanitizer (clang, libomp-dev)"
	@echo "make msan      what stays inside the library under MemorySanitizer (clang)"
	@echo "make mutation  do the tests notice wrong lines? MUTANTS per room (default $(MUTANTS)), SEED"
	@echo "make docs      the documents as a site: build/site/index.html (needs pandoc)"
	@echo "make format    rewrite the C and C++ files by .clang-format"
	@echo "make clean     remove build/"

core:
	@sh packages/install.sh core

all-packages:
	@sh packages/install.sh core all

build: core
	@sh cmake/build.sh release $(JOBS) -DPSDM_WERROR=$(WERROR)
	@ln -sfn release/psdm build/psdm

demo: build
	@sh examples/demo.sh build/psdm

test: build
	@ctest --test-dir build/release -L check -j $(JOBS) --output-on-failure

sanitize: core
	@sh cmake/build.sh asan-ubsan $(JOBS)
	@ctest --test-dir build/asan-ubsan -L check -j $(JOBS) --output-on-failure

tsan: all-packages
	@JOBS=$(JOBS) bash tests/sanitize/tsan.sh

msan: all-packages
	@JOBS=$(JOBS) bash tests/sanitize/msan.sh

mutation: build
	@python3 tests/mutation/mutate.py --count $(MUTANTS) --seed $(SEED) --jobs $(JOBS)

test-all: all-packages build sanitize
	@ctest --test-dir build/release -L deep -j $(JOBS) --output-on-failure

deep: build
	@PSDM=$(CURDIR)/build/psdm SOURCE=$(CURDIR) BUILD=$(CURDIR)/build/release JOBS=$(JOBS) bash tests/codegen/deep_codegen.sh full

coverage: core
	@sh cmake/build.sh coverage $(JOBS)
	@ctest --test-dir build/coverage -L check -j $(JOBS) --output-on-failure
	@sh tests/coverage.sh build/coverage

test-peers: all-packages build
	@bash tests/peers/run.sh

fuzz: all-packages build
	@bash tests/fuzz/run.sh $(FUZZ_SECONDS)
	@bash tests/differential/run.sh $(FUZZ_SECONDS)

bench: all-packages build
	@bash bench/recursions/run.sh
	@bash bench/derive/run.sh
	@bash bench/scaling/run.sh
	@bash bench/linearize/run.sh
	@bash bench/simulate/run.sh
	@bash bench/excite/run.sh
	@bash bench/peers/run.sh
	@bash bench/plan/run.sh
	@bash bench/scale/run.sh
	@bash bench/cuda/run.sh || [ $$? = 77 ]
	@bash bench/python/run.sh

format:
	@git ls-files '*.c' '*.h' '*.cpp' '*.hpp' '*.cu' | xargs clang-format -i

docs:
	@bash docs/site/build.sh build/site

# the papers' numbers beside ours: docs/reproduction.md. REPRODUCTION=times measures the times first
reproduction: build
	@[ "$(REPRODUCTION)" != times ] || PSDM=$$PWD/build/psdm python3 tests/reproduction/reproduction.py times
	@PSDM=$$PWD/build/psdm python3 tests/reproduction/reproduction.py write

bench-report: build
	@bash bench/report.sh

install: build
	@cmake --install build/release --prefix $(PREFIX)

clean:
	@rm -rf build
