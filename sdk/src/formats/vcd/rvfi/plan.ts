/** `rvfi: PREFIX`: the pins of the RISC-V Formal Interface, by their names after the prefix, become a core that retires instructions. */
import { UscopeError } from '../../../base/errors.js';
import type { SchemaBuilder, ScopeBuilder } from '../../../schema/index.js';
import type { PlanScope } from '../sampling/plan-scope.js';
import type { FollowedPart } from '../sampling/run.js';
import {
  COUNTERS,
  ENTITY_SLOTS,
  EVENTS,
  INSN_BITS,
  MAX_CHANNELS,
  MEMBERS,
  NEEDED,
  OPTIONAL,
  PAIRS,
  type RvfiPin,
  type RvfiPlan,
} from './pins.js';
import { RvfiRecorder } from './recorder.js';

/** Enums of all cores. */
export function rvfiEnums(builder: SchemaBuilder): void {
  builder
    .enum('pipeline_stage', ['retire'])
    .enum('flush_reason', ['mispredict', 'exception', 'interrupt', 'pipeline_clear'])
    .enum('privilege', { user: 0, supervisor: 1, reserved: 2, machine: 3 })
    .enum('rvfi_violation', [
      'order_gap',
      'order_repeated',
      'order_tie',
      'pc_mismatch',
      'register_mismatch',
      'x0_not_zero',
      'after_halt',
      'unknown_value',
    ]);
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
  return {
    properties: [
      ['cpu.protocol_version', '0.1'],
      ['cpu.isa', isa ?? (xlen === 32 ? 'RV32I' : 'RV64I')],
      ['cpu.pipeline_stages', 'retire'],
    ],
  };
}

/** The scope of `sv/uscope_rvfi.yaml`: the same names, so that traces of both kinds can be compared. */
function declare(scope: ScopeBuilder): void {
  scope.storage('entities', {
    slots: ENTITY_SLOTS,
    kind: 'sparse',
    fields: {
      entity_id: 'u32',
      pc: 'u64',
      inst_bits: 'u32',
      order: 'u64',
      priv_level: 'privilege',
      is_compressed: 'bool',
      ixl: 'u8',
    },
  });
  scope.storage('regs', { slots: 32, kind: 'dense', fields: { value: 'u64' } });
  for (const name of COUNTERS) scope.counter(name);
  for (const [name, fields] of Object.entries(EVENTS)) scope.event(name, fields);
}
