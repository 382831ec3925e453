# SPDX-License-Identifier: Apache-2.0
# What the folders reader, blocks and index have in common. Each compiles its C files into one WebAssembly module, which is checked in:
#
#   make          compiles them anew; needs clang and lld (Debian: clang lld)
#   make test     runs them natively under AddressSanitizer and UBSan
#   make compiler prints which compiler and linker there are
#
# A makefile that includes this file sets FOLDER, MODULE, C_FILES, EXPORTS, STACK, TESTS, and TEST_FILES where its tests have more than
# test_NAME.c; SIMD is empty for a module that does without.
CLANG ?= clang
CC ?= cc
WASM_LD ?= wasm-ld
B = build
OUT = ../../src/wasm
SIMD ?= -msimd128

# The C files and every header that the compiler finds in them.
SOURCES := $(sort $(C_FILES) $(filter %.c %.h,$(shell $(CC) -std=c11 -MM $(C_FILES))))
MAKEFILES = Makefile ../module.mk
# From sdk/kernel, where embed.mjs is.
FILES = $(SOURCES) $(MAKEFILES)
NAMES = $(patsubst ../%,%,$(filter ../%,$(FILES))) $(patsubst %,$(FOLDER)/%,$(filter-out ../%,$(FILES)))
COMPILER := $(shell $(CLANG) --version 2>/dev/null | head -n 1), $(shell $(WASM_LD) --version 2>/dev/null | head -n 1)

# Its own memory, not a shared one: browsers give that to few pages.
WASM_FLAGS = --target=wasm32 -std=c11 -O3 $(SIMD) -mbulk-memory -ffreestanding -Wall -Wextra -Wconversion -nostdlib \
  -Wl,--no-entry -Wl,--strip-all -Wl,-z,stack-size=$(STACK)
TEST_FLAGS = -std=c11 -D_GNU_SOURCE -g -O1 -Wall -Wextra -Wconversion -fsanitize=address,undefined -fno-sanitize-recover=all

.PHONY: all compiler test clean format format-check
all: $(OUT)/$(MODULE).wasm

$(B):
	mkdir -p $@

$(B)/$(MODULE).wasm: $(SOURCES) $(MAKEFILES) | $(B)
	$(CLANG) $(WASM_FLAGS) $(EXPORTS:%=-Wl,--export=%) $(C_FILES) -o $@

$(OUT)/$(MODULE).wasm: $(B)/$(MODULE).wasm ../embed.mjs
	node ../embed.mjs wasm $< $@ '$(COMPILER)' $(NAMES)

$(B)/test_%: test_%.c $(TEST_FILES) ../test_random.h $(SOURCES) | $(B)
	$(CC) $(TEST_FLAGS) $(filter %.c,$^) -o $@

compiler:
	@echo '$(COMPILER)'

test: $(TESTS:%=$(B)/test_%)
	set -e; for name in $(TESTS); do $(B)/test_$$name; done

format:
	clang-format -i *.c *.h
format-check:
	clang-format --dry-run -Werror *.c *.h
clean:
	rm -rf $(B)
