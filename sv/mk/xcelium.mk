# SPDX-License-Identifier: Apache-2.0
# Xcelium; docs/how-to/simulators/commercial.md#xcelium. Variables and targets: common.mk.
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk

XRUN ?= xrun
USCOPE_TIMESCALE ?= 1ns/1ps
USCOPE_BUILT += xcelium.d xrun.log xrun.history uscope_compiled

uscope_compiled: $(USCOPE_FILES)
	$(XRUN) -64bit -sv -elaborate -timescale $(USCOPE_TIMESCALE) -incdir $(USCOPE_SV) $(USCOPE_FLAGS) $(USCOPE_FILES) -top $(USCOPE_TOP) -sv_lib $(USCOPE_LIB).so
	touch $@

uscope-compile: uscope_compiled
uscope-run: uscope_compiled
	$(USCOPE_RUN) $(XRUN) -64bit -R -sv_lib $(USCOPE_LIB).so $(USCOPE_RUN_FLAGS)
