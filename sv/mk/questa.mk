# SPDX-License-Identifier: Apache-2.0
# Questa; docs/how-to/simulators/commercial.md#questa. Variables and targets: common.mk.
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk

VLIB ?= vlib
VLOG ?= vlog
VSIM ?= vsim
USCOPE_TIMESCALE ?= 1ns/1ps
USCOPE_BUILT += work uscope_compiled transcript

uscope_compiled: $(USCOPE_FILES)
	$(VLIB) work
	$(VLOG) -64 -sv -timescale $(USCOPE_TIMESCALE) +incdir+$(USCOPE_SV) $(USCOPE_FLAGS) $(USCOPE_FILES)
	touch $@

uscope-compile: uscope_compiled
uscope-run: uscope_compiled
	$(USCOPE_RUN) $(VSIM) -64 -c -sv_lib $(USCOPE_LIB) $(USCOPE_RUN_FLAGS) $(USCOPE_TOP) -do "run -all; quit -f"
