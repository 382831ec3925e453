# SPDX-License-Identifier: Apache-2.0
# Where the fragments of simulators find the library and the command after `make install`.
USCOPE_DPI ?= $(USCOPE_HOME)/../../lib
USCOPE_CLI ?= uscope
