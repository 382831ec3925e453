# SPDX-License-Identifier: Apache-2.0
# Verilator 5.006 or later; docs/simulators/verilator.md. Variables and targets: common.mk.
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk

VERILATOR ?= verilator
USCOPE_BUILT += obj_dir

# The old program is removed first: Verilator's makefile does not know the library that -LDFLAGS names.
obj_dir/V$(USCOPE_TOP): $(USCOPE_FILES) $(USCOPE_LIB).a
	rm -f $@
	$(VERILATOR) --binary --top-module $(USCOPE_TOP) -I$(USCOPE_SV) -LDFLAGS "$(USCOPE_LIB).a -lzmq -lpthread" $(USCOPE_FLAGS) $(USCOPE_FILES)

uscope-compile: obj_dir/V$(USCOPE_TOP)
uscope-run: obj_dir/V$(USCOPE_TOP)
	$(USCOPE_RUN) $< $(USCOPE_RUN_FLAGS)
