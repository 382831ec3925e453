// SPDX-License-Identifier: Apache-2.0
// Helper for the `noc` protocol (dpi/include/uscope_noc.h says more), used as that of uscope_cpu_pkg: a handle per scope,
// calls between uscope_begin_cycle and uscope_end_cycle.
/* verilator lint_off TIMESCALEMOD */
package uscope_noc_pkg;
/* verilator lint_on TIMESCALEMOD */
  // What uscope_noc_begin gives when no slot is free.
  /* verilator lint_off UNUSEDPARAM */
  localparam int unsigned USCOPE_NOC_NONE = 32'hFFFF_FFFF;
  /* verilator lint_on UNUSEDPARAM */

  import "DPI-C" function chandle uscope_noc_new(input chandle w, input string scope);
  import "DPI-C" function void uscope_noc_free(input chandle noc);

  // -- transactions
  import "DPI-C" function int unsigned uscope_noc_begin(input chandle noc, input int unsigned opcode,
    input longint unsigned addr, input int unsigned len, input int unsigned size, input int unsigned src_port,
    input int unsigned dst_port);
  import "DPI-C" function void uscope_noc_stage(input chandle noc, input int unsigned id, input int unsigned stage);
  import "DPI-C" function void uscope_noc_annotate(input chandle noc, input int unsigned id, input string text);
  import "DPI-C" function void uscope_noc_beat(input chandle noc, input int unsigned id, input int unsigned beat);
  import "DPI-C" function void uscope_noc_retry(input chandle noc, input int unsigned id, input int unsigned reason);
  import "DPI-C" function void uscope_noc_timeout(input chandle noc, input int unsigned id);
  import "DPI-C" function void uscope_noc_arbitrate(input chandle noc, input int unsigned id,
    input int unsigned out_port);
  import "DPI-C" function void uscope_noc_credit(input chandle noc, input int unsigned link_id,
    input int unsigned credits);
  // The transaction continues as another one of another scope; both must be in flight.
  import "DPI-C" function void uscope_noc_handoff(input chandle noc, input int unsigned id, input chandle to,
    input int unsigned to_id);
  import "DPI-C" function void uscope_noc_complete(input chandle noc, input int unsigned id);
  import "DPI-C" function void uscope_noc_reset(input chandle noc);
  import "DPI-C" function int unsigned uscope_noc_in_flight(input chandle noc);

  // -- buffers
  import "DPI-C" function int uscope_noc_buffer(input chandle noc, input string name);
  import "DPI-C" function int uscope_noc_push(input chandle noc, input int buffer_id, input int unsigned id);
  import "DPI-C" function int unsigned uscope_noc_pop(input chandle noc, input int buffer_id);
  import "DPI-C" function void uscope_noc_remove(input chandle noc, input int buffer_id, input int slot);

  import "DPI-C" function int uscope_noc_stage_id(input chandle noc, input string label);
endpackage
