/** A command for compiled code: `struct command` in sdk/kernel/pipeline/kanata.h. */
import type { PipelineKernel } from '../pipeline/kernel/pipeline-kernel.js';

/** In the order of `enum kind`. */
export const CommandKind = {
  ADVANCE: 0,
  CYCLE: 1,
  BEGIN: 2,
  LABEL: 3,
  START: 4,
  END: 5,
  RETIRE: 6,
  DEPENDENCY: 7,
} as const;
export type CommandKind = (typeof CommandKind)[keyof typeof CommandKind];

/** In the order of `enum status`. */
export const Status = {
  TAKEN: 0,
  FOR_CALLER: 1,
  TOO_MANY: 2,
  BEYOND_CYCLES: 3,
  BEYOND_TIMES: 4,
  BACKWARDS: 5,
  BEGUN_TWICE: 6,
  NO_SLOT: 7,
  LARGE_THREAD: 8,
  LARGE_KIND: 9,
  LARGE_LANE: 10,
  LARGE_TYPE: 11,
  LONG_STRING: 12,
} as const;

const [B_AT, C_AT, KIND_AT, SIZE_AT, TEXT_AT] = [8, 16, 24, 28, 32];

/** Returns its address. Numbers are whole, at most 64 bits. */
export function putCommand(
  kernel: PipelineKernel,
  kind: CommandKind,
  a: number,
  b: number | bigint = 0,
  c = 0,
): number {
  const { view } = kernel;
  const at = kernel.code.command_at();
  view.setBigInt64(at, BigInt(a), true);
  view.setBigUint64(at + B_AT, BigInt(b), true);
  view.setBigUint64(at + C_AT, BigInt(c), true);
  view.setUint32(at + KIND_AT, kind, true);
  view.setUint32(at + SIZE_AT, 0, true);
  return at;
}

/** The same with a text. */
export function putTextCommand(
  kernel: PipelineKernel,
  kind: CommandKind,
  a: number,
  b: number,
  bytes: Uint8Array,
  from: number,
  to: number,
): number {
  const at = putCommand(kernel, kind, a, b);
  const text = kernel.putText(bytes, from, to);
  kernel.view.setUint32(at + SIZE_AT, to - from, true);
  kernel.view.setUint32(at + TEXT_AT, text, true);
  return at;
}
