# SPDX-License-Identifier: Apache-2.0
# Riviera-PRO; docs/how-to/simulators/commercial.md#riviera-pro. Variables and targets: common.mk.
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk

VLIB ?= vlib
VLOG ?= vlog
VSIM ?= vsim
USCOPE_TIMESCALE ?= 1ns/1ps
USCOPE_BUILT += work library.cfg uscope_compiled

uscope_compiled: $(USCOPE_FILES)
	$(VLIB) work
	$(VLOG) -timescale $(USCOPE_TIMESCALE) +incdir+$(USCOPE_SV) $(USCOPE_FLAGS) $(USCOPE_FILES)
	touch $@

uscope-compile: uscope_compiled
uscope-run: uscope_compiled
	$(USCOPE_RUN) $(VSIM) -c -do "vsim -sv_lib $(USCOPE_LIB) $(USCOPE_RUN_FLAGS) $(USCOPE_TOP); run -all; exit"
