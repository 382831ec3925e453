# SPDX-License-Identifier: Apache-2.0
# One prebuilt folder: the client library, the DPI library and the writer's addon for one machine, with libzmq and libsodium in them.
# native.mjs calls it, with
#
#   ZIG       the compiler, which links against a chosen glibc
#   TARGET    such as x86_64-linux-gnu.2.28
#   ARCH      x86_64 or aarch64
#   ZMQ       sources of libzmq
#   SODIUM    sources of libsodium, of a distribution (version.h is made)
#   ROOT      the repository
#   B         where objects go
#   OUT       where the results go
#   SVDPI_INC, NODE_HEADERS

CC = $(ZIG) cc -target $(TARGET)
CXX = $(ZIG) c++ -target $(TARGET)
AR = $(ZIG) ar
SODIUM_VERSION = $(B)/include/sodium/version.h
OPTIMISED = -O2 -g0 -fPIC -fvisibility=hidden -fno-sanitize=undefined -pthread -w

.PHONY: all
all: $(OUT)/libuscope.so $(OUT)/libuscope_dpi.so $(OUT)/kernel.node

# libzmq without what the client does not use: WebSockets, PGM, NORM, GSSAPI, VMCI, TIPC. What Linux has since 3.9 is there.
ZMQ_HAS = EVENTFD EVENTFD_CLOEXEC IFADDRS O_CLOEXEC SOCK_CLOEXEC SO_KEEPALIVE TCP_KEEPCNT TCP_KEEPIDLE TCP_KEEPINTVL SO_BINDTODEVICE \
  SO_PEERCRED SO_PRIORITY BUSY_POLL PTHREAD_SETNAME_2 PTHREAD_SET_AFFINITY PPOLL UIO IPC STRUCT_SOCKADDR_UN NOEXCEPT CURVE
ZMQ_FLAGS = -std=c++11 $(ZMQ_HAS:%=-DZMQ_HAVE_%) -DZMQ_STATIC -DZMQ_USE_CV_IMPL_STL11 -DZMQ_IOTHREAD_POLLER_USE_EPOLL \
  -DZMQ_IOTHREAD_POLLER_USE_EPOLL_CLOEXEC -DZMQ_POLL_BASED_ON_POLL -DZMQ_CACHELINE_SIZE=64 -DZMQ_USE_LIBSODIUM -DSODIUM_STATIC \
  -DHAVE_POSIX_MEMALIGN -DHAVE_FORK -DHAVE_CLOCK_GETTIME -DHAVE_MKDTEMP -DHAVE_ACCEPT4 -DHAVE_STRNLEN -DHAVE_IF_NAMETOINDEX -D_GNU_SOURCE
ZMQ_SOURCES := $(filter-out $(ZMQ)/src/ws_% $(ZMQ)/src/wss_%,$(wildcard $(ZMQ)/src/*.cpp))
ZMQ_OBJECTS = $(ZMQ_SOURCES:$(ZMQ)/src/%.cpp=$(B)/zmq/%.o)

$(B)/zmq/platform.hpp:
	@mkdir -p $(@D)
	touch $@
$(B)/zmq/%.o: $(ZMQ)/src/%.cpp $(B)/zmq/platform.hpp $(SODIUM_VERSION)
	$(CXX) $(OPTIMISED) $(ZMQ_FLAGS) -I$(B)/zmq -I$(ZMQ)/include -I$(ZMQ)/src -I$(SODIUM_INCLUDE) -I$(SODIUM_INCLUDE)/sodium -I$(B)/include -c $< -o $@
$(B)/libzmq.a: $(ZMQ_OBJECTS)
	rm -f $@ && $(AR) rcs $@ $^

# libsodium with what its configure finds on Linux (its build.zig has the same list).
SODIUM_INCLUDE = $(SODIUM)/src/libsodium/include
SODIUM_HAS = C11_MEMORY_FENCES GCC_MEMORY_FENCES ATOMIC_OPS INLINE_ASM INTTYPES_H STDINT_H TI_MODE CATCHABLE_ABRT CATCHABLE_SEGV CLOCK_GETTIME GETPID \
  MADVISE MLOCK MMAP MPROTECT NANOSLEEP POSIX_MEMALIGN PTHREAD_PRIO_INHERIT PTHREAD RAISE SYSCONF SYS_AUXV_H SYS_MMAN_H SYS_PARAM_H \
  SYS_RANDOM_H WEAK_SYMBOLS
SODIUM_HAS_x86_64 = AMD64_ASM AVX_ASM CPUID XGETBV_ASM MMINTRIN_H EMMINTRIN_H PMMINTRIN_H TMMINTRIN_H SMMINTRIN_H AVXINTRIN_H AVX2INTRIN_H \
  AVX512FINTRIN_H WMMINTRIN_H RDRAND
SODIUM_HAS_aarch64 = ARMCRYPTO
SODIUM_FLAGS = $(foreach name,$(SODIUM_HAS) $(SODIUM_HAS_$(ARCH)),-DHAVE_$(name)) -D_GNU_SOURCE -DCONFIGURED -DDEV_MODE -DNATIVE_LITTLE_ENDIAN \
  -DASM_HIDE_SYMBOL=.hidden -DTLS=_Thread_local -DSODIUM_STATIC \
  -fno-strict-aliasing -fwrapv -flax-vector-conversions
SODIUM_SOURCES := $(shell find $(SODIUM)/src/libsodium -name '*.c' -o -name '*.S' | sort)
SODIUM_OBJECTS = $(addsuffix .o,$(SODIUM_SOURCES:$(SODIUM)/src/libsodium/%=$(B)/sodium/%))

$(SODIUM_VERSION): $(SODIUM)/builds/msvc/version.h
	@mkdir -p $(@D)
	cp $< $@
$(B)/sodium/%.o: $(SODIUM)/src/libsodium/% $(SODIUM_VERSION)
	@mkdir -p $(@D)
	$(CC) $(OPTIMISED) $(SODIUM_FLAGS) -I$(SODIUM_INCLUDE)/sodium -I$(SODIUM_INCLUDE) -I$(B)/include/sodium -I$(B)/include -c $< -o $@
$(B)/libsodium.a: $(SODIUM_OBJECTS)
	rm -f $@ && $(AR) rcs $@ $^

# Our own, by their makefiles. libzmq's C++ runtime is linked in as well, so c++ links.
DPI = $(MAKE) --no-print-directory -C $(ROOT)/dpi B=$(B)/dpi CC="$(CC)" LINK="$(CXX)" AR="$(AR)" OPT="-O2 -g0" SVDPI_INC=$(SVDPI_INC) \
  CFLAGS="-fno-sanitize=undefined -I$(ZMQ)/include" LDFLAGS="-s" LIBS="$(B)/libzmq.a $(B)/libsodium.a -lpthread"

$(OUT)/lib%.so: $(B)/libzmq.a $(B)/libsodium.a FORCE
	@mkdir -p $(B)/dpi $(@D)
	$(DPI) $(B)/dpi/$(@F)
	cp $(B)/dpi/$(@F) $@

$(OUT)/kernel.node: FORCE
	@mkdir -p $(B)/kernel $(@D)
	$(MAKE) --no-print-directory -C $(ROOT)/sdk/kernel/native B=$(B)/kernel CC="$(CC)" LISTS=cc HEADERS=$(NODE_HEADERS) CFLAGS="-fno-sanitize=undefined" LDFLAGS="-s" \
	  $(B)/kernel/kernel.node
	cp $(B)/kernel/kernel.node $@

.PHONY: FORCE
FORCE:
