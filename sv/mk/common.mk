# SPDX-License-Identifier: Apache-2.0
# What the fragments of all simulators share. Included by them, not by users. In the including Makefile, before the include:
#
#   USCOPE_TOP       top module                                     (tb)
#   USCOPE_SOURCES   your files, in order: design, test bench, tracer
#   USCOPE_SCHEMA    schema file of the trace                       (core.yaml)
#   USCOPE_PACKAGES  of sv/: uscope_cpu_pkg, uscope_noc_pkg besides uscope_pkg, which is always there
#   USCOPE_OUT       directory of the traces                        (traces)
#   USCOPE_FLAGS     further flags of the compilation
#   USCOPE_RUN_FLAGS further flags of the run: plusargs, seeds
#
# Targets: uscope-compile, uscope-run, uscope-check (no simulator and no licence needed), uscope-clean.

USCOPE_HOME := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))/../..)
# Written by `make install`: where the library and the command are then.
-include $(USCOPE_HOME)/place.mk
USCOPE_TOP ?= tb
USCOPE_SCHEMA ?= core.yaml
USCOPE_OUT ?= traces
# A clone, or the directory share/ of an installed package, which has the library, or where `uscope config --build DIR` makes it.
USCOPE_CLI ?= $(if $(shell command -v node 2>/dev/null),node $(firstword $(wildcard $(USCOPE_HOME)/sdk/bin/uscope.js) $(USCOPE_HOME)/../bin/uscope.js),uscope)
USCOPE_DPI ?= $(or $(USCOPE_LIB_DIR),$(wildcard $(USCOPE_HOME)/dpi/build),$(shell $(USCOPE_CLI) config --lib-path 2>/dev/null),$(USCOPE_HOME)/dpi/build)

USCOPE_SV := $(USCOPE_HOME)/sv
USCOPE_TRACE_PKG := $(basename $(notdir $(USCOPE_SCHEMA)))_trace_pkg.sv
USCOPE_FILES = $(USCOPE_SV)/uscope_pkg.sv $(USCOPE_PACKAGES:%=$(USCOPE_SV)/%.sv) $(USCOPE_TRACE_PKG) $(USCOPE_SOURCES)
USCOPE_LIB := $(USCOPE_DPI)/libuscope_dpi
USCOPE_RUN = $(USCOPE_CLI) run --schema $(USCOPE_SCHEMA) --out $(USCOPE_OUT) --
# What `uscope-clean` removes besides the generated package; the fragments add to it.
USCOPE_BUILT := $(USCOPE_TRACE_PKG)

.PHONY: uscope-compile uscope-run uscope-check uscope-clean
# What `make` alone does, unless the including Makefile has defined a target before.
uscope-run:

$(USCOPE_TRACE_PKG): $(USCOPE_SCHEMA)
	$(USCOPE_CLI) codegen $< --sv --output $@

# The library is there, is of this machine's kind, and the loader finds what it needs. Where Verilator is installed the sources pass it.
uscope-check: $(USCOPE_TRACE_PKG)
	test -f $(USCOPE_LIB).so
	! ldd $(USCOPE_LIB).so | grep 'not found'
	if command -v verilator > /dev/null; then verilator --lint-only --timing -Wno-fatal --top-module $(USCOPE_TOP) -I$(USCOPE_SV) $(USCOPE_FILES); fi

uscope-clean:
	rm -rf $(USCOPE_BUILT)
