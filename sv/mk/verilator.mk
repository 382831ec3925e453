# SPDX-License-Identifier: Apache-2.0
# Verilator 5.006 or later; docs/how-to/simulators/verilator.md. Variables and targets: common.mk.
include $(dir $(lastword $(MAKEFILE_LIST)))common.mk

VERILATOR ?= verilator
USCOPE_BUILT += obj_dir

# The old program is removed first: Verilator's makefile does not know the library that -LDFLAGS names.
# The archive, which is called more quickly, or the prebuilt library, which has libzmq in it.
USCOPE_LINKED = $(or $(wildcard $(USCOPE_LIB).a),$(USCOPE_LIB).so)
comma := ,
obj_dir/V$(USCOPE_TOP): $(USCOPE_FILES) $(USCOPE_LINKED)
	rm -f $@
	$(VERILATOR) --binary --top-module $(USCOPE_TOP) -I$(USCOPE_SV) -LDFLAGS "$(if $(filter %.a,$(USCOPE_LINKED)),$(USCOPE_LINKED) -lzmq -lpthread,-L$(USCOPE_DPI) -Wl$(comma)-rpath$(comma)$(USCOPE_DPI) -luscope_dpi)" $(USCOPE_FLAGS) $(USCOPE_FILES)

uscope-compile: obj_dir/V$(USCOPE_TOP)
uscope-run: obj_dir/V$(USCOPE_TOP)
	$(USCOPE_RUN) $< $(USCOPE_RUN_FLAGS)
