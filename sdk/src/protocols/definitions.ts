/** Written by scripts/protocols.mjs: change sdk/protocols/*.yaml and run it. */
import type { Protocol } from './model.js';

export const CPU = {
  protocol: 'cpu',
  version: '0.1',
  id: 'entity_id',
  properties: [
    'dut_name',
    'cpu.protocol_version',
    'cpu.isa',
    'cpu.pipeline_stages',
    'cpu.fetch_width',
    'cpu.commit_width',
    'cpu.elf_path',
    'cpu.vendor',
    'cpu.pipeline_depth',
    'cpu.retire_queue_size',
    'cpu.retire_queue_stages',
    'cpu.dispatch_queue_stages',
    'cpu.dispatch_queue_names',
    'cpu.issue_queue_stages',
    'cpu.issue_queue_names',
  ],
  enums: {
    pipeline_stage: ['fetch', 'decode', 'execute', 'writeback'],
    flush_reason: ['mispredict', 'exception', 'interrupt', 'pipeline_clear'],
    dep_type: ['raw', 'war', 'waw', 'structural'],
    stall_reason: ['memory', 'hazard'],
    privilege: { user: 0, supervisor: 1, reserved: 2, machine: 3 },
    rvfi_violation: [
      'order_gap',
      'order_repeated',
      'order_tie',
      'pc_mismatch',
      'register_mismatch',
      'x0_not_zero',
      'after_halt',
      'unknown_value',
    ],
  },
  storages: {
    entities: {
      kind: 'sparse',
      slots: 64,
      presence: 'expected',
      without: 'no instruction can be followed: no pipeline, no latencies, no program profile',
      fields: {
        entity_id: {
          type: 'u32',
          presence: 'expected',
          without:
            'the number of the slot is the id, and the helpers for C and SystemVerilog refuse the scope',
        },
        pc: {
          type: 'u64',
          presence: 'expected',
          without: 'instructions have no address, and no profile by pc or function',
        },
        inst_bits: {
          type: 'u32',
          presence: 'expected',
          without: 'instructions are not disassembled, and there is no instruction mix',
        },
        thread_id: { type: 'u32', without: 'instructions cannot be coloured by thread' },
        is_compressed: { type: 'bool' },
        priv_level: { type: 'label', enum: 'privilege' },
        rbid: { type: 'u32' },
        iq_id: { type: 'u32' },
        dq_id: { type: 'u32' },
        ready_time_ps: { type: 'u64' },
        gid: { type: 'u64' },
        log_id: { type: 'u64' },
        order: { type: 'u64' },
        ixl: { type: 'u8' },
      },
    },
    regs: {
      kind: 'dense',
      slots: 32,
      without: 'registers have no values in `state`, `history` and the viewer',
      fields: { value: { type: 'wide', presence: 'required' } },
    },
  },
  shapes: {
    buffer: {
      kind: 'buffer',
      slots: 16,
      without: 'no occupancy, and no structure shows where an instruction waits',
      fields: { entity_id: { type: 'u32', presence: 'required' } },
    },
    counter: {
      kind: 'dense',
      slots: 1,
      without: 'no curves of counters, and nothing to check the recorded instructions against',
      fields: { count: { type: 'u64', presence: 'required' } },
    },
  },
  counters: {
    cycles: ['cycles_active', 'active_cycles', 'clock_cycles'],
    committed_insns: [
      'committed',
      'committed_instructions',
      'retired_insns',
      'retired',
      'retired_instructions',
      'instret',
    ],
    fetched_insns: ['fetched', 'fetched_instructions'],
    squashed_insns: ['squashed', 'squashed_instructions'],
    flushes: ['pipeline_flushes'],
    mispredicts: [
      'branch_mispredicts',
      'bp_misses',
      'branch_misses',
      'mispredictions',
      'branch_mispredictions',
    ],
    bp_lookups: ['branches', 'branch_insns', 'committed_branches', 'retired_branches'],
    branches_taken: ['taken_branches'],
  },
  events: {
    stage_transition: {
      isFollowed: true,
      presence: 'expected',
      without: 'no pipeline can be shown, and no time by stage',
      fields: {
        entity_id: { type: 'u32', presence: 'required' },
        stage: { type: 'label', enum: 'pipeline_stage', presence: 'required' },
      },
    },
    flush: {
      isFollowed: true,
      presence: 'expected',
      without: 'squashed instructions count as retired',
      fields: {
        entity_id: { type: 'u32', presence: 'required' },
        reason: {
          type: 'label',
          enum: 'flush_reason',
          presence: 'expected',
          without: 'flushes have no reason',
        },
      },
    },
    annotate: {
      isFollowed: true,
      without: 'instructions that are not RISC-V have no text',
      fields: {
        entity_id: { type: 'u32', presence: 'required' },
        text: { type: 'string', presence: 'required' },
        kind: { type: 'u8' },
      },
    },
    dependency: {
      isFollowed: true,
      without: 'no arrows between instructions, and no chain of what waited for what',
      fields: {
        src_id: { type: 'u32', presence: 'required' },
        dst_id: { type: 'u32', presence: 'required' },
        dep_type: {
          type: 'label',
          enum: 'dep_type',
          presence: 'expected',
          without: 'dependencies have no kind',
        },
        type: { type: 'u32' },
      },
    },
    stall: {
      isFollowed: true,
      without: 'no stall reasons, so nothing says where cycles go',
      fields: {
        reason: {
          type: 'label',
          enum: 'stall_reason',
          presence: 'expected',
          without: 'stalls have no reason',
        },
        entity_id: { type: 'u32' },
      },
    },
    trap: {
      isFollowed: true,
      without: 'exceptions are not shown with their cause',
      fields: {
        entity_id: { type: 'u32', presence: 'required' },
        cause: { type: 'u64' },
        tval: { type: 'u64' },
        target: { type: 'u64' },
      },
    },
    interrupt: {
      without: '`doctor` takes the first instruction of a handler for a wrong jump',
      fields: {
        entity_id: { type: 'u32' },
        epc: { type: 'u64' },
        target: { type: 'u64' },
        cause: { type: 'u64' },
      },
    },
    halt: { fields: { entity_id: { type: 'u32', presence: 'required' } } },
    reg_write: {
      without: '`diff --by retired` cannot compare register values',
      fields: {
        entity_id: { type: 'u32', presence: 'required' },
        index: { type: 'u8', presence: 'required' },
        value: { type: 'u64', presence: 'required' },
      },
    },
    freg_write: {
      without: '`diff --by retired` cannot compare values of floating point',
      fields: {
        entity_id: { type: 'u32', presence: 'required' },
        index: { type: 'u8', presence: 'required' },
        value: { type: 'u64', presence: 'required' },
      },
    },
    csr_write: {
      fields: {
        entity_id: { type: 'u32', presence: 'required' },
        number: { type: 'u16', presence: 'required' },
        name: { type: 'string' },
        value: { type: 'u64', presence: 'required' },
      },
    },
    mem_read: {
      without: '`doctor` cannot judge loads',
      fields: {
        entity_id: { type: 'u32', presence: 'required' },
        addr: { type: 'u64', presence: 'required' },
        mask: { type: 'u8', presence: 'required' },
        data: { type: 'u64', presence: 'required' },
      },
    },
    mem_write: {
      without: '`doctor` cannot judge stores, and `diff --by retired` cannot compare them',
      fields: {
        entity_id: { type: 'u32', presence: 'required' },
        addr: { type: 'u64', presence: 'required' },
        mask: { type: 'u8', presence: 'required' },
        data: { type: 'u64', presence: 'required' },
      },
    },
    mem_load: {
      fields: {
        entity_id: { type: 'u32', presence: 'required' },
        addr: { type: 'u64', presence: 'required' },
      },
    },
    mem_store: {
      fields: {
        entity_id: { type: 'u32', presence: 'required' },
        addr: { type: 'u64', presence: 'required' },
      },
    },
    retire: { fields: { entity_id: { type: 'u32' }, rid: { type: 'u64' }, type: { type: 'u32' } } },
    lane_start: {
      fields: {
        entity_id: { type: 'u32', presence: 'required' },
        lane: { type: 'u16' },
        stage: { type: 'string' },
      },
    },
    lane_end: {
      fields: {
        entity_id: { type: 'u32', presence: 'required' },
        lane: { type: 'u16' },
        stage: { type: 'string' },
      },
    },
    late_dependency: {
      fields: { consumer: { type: 'u64' }, producer: { type: 'u64' }, type: { type: 'u32' } },
    },
    violation: {
      fields: {
        code: { type: 'label', enum: 'rvfi_violation' },
        channel: { type: 'u8' },
        order: { type: 'u64' },
        expected: { type: 'u64' },
        found: { type: 'u64' },
      },
    },
    clock_period: {
      fields: {
        expected_ps: { type: 'u64', presence: 'required' },
        found_ps: { type: 'u64', presence: 'required' },
      },
    },
  },
  reserved: {
    storages: { entities: { parent_id: { type: 'u32' }, hart: { type: 'u16' } } },
    events: {
      stage_end: { fields: { entity_id: { type: 'u32' }, stage: { type: 'label' }, lane: { type: 'u16' } } },
      lane_transition: {
        fields: { entity_id: { type: 'u32' }, lane: { type: 'u16' }, stage: { type: 'label' } },
      },
      wait: { fields: { entity_id: { type: 'u32' }, reason: { type: 'label' }, on: { type: 'u32' } } },
      wakeup: { fields: { entity_id: { type: 'u32' }, by: { type: 'u32' } } },
      mem_access: {
        fields: {
          entity_id: { type: 'u32' },
          addr: { type: 'u64' },
          size: { type: 'u8' },
          data: { type: 'u64' },
          level: { type: 'label' },
        },
      },
      csr_read: { fields: { entity_id: { type: 'u32' }, number: { type: 'u16' }, value: { type: 'u64' } } },
      vreg_write: {
        fields: {
          entity_id: { type: 'u32' },
          index: { type: 'u8' },
          part: { type: 'u16' },
          value: { type: 'u64' },
        },
      },
      privilege: { fields: { hart: { type: 'u16' }, level: { type: 'label' } } },
    },
  },
} as const satisfies Protocol;

