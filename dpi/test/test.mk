# SPDX-License-Identifier: Apache-2.0
# Every test program is built twice: against the library as it is shipped, and with the sanitizers. What needs a simulator's
# svdpi.h, or Verilator, is left out where there is none. Every program is a target that runs it: with -j they are built and
# run next to each other (some wait more than they compute), and -O keeps their output apart.

TEST_COMMON = test/harness.c test/client.c test/fake_daemon.c test/fake_control.c test/fake_records.c test/schema_bytes.c
TEST_HEADERS := $(wildcard test/*.h)
TEST_NAMES = msgpack schema_chunk schema_builder vectors rejections cpu pipeline slot_put lanes checkpoint snapshot endpoint session monitor handles fork control resume policy memory endurance
TEST_CFLAGS = -std=c11 -D_GNU_SOURCE -Iinclude -Isrc -Itest -pthread -g1 -Wall -Wextra -Wno-missing-field-initializers $(CFLAGS)
SANITIZE = -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

ifneq ($(SVDPI_INC),)
TEST_NAMES += shim dpi_checkpoint
$(B)/test_shim $(B)/san_shim $(B)/test_dpi_checkpoint $(B)/san_dpi_checkpoint: SHIM = $(DPI) -isystem $(SVDPI_INC)
endif

# the linker puts the test's own function before the client's, or ZeroMQ's
$(B)/test_fork $(B)/san_fork: WRAP = -Wl,--wrap=uscopei_this_process
$(B)/test_monitor $(B)/san_monitor: WRAP = -Wl,--wrap=zmq_close

# what all of them need, compiled once
TEST_OBJ = $(TEST_COMMON:test/%.c=$(B)/test/%.o)
$(B)/test/%.o: test/%.c $(HEADERS) $(TEST_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) -O1 -c $< -o $@

$(B)/test_%: test/test_%.c $(TEST_OBJ) $(B)/libuscope.a $(DPI)
	$(CC) $(TEST_CFLAGS) -O1 $< $(SHIM) $(TEST_OBJ) $(B)/libuscope.a $(LIBS) $(WRAP) -o $@

# the sanitized client and helpers, compiled once
SAN_OBJ = $(CLIENT:src/%.c=$(B)/san/%.o) $(TEST_COMMON:test/%.c=$(B)/san/%.o)
$(B)/san/%.o: src/%.c $(HEADERS)
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) $(SANITIZE) -c $< -o $@
$(B)/san/%.o: test/%.c $(HEADERS) $(TEST_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) $(SANITIZE) -c $< -o $@

$(B)/san_%: test/test_%.c $(SAN_OBJ) $(DPI)
	$(CC) $(TEST_CFLAGS) $(SANITIZE) $< $(SHIM) $(SAN_OBJ) $(LIBS) $(WRAP) -o $@

$(B)/header_cxx.o: test/header_cxx.cpp $(wildcard include/*.h) | $(B)
	$(CXX) -std=c++11 -Wall -Wextra -Wpedantic -Wshadow -Werror -Iinclude -c $< -o $@

UNIT = $(TEST_NAMES:%=unit-%)
SANITIZED = $(TEST_NAMES:%=sanitized-%)
.PHONY: test-unit test-sanitized test-verilator $(UNIT) $(SANITIZED)
test: test-unit test-sanitized test-verilator

# what `npm test` runs: each program once, with the sanitizers
.PHONY: test-once
test-once: all $(B)/header_cxx.o test-sanitized test-verilator test-short-fuzz

test-unit: all $(B)/header_cxx.o $(UNIT)
$(UNIT): unit-%: $(B)/test_%
	@echo "== $*"
	@$<

test-sanitized: $(SANITIZED)
$(SANITIZED): sanitized-%: $(B)/san_%
	@echo "== $* (AddressSanitizer, UBSan)"
	@LSAN_OPTIONS=suppressions=test/lsan.supp:print_suppressions=0 $<

# -- a real Verilator model, linked against the shared and the static library

VERILATOR ?= verilator
SV = ../sv/uscope_pkg.sv test/verilator/top.sv
# Verilator calls another make, which must not know of ours: it could not share its jobs.
VERILATE = MAKEFLAGS= $(VERILATOR) --cc --exe --build -Wall --top-module top +incdir+../sv -CFLAGS -I$(abspath include)

$(B)/fake_daemon: test/fake_main.c $(TEST_OBJ) $(B)/libuscope.a
	$(CC) $(TEST_CFLAGS) -O1 $< $(TEST_OBJ) $(B)/libuscope.a $(LIBS) -o $@

$(B)/verilator_shared/Vtop: $(SV) ../sv/uscope_dpi.svh test/verilator/main.cpp include/uscope.h $(B)/libuscope_dpi.so
	$(VERILATE) --Mdir $(@D) -LDFLAGS "-L$(abspath $(B)) -Wl,-rpath,$(abspath $(B)) -luscope_dpi" $(SV) $(abspath test/verilator/main.cpp) > $(B)/verilator_shared.log
	touch $@

$(B)/verilator_static/Vtop: $(SV) ../sv/uscope_dpi.svh test/verilator/main.cpp include/uscope.h $(B)/libuscope_dpi.a
	rm -f $@
	$(VERILATE) --Mdir $(@D) -LDFLAGS "$(abspath $(B))/libuscope_dpi.a -lzmq -lpthread" $(SV) $(abspath test/verilator/main.cpp) > $(B)/verilator_static.log

ifeq ($(shell command -v $(VERILATOR) 2>/dev/null),)
test-verilator:
	@echo "No Verilator: its tests are left out."
else
test-verilator: $(B)/fake_daemon $(B)/verilator_shared/Vtop $(B)/verilator_static/Vtop
	@echo "== Verilator"
	$(VERILATOR) --lint-only -Wall --top-module top +incdir+../sv $(SV)
	@test/verilator/run.sh $(B)/fake_daemon $(B)/verilator_shared/Vtop $(B)/verilator_static/Vtop
endif

# -- what calls cost: a command that prints, no test

$(B)/verilator_bench/Vtop: ../sv/uscope_pkg.sv ../sv/uscope_dpi.svh test/verilator/bench.sv test/verilator/bench.cpp $(B)/libuscope_dpi.a
	rm -f $@
	$(VERILATOR) --cc --exe --build -Wall -Wno-DECLFILENAME -O3 --top-module top +incdir+../sv -CFLAGS "-O2" --Mdir $(@D) \
	  -LDFLAGS "$(abspath $(B))/libuscope_dpi.a -lzmq -lpthread" ../sv/uscope_pkg.sv test/verilator/bench.sv \
	  $(abspath test/verilator/bench.cpp) > $(B)/verilator_bench.log

.PHONY: bench-calls
bench-calls: $(B)/fake_daemon $(B)/verilator_bench/Vtop
	@test/verilator/bench.sh $^

include test/robust.mk
