# SPDX-License-Identifier: Apache-2.0
# DSim; docs/how-to/simulators/commercial.md#dsim. Variables and targets: common.mk.
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk

DSIM ?= dsim
USCOPE_TIMESCALE ?= 1ns/1ps
USCOPE_BUILT += dsim_work uscope_compiled dsim.log dsim.env metrics.db

uscope_compiled: $(USCOPE_FILES)
	$(DSIM) -timescale $(USCOPE_TIMESCALE) +incdir+$(USCOPE_SV) $(USCOPE_FLAGS) $(USCOPE_FILES) -top work.$(USCOPE_TOP) -genimage image
	touch $@

uscope-compile: uscope_compiled
uscope-run: uscope_compiled
	$(USCOPE_RUN) $(DSIM) -image image -sv_lib $(USCOPE_LIB).so $(USCOPE_RUN_FLAGS)
