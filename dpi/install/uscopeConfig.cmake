# SPDX-License-Identifier: Apache-2.0
# find_package(uscope [COMPONENTS client dpi]) defines
#
#   uscope::client, uscope::client_static   the client, for models in C and C++
#   uscope::dpi, uscope::dpi_static         the DPI layer and the client, for simulators of SystemVerilog
#   uscope_SV_DIR                           the SystemVerilog packages, their schemas and the RVFI monitor
#   uscope_LIB_DIR                          the libraries
#
# The static ones need libzmq: USCOPE_ZMQ_LIBRARY names it where CMake does not find it.

get_filename_component(_uscope_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(uscope_LIB_DIR "${_uscope_prefix}/lib")
set(uscope_SV_DIR "${_uscope_prefix}/share/uscope/sv")

include(CMakeFindDependencyMacro)
find_dependency(Threads)
find_library(USCOPE_ZMQ_LIBRARY zmq HINTS "${_uscope_prefix}/lib")

function(_uscope_target name kind file)
  if(TARGET uscope::${name} OR NOT EXISTS "${file}")
    return()
  endif()
  add_library(uscope::${name} ${kind} IMPORTED)
  set_target_properties(uscope::${name} PROPERTIES
    IMPORTED_LOCATION "${file}" INTERFACE_INCLUDE_DIRECTORIES "${_uscope_prefix}/include")
  if(kind STREQUAL "STATIC")
    set(zmq "${USCOPE_ZMQ_LIBRARY}")
    if(NOT zmq)
      set(zmq zmq)
    endif()
    set_property(TARGET uscope::${name} PROPERTY INTERFACE_LINK_LIBRARIES "${zmq};Threads::Threads;${CMAKE_DL_LIBS}")
  else()
    get_filename_component(soname "${file}" NAME)
    set_property(TARGET uscope::${name} PROPERTY IMPORTED_SONAME "${soname}")
  endif()
endfunction()

_uscope_target(client SHARED "${uscope_LIB_DIR}/libuscope.so")
_uscope_target(client_static STATIC "${uscope_LIB_DIR}/libuscope.a")
_uscope_target(dpi SHARED "${uscope_LIB_DIR}/libuscope_dpi.so")
_uscope_target(dpi_static STATIC "${uscope_LIB_DIR}/libuscope_dpi.a")

foreach(_uscope_component IN LISTS uscope_FIND_COMPONENTS)
  if(TARGET uscope::${_uscope_component})
    set(uscope_${_uscope_component}_FOUND TRUE)
  else()
    set(uscope_${_uscope_component}_FOUND FALSE)
    if(uscope_FIND_REQUIRED_${_uscope_component})
      set(uscope_FOUND FALSE)
      set(uscope_NOT_FOUND_MESSAGE
        "uscope was installed without ${_uscope_component}: make install builds the DPI layer where it finds svdpi.h (SVDPI_INC)")
    endif()
  endif()
endforeach()
