# SPDX-FileCopyrightText: Tenure contributors
# SPDX-License-Identifier: MIT

# The documented entry point. It calls scripts/ and the presets of CMakePresets.json, which also work without it.

PREFIX ?= /usr/local
OUT ?= results/$(shell date +%Y-%m-%d_%H.%M.%S)
JOBS ?= $(shell nproc)
PACKAGES ?= build/packages

help:
	@echo "make bench     set up, build, run every experiment; report in results/   FULL=1 full sizes, ARGS=\"lifetimes --count 1000\", OUT=DIR"
	@echo "make test      set up, run every check and every test"
	@echo "make test-platforms  set up, build and test arm64, musl, Windows and other page sizes, under emulators"
	@echo "make install   set up, build, install                                     PREFIX=$(PREFIX)"
	@echo "make install-library  the library alone, without command and bench: needs no other library  PREFIX=$(PREFIX)"
	@echo "make pack      set up, build, pack for .NET                                PACKAGES=$(PACKAGES)"
	@echo "make docs      set up, build the documentation as a site, in build/docs/site"
	@echo "make packages  set up, build, make DEB, RPM and TGZ                         PACKAGES=$(PACKAGES)"
	@echo "make fuzz      set up, run each fuzzer in all its forms, one hour each    SECONDS=60"
	@echo "make format    format the sources"
	@echo "make clean     remove build/ (keeps results/)"
	@echo
	@echo "NO_INSTALL=1 prints what is missing on this machine instead of installing it."

release:
	@scripts/setup bench
	@cmake --preset release -DTENURE_TESTS=OFF --log-level=NOTICE
	@cmake --build build/release -j $(JOBS)

bench: release
	@build/release/tenure bench --out $(OUT) $(if $(FULL),--full) $(ARGS)

test:
	@scripts/setup test
	@scripts/test

test-platforms:
	@scripts/setup platforms
	@scripts/test_platforms

fuzz:
	@scripts/setup test
	@scripts/fuzz $(or $(SECONDS),3600)

install: release
	@cmake --install build/release --prefix $(PREFIX)

# Without the command and the bench: needs no set-up, only a compiler, CMake and ninja.
install-library:
	@cmake --preset release -B build/library -DTENURE_TESTS=OFF -DTENURE_LAB=OFF --log-level=NOTICE
	@cmake --build build/library -j $(JOBS)
	@cmake --install build/library --prefix $(PREFIX)

pack:
	@scripts/pack --check
	@scripts/setup bench
	@JOBS=$(JOBS) scripts/pack $(PACKAGES)

docs:
	@scripts/setup docs
	@scripts/docs

packages:
	@scripts/setup packages
	@JOBS=$(JOBS) scripts/packages $(PACKAGES)

format:
	@scripts/setup test
	@scripts/format

clean:
	rm -rf build

.PHONY: help release bench test test-platforms fuzz install install-library pack packages docs format clean
