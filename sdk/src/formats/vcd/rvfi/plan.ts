/** `rvfi: PREFIX`: the pins of the RISC-V Formal Interface, by their names after the prefix, become a core that retires instructions. */

import { UscopeError } from '../../../base/errors.js';
import { CPU, fieldsOf } from '../../../protocols/index.js';
import type { SchemaBuilder, ScopeBuilder } from '../../../schema/index.js';
import { CPU_EVENTS, cpuProperties, FLUSH_REASONS, PRIVILEGES } from '../../common/cpu-scope.js';
import type { PlanScope } from '../sampling/plan-scope.js';
import type { FollowedPart } from '../sampling/run.js';
import { RvfiRecorder } from './recorder.js';

/** Enums of all cores. */
export function rvfiEnums(builder: SchemaBuilder): void {
  builder
    .enum('pipeline_stage', ['retire'])
    .enum('flush_reason', FLUSH_REASONS)
    .enum('privilege', PRIVILEGES)
    .enum('rvfi_violation', CPU.enums.rvfi_violation);
}

/** @throws UscopeError CONVERT_OPTION for pins that are missing or of other widths */
export function planRvfi(
  scope: PlanScope,
  prefix: string,
  isa: string | null,
): { properties: [string, string][] } {
  const needed = Object.fromEntries(NEEDED.map((pin) => [pin, scope.bits(`${prefix}${pin}`)])) as Record<
    (typeof NEEDED)[number],
    FollowedPart
  >;
  const channels = needed.valid.width;
  const xlen = needed.pc_rdata.width / channels;
  if (channels > MAX_CHANNELS || needed.insn.width !== channels * INSN_BITS || (xlen !== 32 && xlen !== 64)) {
    throw new UscopeError(
      'CONVERT_OPTION',
      `${prefix}valid, insn and pc_rdata have ${channels}, ${needed.insn.width} and ${needed.pc_rdata.width} bits: that is not RVFI of 1 to ${MAX_CHANNELS} channels with 32 bits of code and 32 or 64 of address`,
    );
  }
  const pins: Partial<Record<RvfiPin, FollowedPart>> = { ...needed };
  const missing: string[] = [];
  for (const [pin, size] of Object.entries(OPTIONAL) as [keyof typeof OPTIONAL, number][]) {
    const part = scope.bitsIfThere(`${prefix}${pin}`);
    if (!part) {
      missing.push(pin);
      continue;
    }
    const bits = size === 0 ? xlen : size < 0 ? xlen / 8 : size;
    if (part.width !== channels * bits)
      throw new UscopeError(
        'CONVERT_OPTION',
        `${part.path} has ${part.width} bits; ${channels} channels of ${bits} were expected`,
      );
    pins[pin] = part;
  }
  // An address without its value, or the reverse, would make values up.
  for (const pair of PAIRS) if (pair.some((pin) => !pins[pin])) for (const pin of pair) delete pins[pin];
  scope.members.push((builder) => declare(builder));
  for (const member of MEMBERS) scope.take(member);
  const plan: RvfiPlan = { scope: scope.name, channels, xlen, pins };
  scope.recorders.push((run) => {
    run.report.dropped(
      `pins of RVFI that ${prefix || 'the waveform'} does not have`,
      `${missing.join(', ')}: what they say is not in the trace`,
    ).count += missing.length;
    return new RvfiRecorder(run, plan);
  });
  return { properties: cpuProperties(['retire'], isa ?? `RV${xlen}I`) };
}

/** The scope of `sv/uscope_rvfi.yaml`: the same names, so that traces of both kinds can be compared. */
function declare(scope: ScopeBuilder): void {
  scope.storage('entities', {
    slots: ENTITY_SLOTS,
    kind: 'sparse',
    fields: fieldsOf(CPU.storages.entities, ENTITY_FIELDS),
  });
  scope.storage('regs', { slots: 32, kind: 'dense', fields: fieldsOf(CPU.storages.regs) });
  for (const name of COUNTERS) scope.counter(name);
  for (const [name, fields] of Object.entries(EVENTS)) scope.event(name, fields);
}

// Names: the pins of RVFI, and what a trace of them has.

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
const ENTITY_FIELDS = [
  'entity_id',
  'pc',
  'inst_bits',
  'order',
  'priv_level',
  'is_compressed',
  'ixl',
] as const;
export const EVENTS = {
  stage_transition: CPU_EVENTS.stage_transition,
  flush: CPU_EVENTS.flush,
  trap: CPU_EVENTS.trap,
  interrupt: CPU_EVENTS.interrupt,
  halt: fieldsOf(CPU.events.halt),
  reg_write: CPU_EVENTS.reg_write,
  mem_read: fieldsOf(CPU.events.mem_read),
  mem_write: CPU_EVENTS.mem_write,
  violation: fieldsOf(CPU.events.violation),
  clock_period: fieldsOf(CPU.events.clock_period),
};
export type RvfiEvent = keyof typeof EVENTS;
export const MEMBERS = ['entities', 'regs', ...COUNTERS, ...Object.keys(EVENTS)];
export const ENTITY_SLOTS = 64;