export const NOC = {
  protocol: 'noc',
  version: '0.1',
  prefix: 'noc.',
  id: 'txn_id',
  properties: ['noc.protocol_version', 'noc.pipeline_stages'],
  enums: {
    noc_stage: ['request', 'queue', 'response'],
    noc_opcode: ['read', 'write'],
    retry_reason: ['queue_full'],
  },
  storages: {
    transactions: {
      kind: 'sparse',
      slots: 32,
      presence: 'expected',
      without: 'no transaction can be followed: no rows, no latencies',
      fields: {
        txn_id: {
          type: 'u32',
          presence: 'expected',
          without:
            'the number of the slot is the id, and the helpers for C and SystemVerilog refuse the scope',
        },
        opcode: {
          type: 'label',
          enum: 'noc_opcode',
          presence: 'expected',
          without: 'transactions have no operation',
        },
        addr: { type: 'u64', presence: 'expected', without: 'transactions have no address' },
        len: { type: 'u16' },
        size: { type: 'u8' },
        src_port: { type: 'u16' },
        dst_port: { type: 'u16' },
      },
    },
  },
  shapes: {
    buffer: {
      kind: 'buffer',
      slots: 4,
      without: 'no occupancy of queues and links',
      fields: { txn_id: { type: 'u32', presence: 'required' } },
    },
  },
  counters: {},
  events: {
    stage_transition: {
      presence: 'expected',
      without: 'no stages of transactions, and no time by stage',
      fields: {
        txn_id: { type: 'u32', presence: 'required' },
        stage: { type: 'label', enum: 'noc_stage', presence: 'required' },
      },
    },
    annotate: {
      fields: {
        txn_id: { type: 'u32', presence: 'required' },
        text: { type: 'string', presence: 'required' },
      },
    },
    beat: {
      without: 'transfers of data are not shown',
      fields: { txn_id: { type: 'u32', presence: 'required' }, beat: { type: 'u64', byPosition: true } },
    },
    retry: {
      without: 'retries are not counted',
      fields: {
        txn_id: { type: 'u32', presence: 'required' },
        reason: {
          type: 'label',
          enum: 'retry_reason',
          presence: 'expected',
          without: 'retries have no reason',
          byPosition: true,
        },
      },
    },
    timeout: { fields: { txn_id: { type: 'u32', presence: 'required' } } },
    arb_decision: {
      fields: { txn_id: { type: 'u32', presence: 'required' }, port: { type: 'u64', byPosition: true } },
    },
    link_credit: {
      fields: { link: { type: 'u32', byPosition: true }, credits: { type: 'u32', byPosition: true } },
    },
    txn_handoff: {
      without: 'a transaction cannot be followed from one scope to the next',
      fields: {
        from: { type: 'u32', presence: 'required', byPosition: true },
        to: { type: 'u32', presence: 'required', byPosition: true },
      },
    },
  },
  reserved: { storages: {}, events: {} },
} as const satisfies Protocol;

