# The short commands. CMake and its presets do the work; `make help` lists what there is.
# JOBS=n changes how many compilers and tests run at once.

JOBS ?= $(shell nproc)
CI ?=
# Warnings are errors in CI, where the compiler is known; a newer compiler elsewhere must not stop a user's build.
WERROR := $(if $(CI),ON,OFF)

.PHONY: build everything demo test nightly bench docs hooks format tidy clean help

# BUNDLED=ON builds fmt, nlohmann-json, toml++ and CLI11 too, from archives (docs/how-to/install.md).
BUNDLED ?= OFF
CONFIGURE := -DFOREBAY_WERROR=$(WERROR) -DFOREBAY_BUNDLED=$(BUNDLED)
export FOREBAY_BUNDLED := $(BUNDLED)

build:  ## build/bin/forebay, the libraries in build/lib and the example simulations; in a folder of `make test` the tests too
	scripts/bootstrap build
	cmake --preset programs $(CONFIGURE) \
	    $$(grep -qs '^FOREBAY_TESTS:BOOL=ON' build/CMakeCache.txt && echo -DFOREBAY_TESTS=ON)
	cmake --build build --parallel $(JOBS)

everything:
	scripts/bootstrap
	cmake --preset release $(CONFIGURE)
	cmake --build build --parallel $(JOBS)

# bench/results/build.csv: seconds of compilers, which cores share.
DEMO_BUILD_SECONDS = 620

demo:  ## a cosmology run that is killed, drained, restarted on other ranks and proved equal; builds no more than that
	@[ -x build/bin/nbody ] || printf 'First it builds: about %s minutes on $(JOBS) idle cores, longer if others use them.\n' \
	    $$(( ($(DEMO_BUILD_SECONDS) / $(JOBS) + 59) / 60 ))
	scripts/bootstrap demo
	[ -e build/build.ninja ] || cmake --preset demo $(CONFIGURE)
	cmake --build build --parallel $(JOBS) --target forebay_program nbody
	scripts/demo

test: everything  ## every test there is, formatting and documentation links too
	scripts/run_tests $(JOBS)

nightly: everything  ## the long tests: 100,000 crashes on the simulated disk, 300 runs with real kills
	ctest --preset nightly --parallel $(JOBS)

bench: everything  ## save, drain, restart and plan against their limits; PALM's data and jitter against other libraries
	cmake --preset release -DFOREBAY_BENCH=ON
	cmake --build build --parallel $(JOBS)
	bench/run

VERSION := $(shell sed -nE 's,^project.forebay VERSION ([0-9.]+) .*,\1,p' CMakeLists.txt)

build/docs-venv/.made: requirements-docs.txt
	python3 -m venv --clear build/docs-venv
	build/docs-venv/bin/pip install --quiet --disable-pip-version-check --requirement requirements-docs.txt
	touch $@

docs: build/docs-venv/.made  ## the documentation as a site, build/site/index.html; fails if a link is broken
	scripts/site_pages
	NO_MKDOCS_2_WARNING=1 FOREBAY_SITE_NAME='Forebay $(VERSION)' build/docs-venv/bin/mkdocs build --strict --quiet
	@if command -v node >/dev/null; then scripts/check_search; else \
	    echo 'The search was not checked. Next: apt-get install nodejs, then make docs'; fi
	@echo 'build/site/index.html. With the search: python3 -m http.server --directory build/site'

hooks:  ## lets git check the messages of your commits
	scripts/commit_message --install

format:  ## rewrites the sources in the style of the project, and fills lines of pages that are too long
	find $(wildcard include src transfer apps tests docs) -name '*.[ch]pp' -o -name '*.[ch]' | xargs clang-format-14 -i
	python3 tests/repo/lines_test.py --wrap

tidy: everything  ## clang-tidy over all sources (slow)
	scripts/tidy $(JOBS)

clean:  ## removes every build folder, the Python environment of the tests too
	rm -rf build build-*

help:  ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 12
