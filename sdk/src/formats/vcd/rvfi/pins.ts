/** Names: the pins of RVFI, and what a trace of them has. */
import type { FollowedPart } from '../sampling/run.js';

/** Without these there are no instructions. */
export const NEEDED = ['valid', 'insn', 'pc_rdata'] as const;
/** What a core may lack, and the bits of each channel; 0: XLEN, -1: XLEN / 8. */
export const OPTIONAL = {
  order: 64,
  trap: 1,
  halt: 1,
  intr: 1,
  mode: 2,
  ixl: 2,
  rs1_addr: 5,
  rs2_addr: 5,
  rs1_rdata: 0,
  rs2_rdata: 0,
  rd_addr: 5,
  rd_wdata: 0,
  pc_wdata: 0,
  mem_addr: 0,
  mem_rmask: -1,
  mem_wmask: -1,
  mem_rdata: 0,
  mem_wdata: 0,
} as const;
/** One without the other says nothing. */
export const PAIRS = [
  ['rs1_addr', 'rs1_rdata'],
  ['rs2_addr', 'rs2_rdata'],
  ['rd_addr', 'rd_wdata'],
] as const;
export const MAX_CHANNELS = 16;
export const INSN_BITS = 32;

export type RvfiPin = (typeof NEEDED)[number] | keyof typeof OPTIONAL;

export interface RvfiPlan {
  readonly scope: string;
  readonly channels: number;
  readonly xlen: 32 | 64;
  readonly pins: Readonly<Partial<Record<RvfiPin, FollowedPart>>>;
}

export const COUNTERS = [
  'cycles',
  'committed_insns',
  'traps',
  'interrupts',
  'loads',
  'stores',
  'branches',
  'branches_taken',
  'jumps',
  'violations',
  'missing_insns',
] as const;
export type RvfiCounter = (typeof COUNTERS)[number];
export const EVENTS = {
  stage_transition: { entity_id: 'u32', stage: 'pipeline_stage' },
  flush: { entity_id: 'u32', reason: 'flush_reason' },
  trap: { entity_id: 'u32', cause: 'u64', tval: 'u64', target: 'u64' },
  interrupt: { entity_id: 'u32', epc: 'u64', target: 'u64' },
  halt: { entity_id: 'u32' },
  reg_write: { entity_id: 'u32', index: 'u8', value: 'u64' },
  mem_read: { entity_id: 'u32', addr: 'u64', mask: 'u8', data: 'u64' },
  mem_write: { entity_id: 'u32', addr: 'u64', mask: 'u8', data: 'u64' },
  violation: { code: 'rvfi_violation', channel: 'u8', order: 'u64', expected: 'u64', found: 'u64' },
  clock_period: { expected_ps: 'u64', found_ps: 'u64' },
} as const;
export type RvfiEvent = keyof typeof EVENTS;
export const MEMBERS = ['entities', 'regs', ...COUNTERS, ...Object.keys(EVENTS)];
export const ENTITY_SLOTS = 64;
