# SPDX-License-Identifier: Apache-2.0
# ThreadSanitizer, and fuzzing of everything the client parses.

TSAN_NAMES = endurance session resume control
TSAN_FLAGS = -O1 -fsanitize=thread -fno-omit-frame-pointer

TSAN_OBJ = $(CLIENT:src/%.c=$(B)/tsan/%.o) $(TEST_COMMON:test/%.c=$(B)/tsan/%.o)
$(B)/tsan/%.o: src/%.c $(HEADERS)
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) $(TSAN_FLAGS) -c $< -o $@
$(B)/tsan/%.o: test/%.c $(HEADERS) $(TEST_HEADERS)
	@mkdir -p $(@D)
	$(CC) $(TEST_CFLAGS) $(TSAN_FLAGS) -c $< -o $@
$(B)/tsan_%: test/test_%.c test/tsan_zmq.c $(TSAN_OBJ)
	$(CC) $(TEST_CFLAGS) $(TSAN_FLAGS) $< test/tsan_zmq.c $(TSAN_OBJ) $(LIBS) -Wl,--wrap=zmq_msg_init_data -o $@

THREADED = $(TSAN_NAMES:%=threads-%)
.PHONY: test-threads test-fuzz fuzz $(THREADED)
test: test-threads test-short-fuzz

test-threads: $(THREADED)
$(THREADED): threads-%: $(B)/tsan_%
	@echo "== $* (ThreadSanitizer)"
	@TSAN_OPTIONS=suppressions=test/tsan.supp:halt_on_error=1:atexit_sleep_ms=0 $<

# -- ten thousand traces one after the other, under LeakSanitizer too
LIVES ?= 10000
.PHONY: endurance
endurance: $(B)/test_endurance $(B)/san_endurance
	LIVES=$(LIVES) $(B)/test_endurance many_traces
	LIVES=$(LIVES) LSAN_OPTIONS=suppressions=test/lsan.supp:print_suppressions=0 $(B)/san_endurance many_traces

# -- fuzzing: make fuzz RUNS=1000000, or make fuzz FUZZ_SECONDS=60 for 60 s each. What is found stays in build/found_*. A short form, with the
# sanitized client and without libFuzzer, is part of the tests.

CLANG ?= clang
FUZZ_NAMES = message schema replies keys
RUNS ?= 1000000
FUZZ_LIMIT = $(if $(FUZZ_SECONDS),-max_total_time=$(FUZZ_SECONDS),-runs=$(RUNS))
FUZZ_FLAGS = -std=c11 -D_GNU_SOURCE -Iinclude -Isrc -Itest -pthread -g -O1 -fno-sanitize-recover=all
FUZZ_OBJ = $(CLIENT:src/%.c=$(B)/fuzzing/%.o)

$(B)/fuzzing/%.o: src/%.c $(HEADERS)
	@mkdir -p $(@D)
	$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer-no-link,address,undefined -c $< -o $@
$(B)/fuzz_%: test/fuzz/fuzz_%.c $(FUZZ_OBJ)
	$(CLANG) $(FUZZ_FLAGS) -fsanitize=fuzzer,address,undefined $^ $(LIBS) -o $@

# Seeds are only read: what fuzzing finds goes to the first directory.
SEEDS_message = ../test/vectors/bridge
SEEDS_replies = ../test/vectors/bridge
SEEDS_schema = ../test/vectors/format
SEEDS_keys = test/fuzz/keys
FUZZ_OPTIONS = -max_len=8192 -rss_limit_mb=512 -verbosity=0 -print_final_stats=1 -dict=test/fuzz/bridge.dict
FUZZ_LINES = grep -E 'stat::number_of_executed_units|ERROR|SUMMARY|panic|runtime error'

$(B)/fuzzed_%: $(B)/fuzz_% FORCE
	@mkdir -p $(B)/corpus/$*
	@echo "== fuzz $* ($(if $(FUZZ_SECONDS),$(FUZZ_SECONDS) s,$(RUNS) inputs))"
	@$< $(FUZZ_LIMIT) $(FUZZ_OPTIONS) -artifact_prefix=$(B)/found_$*_ $(B)/corpus/$* $(SEEDS_$*) > $@.log 2>&1 \
	  && $(FUZZ_LINES) $@.log || { tail -40 $@.log; exit 1; }

SHORT_FUZZ = $(FUZZ_NAMES:%=short-fuzz-%)
$(B)/short_%: test/fuzz/fuzz_%.c test/fuzz/short.c $(CLIENT:src/%.c=$(B)/san/%.o)
	$(CC) $(TEST_CFLAGS) $(SANITIZE) $^ $(LIBS) -o $@

.PHONY: test-short-fuzz $(SHORT_FUZZ)
test-short-fuzz: $(SHORT_FUZZ)
$(SHORT_FUZZ): short-fuzz-%: $(B)/short_%
	@echo "== short fuzz $*"
	@$< 5000 $(SEEDS_$*)

.PHONY: FORCE
# What make would take for a step on the way, and delete.
.SECONDARY: $(SAN_OBJ) $(TSAN_OBJ) $(FUZZ_OBJ) $(FUZZ_NAMES:%=$(B)/fuzz_%)
fuzz: $(FUZZ_NAMES:%=$(B)/fuzzed_%)

# A compiler without its runtime for fuzzing (libclang-rt-dev) links no fuzzer.
ifeq ($(shell echo 'int LLVMFuzzerTestOneInput(void){return 0;}' | $(CLANG) -x c - -fsanitize=fuzzer,address,undefined -o /dev/null 2>/dev/null && echo yes),)
test-fuzz:
	@echo "No clang with libFuzzer: fuzzing is left out."
else
test-fuzz:
	@$(MAKE) --no-print-directory fuzz RUNS=5000
endif
