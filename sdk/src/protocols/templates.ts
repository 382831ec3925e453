/** Written by scripts/protocols.mjs: change sdk/protocols/*.yaml and run it. */

/** Schemas to begin with, by protocol. */
export const TEMPLATES = {
  cpu: `# A schema of the protocol "cpu" to begin with. docs/reference/protocols.md says what each part means and what it buys.
# A line behind # is for later: take the mark away and record it.
uscope: 1

dut:
  dut_name: my-core
  cpu.isa: RV32IM
  cpu.pipeline_stages: fetch,decode,execute,writeback

clocks:
  clk: 1 ns

enums:
  pipeline_stage: [fetch, decode, execute, writeback]
  flush_reason: [mispredict, exception, interrupt, pipeline_clear]
  dep_type: [raw, war, waw, structural]
  stall_reason: [memory, hazard]

scopes:
  core0:
    protocol: cpu
    clock: clk
    storages:
      # The instructions in flight, a slot each. SET of entity_id is the birth of an instruction, CLEAR its end.
      entities: {slots: 64, kind: sparse, fields: {entity_id: u32, pc: u64, inst_bits: u32}}
      # The integer registers, slot n for register n, as far as they were written.
      regs: {slots: 32, kind: dense, fields: {value: u64}}
      # Cycles of the core.
      cycles: counter
      # Instructions retired.
      committed_insns: counter
      # A queue that holds instructions: reorder buffer, issue queue, load queue. Kind buffer or dense_buffer, with a field entity_id. Other fields are free. Properties with role head and tail are its pointers.
      rob: {slots: 16, kind: buffer, fields: {entity_id: u32}}
    events:
      # The instruction enters a stage. It stays there until its next stage_transition, its flush or its end.
      stage_transition: {entity_id: u32, stage: pipeline_stage}
      # The instruction is squashed. Its CLEAR follows, or is in the same frame. The first flush of an instruction counts.
      flush: {entity_id: u32, reason: flush_reason}
      # Text about the instruction. Text that begins with the address in hexadecimal is its disassembly.
      annotate: {entity_id: u32, text: string}
      # A cycle in which the core made no progress, or the instruction entity_id did not.
      stall: {reason: stall_reason}
      # The instruction dst_id waits for a result of src_id.
      # dependency: {src_id: u32, dst_id: u32, dep_type: dep_type, type: u32}
      # The instruction raised an exception. The last trap of an instruction counts.
      # trap: {entity_id: u32, cause: u64, tval: u64, target: u64}
      # The instruction writes an integer register. diff --by retired compares the values.
      # reg_write: {entity_id: u32, index: u8, value: u64}
      # The instruction reads memory. Bit n of the mask belongs to byte n of data, at addr + n.
      # mem_read: {entity_id: u32, addr: u64, mask: u8, data: u64}
      # The instruction writes memory, with the fields of mem_read.
      # mem_write: {entity_id: u32, addr: u64, mask: u8, data: u64}
`,
  noc: `# A schema of the protocol "noc" to begin with. docs/reference/protocols.md says what each part means and what it buys.
# A line behind # is for later: take the mark away and record it.
uscope: 1

dut:
  dut_name: my-design
  noc.pipeline_stages: request,queue,response

clocks:
  clk: 1 ns

enums:
  noc_stage: [request, queue, response]
  noc_opcode: [read, write]
  retry_reason: [queue_full]

scopes:
  noc:
    protocol: noc
    clock: clk
    storages:
      # The transactions in flight, a slot each. SET of txn_id is the begin of a transaction, CLEAR its completion.
      transactions: {slots: 32, kind: sparse, fields: {txn_id: u32, opcode: noc_opcode, addr: u64}}
      # A queue or link that holds transactions. Kind buffer or dense_buffer, with a field txn_id.
      queue0: {slots: 4, kind: buffer, fields: {txn_id: u32}}
    events:
      # The transaction enters a stage.
      stage_transition: {txn_id: u32, stage: noc_stage}
      # The transaction was sent back and will come again.
      retry: {txn_id: u32, reason: retry_reason}
      # A transaction continues as one of another scope. The event is in a scope above both, the nearest that has it.
      txn_handoff: {from: u32, to: u32}
      # Text about the transaction.
      # annotate: {txn_id: u32, text: string}
      # A beat of the transaction is transferred.
      # beat: {txn_id: u32, beat: u64}
      # The transaction won an arbitration.
      # arb_decision: {txn_id: u32, port: u64}
`,
  tr: `# A schema of the protocol "tr" to begin with. docs/reference/protocols.md says what each part means and what it buys.
uscope: 1

dut:
  dut_name: transactions

clocks:
  clk: 1 ps

enums:
  ftr_phase: [begin, record, end]
  ftr_type: [BOOLEAN, ENUMERATION, INTEGER, UNSIGNED, FLOATING_POINT_NUMBER, BIT_VECTOR, LOGIC_VECTOR, FIXED_POINT_INTEGER, UNSIGNED_FIXED_POINT_INTEGER, POINTER, STRING, TIME]

scopes:
  tr:
    protocol: tr
    clock: clk
    events:
      # Tag 16: a stream and its kind. Tag 17: a generator of a stream. It comes before anything that uses it; the two share their ids.
      dir: {tag: u8, id: u64, name: string, stream: u64, kind: string}
      # Begin of a transaction.
      begin: {tx: u64, stream: u64, generator: u64, t: u64}
      # End of a transaction.
      end: {tx: u64, t: u64}
      # Attribute of a transaction that has begun. Attributes are ordered by idx, then by event.
      attr: {tx: u64, idx: u16, phase: ftr_phase, name: string, type: ftr_type, bits: u64, str: string}
      # A relation between two transactions.
      rel: {name: string, src: u64, sink: u64, srcStream: u64, sinkStream: u64}
      # It follows another event: 8 bytes of its name or other text, which a string of a trace cannot represent.
      bytes: {part: u8, size: u32, index: u32, value: u64}
`,
} as const;
