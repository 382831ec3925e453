// SPDX-License-Identifier: Apache-2.0
// Package of the µScope imports. The imports themselves are in uscope_dpi.svh.
/* verilator lint_off TIMESCALEMOD */
package uscope_pkg;
/* verilator lint_on TIMESCALEMOD */
  `include "uscope_dpi.svh"

  // Result of uscope_string for a text that was rejected.
  /* verilator lint_off UNUSEDPARAM */
  localparam int unsigned USCOPE_NO_STRING = 32'hFFFF_FFFF;
  /* verilator lint_on UNUSEDPARAM */
endpackage
