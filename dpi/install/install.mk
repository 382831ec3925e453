# SPDX-License-Identifier: Apache-2.0
# `make install`: headers, libraries, pkg-config and CMake packages, and the SystemVerilog with its schemas and makefile fragments.

# Debian's libzmq.pc names libraries for static linking that its packages do not have: the library itself is what our archives need.
ZMQ_LIBS ?= $(or $(shell pkg-config --libs libzmq 2>/dev/null),-lzmq)
INSTALL_TO = $(DESTDIR)$(PREFIX)
# As the pkg-config files have it.
PC_PREFIX ?= $(PREFIX)
# $(call fill,TEMPLATE,FILE)
fill = sed -e 's|@PREFIX@|$(PC_PREFIX)|' -e 's|@VERSION@|$(VERSION)|' -e 's|@ZMQ@|$(strip $(ZMQ_LIBS))|' $(1) > $(2)
SV_FILES := $(wildcard ../sv/*.sv ../sv/*.svh ../sv/*.yaml ../sv/*.core ../sv/Bender.yml)
CLIENT_HEADERS := $(wildcard include/*.h include/*.hpp)
PC_FILES := uscope $(if $(SVDPI_INC),uscope_dpi)

$(B)/uscope.pc: install/uscope.pc.in include/uscope.h | $(B)
	$(call fill,$<,$@)

install: all
	install -d $(INSTALL_TO)/include $(INSTALL_TO)/lib/pkgconfig $(INSTALL_TO)/lib/cmake/uscope $(INSTALL_TO)/share/uscope/sv/mk
	install -m 644 $(CLIENT_HEADERS) $(INSTALL_TO)/include/
	$(if $(filter %.a,$(TARGETS)),install -m 644 $(filter %.a,$(TARGETS)) $(INSTALL_TO)/lib/)
	install -m 755 $(filter %.so,$(TARGETS)) $(INSTALL_TO)/lib/
	$(foreach name,$(PC_FILES),$(call fill,install/$(name).pc.in,$(INSTALL_TO)/lib/pkgconfig/$(name).pc) &&) true
	install -m 644 install/uscopeConfig.cmake $(INSTALL_TO)/lib/cmake/uscope/
	$(call fill,install/uscopeConfigVersion.cmake.in,$(INSTALL_TO)/lib/cmake/uscope/uscopeConfigVersion.cmake)
	install -m 644 $(SV_FILES) $(INSTALL_TO)/share/uscope/sv/
	install -m 644 $(wildcard ../sv/mk/*.mk) $(INSTALL_TO)/share/uscope/sv/mk/
	install -m 644 install/place.mk $(INSTALL_TO)/share/uscope/place.mk
