# SPDX-License-Identifier: Apache-2.0
# VCS; docs/how-to/simulators/commercial.md#vcs. Variables and targets: common.mk.
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk

VCS ?= vcs
USCOPE_TIMESCALE ?= 1ns/1ps
USCOPE_BUILT += simv simv.daidir csrc ucli.key

simv: $(USCOPE_FILES)
	$(VCS) -full64 -sverilog -timescale=$(USCOPE_TIMESCALE) +incdir+$(USCOPE_SV) $(USCOPE_FLAGS) $(USCOPE_FILES) -top $(USCOPE_TOP) -o $@

uscope-compile: simv
uscope-run: simv
	$(USCOPE_RUN) ./simv -sv_lib $(USCOPE_LIB) $(USCOPE_RUN_FLAGS)
