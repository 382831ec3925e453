// SPDX-License-Identifier: Apache-2.0
// Records transactions: streams hold generators, generators make transactions with attributes and relations. A schema with the scope
// `tr` of uscope_tr.yaml is needed. Every call is between uscope_begin_cycle and uscope_end_cycle, and takes its time in ps from the
// caller. One uscope_tr per trace; docs/how-to/transactions.md says more.
/* verilator lint_off TIMESCALEMOD */
package uscope_tr_pkg;
/* verilator lint_on TIMESCALEMOD */
  import uscope_pkg::*;

  // When an attribute is recorded.
  typedef enum bit [7:0] {
    TR_BEGIN  = 0,
    TR_RECORD = 1,
    TR_END    = 2
  } tr_phase_t;

  // Handles: id below, stream above. Not wider than 64 bits, which is all that Verilator returns.
  typedef bit [63:0] tr_generator_t;
  // A transaction; 0 is none.
  typedef bit [63:0] tr_tx_t;

  /* verilator lint_off UNUSEDPARAM */
  // What is related to nothing.
  localparam tr_tx_t TR_NONE = '0;
  /* verilator lint_on UNUSEDPARAM */

  // Values of ftr_type.
  localparam bit [7:0] TYPE_BOOLEAN = 0;
  localparam bit [7:0] TYPE_ENUMERATION = 1;
  localparam bit [7:0] TYPE_INTEGER = 2;
  localparam bit [7:0] TYPE_UNSIGNED = 3;
  localparam bit [7:0] TYPE_FLOAT = 4;
  localparam bit [7:0] TYPE_BIT_VECTOR = 5;
  localparam bit [7:0] TYPE_LOGIC_VECTOR = 6;
  localparam bit [7:0] TYPE_POINTER = 9;
  localparam bit [7:0] TYPE_STRING = 10;
  localparam bit [7:0] TYPE_TIME = 11;

  localparam bit [63:0] TAG_STREAM = 16;
  localparam bit [63:0] TAG_GENERATOR = 17;

  // Some calls need only the id of a handle; a package may hold a class of another name.
  /* verilator lint_off UNUSEDSIGNAL */
  /* verilator lint_off DECLFILENAME */
  class uscope_tr;
    chandle w;
    bit [15:0] ev_dir, ev_begin, ev_end, ev_attr, ev_rel;
    bit [31:0] declared;
    bit [43:0] begun;

    // trace: of uscope_open; scope: where the events of uscope_tr.yaml are.
    function new(input chandle trace, input string scope);
      w        = trace;
      ev_dir   = 16'($unsigned(uscope_event_id(trace, {scope, "/dir"})));
      ev_begin = 16'($unsigned(uscope_event_id(trace, {scope, "/begin"})));
      ev_end   = 16'($unsigned(uscope_event_id(trace, {scope, "/end"})));
      ev_attr  = 16'($unsigned(uscope_event_id(trace, {scope, "/attr"})));
      ev_rel   = 16'($unsigned(uscope_event_id(trace, {scope, "/rel"})));
      declared = 0;
      begun    = 0;
    endfunction

    // -- declarations
    function bit [31:0] stream(input string name, input string kind);
      declared = declared + 1;
      uscope_event5(w, ev_dir, TAG_STREAM, 64'(declared), 64'(uscope_string(w, name)), 0, 64'(uscope_string(w, kind)));
      return declared;
    endfunction

    function tr_generator_t generator(input bit [31:0] of_stream, input string name);
      declared = declared + 1;
      uscope_event5(w, ev_dir, TAG_GENERATOR, 64'(declared), 64'(uscope_string(w, name)), 64'(of_stream),
                    64'(uscope_string(w, "")));
      return {of_stream, declared};
    endfunction

    // -- transactions
    function tr_tx_t begin_tx(input tr_generator_t gen, input longint unsigned time_ps);
      begun = begun + 1;
      uscope_event4(w, ev_begin, 64'(begun), 64'(gen[63:32]), 64'(gen[31:0]), time_ps);
      return {gen[51:32], begun};
    endfunction

    function void end_tx(input tr_tx_t tx, input longint unsigned time_ps);
      uscope_event2(w, ev_end, 64'(tx[43:0]), time_ps);
    endfunction

    // src is the source, sink what it led to. Either may have ended.
    function void relate(input string name, input tr_tx_t src, input tr_tx_t sink);
      uscope_event5(w, ev_rel, 64'(uscope_string(w, name)), 64'(src[43:0]), 64'(sink[43:0]), 64'(src[63:44]),
                    64'(sink[63:44]));
    endfunction

    // -- attributes
    function void record(input tr_tx_t tx, input string name, input longint unsigned value,
                         input tr_phase_t phase = TR_RECORD);
      number(tx, name, phase, TYPE_UNSIGNED, value);
    endfunction

    function void record_int(input tr_tx_t tx, input string name, input longint value,
                             input tr_phase_t phase = TR_RECORD);
      number(tx, name, phase, TYPE_INTEGER, $unsigned(value));
    endfunction

    function void record_bool(input tr_tx_t tx, input string name, input bit value,
                              input tr_phase_t phase = TR_RECORD);
      number(tx, name, phase, TYPE_BOOLEAN, 64'(value));
    endfunction

    function void record_real(input tr_tx_t tx, input string name, input real value,
                              input tr_phase_t phase = TR_RECORD);
      number(tx, name, phase, TYPE_FLOAT, $realtobits(value));
    endfunction

    function void record_pointer(input tr_tx_t tx, input string name, input longint unsigned value,
                                 input tr_phase_t phase = TR_RECORD);
      number(tx, name, phase, TYPE_POINTER, value);
    endfunction

    function void record_time(input tr_tx_t tx, input string name, input longint unsigned value_ps,
                              input tr_phase_t phase = TR_RECORD);
      number(tx, name, phase, TYPE_TIME, value_ps);
    endfunction

    function void record_string(input tr_tx_t tx, input string name, input string value,
                                input tr_phase_t phase = TR_RECORD);
      text(tx, name, phase, TYPE_STRING, value);
    endfunction

    function void record_enum(input tr_tx_t tx, input string name, input string label,
                              input tr_phase_t phase = TR_RECORD);
      text(tx, name, phase, TYPE_ENUMERATION, label);
    endfunction

    // Digits, the highest bit first: $sformatf("%b", value).
    function void record_bits(input tr_tx_t tx, input string name, input string digits,
                              input tr_phase_t phase = TR_RECORD);
      text(tx, name, phase, TYPE_BIT_VECTOR, digits);
    endfunction

    function void record_logic(input tr_tx_t tx, input string name, input string digits,
                               input tr_phase_t phase = TR_RECORD);
      text(tx, name, phase, TYPE_LOGIC_VECTOR, digits.toupper());
    endfunction

    // The order of the events is that of the attributes: the index is 0.
    function void number(input tr_tx_t tx, input string name, input tr_phase_t phase, input bit [7:0] kind,
                         input bit [63:0] bits);
      uscope_event7(w, ev_attr, 64'(tx[43:0]), 0, 64'(phase), 64'(uscope_string(w, name)), 64'(kind), bits,
                    64'(uscope_string(w, "")));
    endfunction

    function void text(input tr_tx_t tx, input string name, input tr_phase_t phase, input bit [7:0] kind,
                       input string value);
      uscope_event7(w, ev_attr, 64'(tx[43:0]), 0, 64'(phase), 64'(uscope_string(w, name)), 64'(kind), 0,
                    64'(uscope_string(w, value)));
    endfunction
  endclass
  /* verilator lint_on DECLFILENAME */
  /* verilator lint_on UNUSEDSIGNAL */
endpackage
