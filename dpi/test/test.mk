# SPDX-License-Identifier: Apache-2.0
# Tests are linked against the objects, so that inner parts can be tested too.

TEST_COMMON = test/harness.c test/fake_daemon.c test/schema_bytes.c
TEST_NAMES = session
TEST_CFLAGS = -std=c11 -D_GNU_SOURCE -Iinclude -Isrc -Itest -pthread -g -Wall -Wextra $(CFLAGS)
SANITIZE = -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

$(B)/test_%: test/test_%.c $(TEST_COMMON) $(B)/libuscope.a $(wildcard test/*.h)
	$(CC) $(TEST_CFLAGS) -O1 $< $(TEST_COMMON) $(B)/libuscope.a $(LIBS) -o $@

$(B)/san_%: test/test_%.c $(TEST_COMMON) $(CLIENT) $(HEADERS) $(wildcard test/*.h)
	$(CC) $(TEST_CFLAGS) $(SANITIZE) $< $(TEST_COMMON) $(CLIENT) $(LIBS) -o $@

test: all $(TEST_NAMES:%=$(B)/test_%) $(TEST_NAMES:%=$(B)/san_%)
	@set -e; for t in $(TEST_NAMES); do echo "== $$t"; $(B)/test_$$t; done
	@set -e; for t in $(TEST_NAMES); do echo "== $$t (AddressSanitizer, UBSan)"; $(B)/san_$$t; done
