# SPDX-License-Identifier: Apache-2.0
# `make -C dpi -f install/prebuilt.mk PREBUILT=DIR PREFIX=DIR`: what `make install` installs, with libraries that are built already and have libzmq
# in them. The result may be moved: its pkg-config files name places by their own.
VERSION := $(shell sed -n 's/^\#define USCOPE_VERSION_STRING *"\(.*\)"/\1/p' include/uscope.h)
SVDPI_INC := prebuilt
B := $(PREBUILT)
TARGETS := $(B)/libuscope.so $(B)/libuscope_dpi.so
ZMQ_LIBS :=
PC_PREFIX := $${pcfiledir}/../..

.PHONY: prebuilt all
prebuilt: install
all: $(TARGETS)

include install/install.mk
