// SPDX-License-Identifier: Apache-2.0
// Helper for the `cpu` protocol (dpi/include/uscope_cpu.h says more): a testbench says what happens to its instructions,
// the helper makes the items of it in the order that viewers rely on.
//
// The helper keeps its state behind a chandle: a handle per core, held by the module instance that traces it, also in
// generate loops. Create it once the trace is open:
//
//   cpu   = uscope_cpu_new(w, "core0");           // scope of the schema; null when it does not follow the protocol
//   FETCH = uscope_cpu_stage_id(cpu, "fetch");    // numbers of labels, by the schema's enums
//
// Everything else is between uscope_begin_cycle and uscope_end_cycle. A null handle, USCOPE_CPU_NONE and -1 are
// taken everywhere: the call does nothing. Misuse is rejected, counted and reported with names.
/* verilator lint_off TIMESCALEMOD */
package uscope_cpu_pkg;
/* verilator lint_on TIMESCALEMOD */
  // What uscope_cpu_fetch gives when no slot is free.
  /* verilator lint_off UNUSEDPARAM */
  localparam int unsigned USCOPE_CPU_NONE = 32'hFFFF_FFFF;
  /* verilator lint_on UNUSEDPARAM */

  import "DPI-C" function chandle uscope_cpu_new(input chandle w, input string scope);
  import "DPI-C" function void uscope_cpu_free(input chandle cpu);

  // -- instructions
  // Born: entity_id, pc and inst_bits are set. Gives the id, by which the pipeline carries it along.
  import "DPI-C" function int unsigned uscope_cpu_fetch(input chandle cpu, input longint unsigned pc,
    input int unsigned inst_bits);
  // Another field of the entity, found by uscope_cpu_field.
  import "DPI-C" function void uscope_cpu_set(input chandle cpu, input int unsigned id, input int field_id,
    input longint unsigned value);
  import "DPI-C" function void uscope_cpu_stage(input chandle cpu, input int unsigned id, input int unsigned stage);
  import "DPI-C" function void uscope_cpu_annotate(input chandle cpu, input int unsigned id, input string text);
  // Both must be in flight.
  import "DPI-C" function void uscope_cpu_dependency(input chandle cpu, input int unsigned producer,
    input int unsigned consumer, input int unsigned dep_type);
  import "DPI-C" function void uscope_cpu_stall(input chandle cpu, input int unsigned reason);
  import "DPI-C" function void uscope_cpu_trap(input chandle cpu, input int unsigned id, input longint unsigned cause,
    input longint unsigned tval, input longint unsigned target);
  import "DPI-C" function void uscope_cpu_retire(input chandle cpu, input int unsigned id);
  // Squashed: out of all buffers, a flush event, then CLEAR. The others give how many there were, youngest first.
  import "DPI-C" function void uscope_cpu_flush(input chandle cpu, input int unsigned id, input int unsigned reason);
  import "DPI-C" function int unsigned uscope_cpu_flush_younger(input chandle cpu, input int unsigned id,
    input int unsigned reason);
  import "DPI-C" function int unsigned uscope_cpu_flush_all(input chandle cpu, input int unsigned reason);
  // All in flight are squashed as pipeline_clear, buffers emptied, pointers 0.
  import "DPI-C" function void uscope_cpu_reset(input chandle cpu);
  import "DPI-C" function int uscope_cpu_is_in_flight(input chandle cpu, input int unsigned id);
  import "DPI-C" function int unsigned uscope_cpu_in_flight(input chandle cpu);

  // -- buffers: at the tail of those with head or tail pointers, in the lowest free slot of others
  import "DPI-C" function int uscope_cpu_buffer(input chandle cpu, input string name);
  import "DPI-C" function int uscope_cpu_push(input chandle cpu, input int buffer_id, input int unsigned id);
  import "DPI-C" function void uscope_cpu_place(input chandle cpu, input int buffer_id, input int slot,
    input int unsigned id);
  import "DPI-C" function int unsigned uscope_cpu_pop(input chandle cpu, input int buffer_id);
  import "DPI-C" function void uscope_cpu_remove(input chandle cpu, input int buffer_id, input int slot);
  import "DPI-C" function void uscope_cpu_buffer_set(input chandle cpu, input int buffer_id, input int slot,
    input int field_id, input longint unsigned value);
  import "DPI-C" function int unsigned uscope_cpu_buffer_count(input chandle cpu, input int buffer_id);

  // -- counters
  import "DPI-C" function int uscope_cpu_counter(input chandle cpu, input string name);
  import "DPI-C" function void uscope_cpu_count(input chandle cpu, input int counter, input longint unsigned delta);

  // -- names
  import "DPI-C" function int uscope_cpu_stage_id(input chandle cpu, input string label);
  import "DPI-C" function int uscope_cpu_flush_id(input chandle cpu, input string label);
  import "DPI-C" function int uscope_cpu_stall_id(input chandle cpu, input string label);
  import "DPI-C" function int uscope_cpu_dependency_id(input chandle cpu, input string label);
  import "DPI-C" function int uscope_cpu_field(input chandle cpu, input string name);
  import "DPI-C" function int uscope_cpu_buffer_field(input chandle cpu, input int buffer_id, input string name);

  // -- in-order pipelines: all instructions in one call for each cycle, without a helper. Bit i of the masks is stage i
  // registers: a storage for the pipeline registers, "" for none; null when the scope has not what is needed.
  import "DPI-C" function chandle uscope_pipeline_new(input chandle w, input string scope, input string registers,
    input int unsigned num_stages);
  import "DPI-C" function void uscope_pipeline_free(input chandle pipeline);
  // What the cycle has been; pc, inst_bits and text (an index from uscope_string) are those in stage 0. The stages entered.
  import "DPI-C" function int unsigned uscope_pipeline_step(input chandle pipeline, input int unsigned valid,
    input int unsigned hold, input int unsigned kill, input int unsigned reason, input longint unsigned pc,
    input int unsigned inst_bits, input int unsigned text);
  // The entity that the last step had in this stage.
  import "DPI-C" function int unsigned uscope_pipeline_entity(input chandle pipeline, input int unsigned stage);
  // The instruction in stage `consumer` needs a value of that in stage `producer`: event dependency.
  import "DPI-C" function void uscope_pipeline_dependency(input chandle pipeline, input int unsigned producer,
    input int unsigned consumer, input int unsigned dep_type);
endpackage