export const TR = {
  protocol: 'tr',
  version: '1',
  isExact: true,
  id: 'tx',
  properties: ['dut_name'],
  enums: {
    ftr_phase: ['begin', 'record', 'end'],
    ftr_type: [
      'BOOLEAN',
      'ENUMERATION',
      'INTEGER',
      'UNSIGNED',
      'FLOATING_POINT_NUMBER',
      'BIT_VECTOR',
      'LOGIC_VECTOR',
      'FIXED_POINT_INTEGER',
      'UNSIGNED_FIXED_POINT_INTEGER',
      'POINTER',
      'STRING',
      'TIME',
    ],
  },
  storages: {},
  shapes: {},
  counters: {},
  events: {
    dir: {
      presence: 'expected',
      without: 'no transactions can be shown',
      fields: {
        tag: { type: 'u8', presence: 'required' },
        id: { type: 'u64', presence: 'required' },
        name: { type: 'string', presence: 'required' },
        stream: { type: 'u64', presence: 'required' },
        kind: { type: 'string', presence: 'required' },
      },
    },
    begin: {
      presence: 'expected',
      without: 'no transactions can be shown',
      fields: {
        tx: { type: 'u64', presence: 'required' },
        stream: { type: 'u64', presence: 'required' },
        generator: { type: 'u64', presence: 'required' },
        t: { type: 'u64', presence: 'required' },
      },
    },
    end: {
      presence: 'expected',
      without: 'transactions end where they begin',
      fields: { tx: { type: 'u64', presence: 'required' }, t: { type: 'u64', presence: 'required' } },
    },
    attr: {
      presence: 'expected',
      without: 'transactions have no attributes',
      fields: {
        tx: { type: 'u64', presence: 'required' },
        idx: { type: 'u16', presence: 'required' },
        phase: { type: 'label', enum: 'ftr_phase', presence: 'required' },
        name: { type: 'string', presence: 'required' },
        type: { type: 'label', enum: 'ftr_type', presence: 'required' },
        bits: { type: 'u64', presence: 'required' },
        str: { type: 'string', presence: 'required' },
      },
    },
    rel: {
      presence: 'expected',
      without: 'transactions have no relations',
      fields: {
        name: { type: 'string', presence: 'required' },
        src: { type: 'u64', presence: 'required' },
        sink: { type: 'u64', presence: 'required' },
        srcStream: { type: 'u64', presence: 'required' },
        sinkStream: { type: 'u64', presence: 'required' },
      },
    },
    bytes: {
      without: 'texts that are not UTF-8, hold NUL or are too long lose bytes',
      fields: {
        part: { type: 'u8', presence: 'required' },
        size: { type: 'u32', presence: 'required' },
        index: { type: 'u32', presence: 'required' },
        value: { type: 'u64', presence: 'required' },
      },
    },
    number: {
      fields: {
        tx: { type: 'u64', presence: 'required' },
        name: { type: 'string', presence: 'required' },
        phase: { type: 'label', enum: 'ftr_phase', presence: 'required' },
        type: { type: 'label', enum: 'ftr_type', presence: 'required' },
        bits: { type: 'u64', presence: 'required' },
      },
    },
  },
  reserved: { storages: {}, events: {} },
} as const satisfies Protocol;
