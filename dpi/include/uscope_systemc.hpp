// SPDX-License-Identifier: Apache-2.0
/**
 * @file uscope_systemc.hpp
 * SystemC (IEEE 1666, tried with Accellera 2.3.4): a trace file, transactions, and a recorder for TLM-2.0
 * (docs/how-to/systemc.md).
 */
#ifndef USCOPE_SYSTEMC_HPP
#define USCOPE_SYSTEMC_HPP

#include "uscope_sc_tlm.hpp"

#endif
