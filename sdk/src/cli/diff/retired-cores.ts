/** The retired instructions of the cores of two traces, as streams that can be compared. */
import { appendAll } from '../../base/arrays.js';
import { UscopeError } from '../../base/errors.js';
import { Action } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import {
  type CpuCore,
  findCore,
  findCores,
  type Instruction,
  InstructionEnd,
} from '../../semantics/cpu/index.js';
import { instructions } from '../../semantics/instructions/instructions.js';
import type { RetiredCore, RetiredInstruction, ScopePair } from '../../tools/diff/index.js';
import type { TimeBounds } from '../common/ranges.js';
import { EffectStream, type Effects } from './instruction-effects.js';

/** What can be compared next to address and machine code. */
export const RETIRED_VALUES = ['text', 'trap', 'thread', 'registers', 'stores'] as const;

export interface CorePairs {
  readonly cores: readonly RetiredCore[];
  readonly onlyA: readonly string[];
  readonly onlyB: readonly string[];
}

interface Pair {
  readonly a: CpuCore;
  readonly b: CpuCore;
}

/**
 * Cores of equal names; where each trace has one core, those, whatever they are called. Threads of a core are compared one by one.
 * @throws UscopeError READER_NAME
 */
export async function retiredCores(
  a: Trace,
  b: Trace,
  asked: readonly ScopePair[],
  range: TimeBounds,
): Promise<CorePairs> {
  const { pairs, onlyA, onlyB } = pairCores(a, b, asked);
  const cores: RetiredCore[] = [];
  for (const pair of pairs) appendAll(cores, await streamsOf(a, b, pair, range));
  return { cores, onlyA, onlyB };
}

function pairCores(a: Trace, b: Trace, asked: readonly ScopePair[]) {
  if (asked.length > 0) {
    const pairs = asked.map((names): Pair => ({ a: findCore(a, names.a), b: findCore(b, names.b) }));
    return { pairs, onlyA: [], onlyB: [] };
  }
  const [inA, inB] = [findCores(a), findCores(b)];
  if (inA.length === 0 || inB.length === 0) {
    throw new UscopeError('READER_NAME', 'one of the traces has no core: no scope has the protocol "cpu"');
  }
  if (inA.length === 1 && inB.length === 1)
    return { pairs: [{ a: inA[0], b: inB[0] }], onlyA: [], onlyB: [] };
  const pairs = inA.flatMap((core): Pair[] => {
    const other = inB.find(({ name }) => name === core.name);
    return other ? [{ a: core, b: other }] : [];
  });
  const without = (cores: readonly CpuCore[], others: readonly CpuCore[]): string[] =>
    cores.filter(({ name }) => others.every((other) => other.name !== name)).map(({ name }) => name);
  return { pairs, onlyA: without(inA, inB), onlyB: without(inB, inA) };
}

async function streamsOf(a: Trace, b: Trace, pair: Pair, range: TimeBounds): Promise<RetiredCore[]> {
  const name = pair.a.name === pair.b.name ? pair.a.name : `${pair.a.name} and ${pair.b.name}`;
  const threads = new Set([...(await threadsOf(a, pair.a, range)), ...(await threadsOf(b, pair.b, range))]);
  const stream = (thread: number | null) => ({
    a: retired(a, pair.a, range, thread),
    b: retired(b, pair.b, range, thread),
  });
  if (threads.size < 2) return [{ name, ...stream(null) }];
  return [...threads].sort((x, y) => x - y).map((id) => ({ name: `${name} thread ${id}`, ...stream(id) }));
}

/** Numbers of the threads of a core: how their instructions interleave is a matter of timing. */
async function threadsOf(trace: Trace, { entities }: CpuCore, range: TimeBounds): Promise<Set<number>> {
  const threads = new Set<number>();
  if (!entities || entities.threadField < 0) return threads;
  const { def, threadField } = entities;
  await trace.scan(range, {
    op: ({ action, storageId, field, lo }) => {
      if (storageId === def.storageId && field === threadField && action === Action.SET) threads.add(lo);
    },
  });
  return threads;
}

/** In program order: that of birth, of those that have retired within the range. */
async function* retired(
  trace: Trace,
  core: CpuCore,
  range: TimeBounds,
  thread: number | null,
): AsyncGenerator<RetiredInstruction> {
  const effects = new EffectStream(trace, core, range);
  try {
    for await (const one of instructions(trace, core, range, { numbering: 'never' })) {
      if (one.end !== InstructionEnd.RETIRED || one.endPs === null) continue;
      if (thread !== null && one.thread !== thread) continue;
      if (range.to !== undefined && one.endPs >= range.to) continue;
      if (range.from !== undefined && one.endPs < range.from) continue;
      yield record(core, one, one.endPs, await effects.of(one.id, one.birthPs, one.endPs));
    }
  } finally {
    await effects.close();
  }
}

function record(
  { periodPs }: CpuCore,
  one: Instruction,
  timePs: bigint,
  { registers, stores }: Effects,
): RetiredInstruction {
  const { trap, annotations, thread } = one;
  return {
    timePs,
    cycle: periodPs > 0n ? timePs / periodPs : null,
    pc: one.pc,
    bits: one.bits,
    values: {
      text: annotations.length > 0 ? annotations.map(({ text }) => text).join(' | ') : null,
      trap: trap ? `cause ${trap.cause} tval ${trap.tval} target ${trap.target}` : 'none',
      thread: thread === null ? null : String(thread),
      registers,
      stores,
    },
  };
}
