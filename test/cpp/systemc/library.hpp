// SPDX-License-Identifier: Apache-2.0
// SystemC without UBSan's check of shifts, where the compiler can leave it out of a header: its vectors of
// 32, 64, ... bits shift by 32, and its sc_int shifts negative values, which C++17 does not define.
#ifndef TEST_SYSTEMC_LIBRARY_HPP
#define TEST_SYSTEMC_LIBRARY_HPP

#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("shift"))), apply_to = function)
#endif
#include <sysc/datatypes/fx/fx.h>
#include <systemc>
#include <tlm>
#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#ifdef __clang__
#pragma clang attribute pop
#endif

#endif
