/** A block made from instructions that were followed one object each: what the kernel makes of a segment must equal it. */

import {
  BlockEnd,
  BlockFlag,
  type InstructionBlock,
  Known,
  LONG_STAY,
  NO_PRODUCER,
  NONE,
  type Ticks,
  type Values,
} from '../../../sdk/src/semantics/blocks/block.js';
import type { BlockOrigin } from '../../../sdk/src/semantics/blocks/block-columns.js';
import { delaysOf, inOneBuffer, valuesOf } from '../../../sdk/src/semantics/blocks/columns.js';
import { UNKNOWN_PERIOD_PS } from '../../../sdk/src/semantics/blocks/tracker-plan.js';
import type { CoreEventName, CpuCore } from '../../../sdk/src/semantics/cpu/cores.js';
import { InstructionEnd } from '../../../sdk/src/semantics/cpu/lifecycle.js';
import { earlier } from '../../../sdk/src/semantics/cpu/query-range.js';
import type { Tracked } from './tracked.js';

/** From here on ticks are numbers of 64 bits: the largest one of 32 bits means `NONE`. */
const LONG_TICKS = 0xffff_ffffn;

const ENDS = {
  [InstructionEnd.IN_FLIGHT]: BlockEnd.IN_FLIGHT,
  [InstructionEnd.UNKNOWN]: BlockEnd.IN_FLIGHT,
  [InstructionEnd.RETIRED]: BlockEnd.RETIRED,
  [InstructionEnd.SQUASHED]: BlockEnd.SQUASHED,
  [InstructionEnd.LOST]: BlockEnd.LOST,
} as const;

/** @param rows in order of birth */
export function fromTracked(core: CpuCore, rows: readonly Tracked[], origin: BlockOrigin): InstructionBlock {
  const times = timesOf(rows);
  const period = core.periodPs > 0n ? core.periodPs : UNKNOWN_PERIOD_PS;
  const tickPs = times.reduce(gcd, period);
  const basePs = times.length === 0 ? 0n : times.reduce(earlier);
  const isLong = times.some((time) => (time - basePs) / tickPs >= LONG_TICKS);
  const tick = (timePs: bigint): number => Number((timePs - basePs) / tickPs);
  const firstOrdinal = rows.find(({ ordinal }) => ordinal >= 0)?.ordinal ?? origin.births;
  const isInSequence = rows.every(({ ordinal }, row) => ordinal === firstOrdinal + row);
  // As wide as any row of the block needs.
  const rowsOf = (numbers: readonly number[]): Values =>
    valuesOf([...numbers, Math.max(rows.length - 1, 0)]).slice(0, -1);
  const side = <T extends { readonly timePs: bigint }>(list: (row: Tracked) => readonly T[]) => {
    const entries = rows.flatMap((one, row) => list(one).map((entry) => ({ row, entry })));
    const columns = {
      row: rowsOf(entries.map(({ row }) => row)),
      delay: delaysOf(
        entries.map(({ row, entry }) => tick(entry.timePs) - tick(rows[row].birthPs ?? basePs)),
      ),
    };
    return { columns, entries: entries.map(({ entry }) => entry) };
  };
  const has = (event: CoreEventName, field: string): boolean =>
    core.events.get(event)?.fields.has(field) ?? false;
  const stalls = side(({ stalls }) => stalls);
  const annotations = side(({ annotations }) => annotations);
  const flushes = side(({ flush }) => (flush ? [flush] : []));
  const traps = side(({ trap }) => (trap ? [trap] : []));
  return inOneBuffer({
    segment: origin.segment,
    reachesEnd: origin.reachesEnd,
    tickPs: Number(tickPs),
    baseTick: Number(basePs / tickPs),
    basePs,
    count: rows.length,
    firstRow: origin.base === null ? -1 : Number(origin.base) + firstOrdinal,
    numbers: isInSequence
      ? null
      : Uint32Array.from(rows, ({ ordinal }) => (ordinal < 0 ? NONE : ordinal - firstOrdinal)),
    birth: ticksOf(
      rows.map(({ birthPs }) => (birthPs === null ? NONE : tick(birthPs))),
      isLong,
    ),
    end: ticksOf(
      rows.map(({ endPs }) => (endPs === null ? NONE : tick(endPs))),
      isLong,
    ),
    flags: Uint8Array.from(rows, flagsOf),
    id: valuesOf(rows.map(({ id }) => id)),
    slot: rows.every(({ slot, id }) => slot === id) ? null : valuesOf(rows.map(({ slot }) => slot)),
    thread: rows.every(({ thread }) => thread === null)
      ? null
      : valuesOf(rows.map(({ thread }) => thread ?? 0)),
    ...staticColumns(rows),
    ...stageColumns(core, rows, tick),
    dependencies: {
      ...side(({ dependencies }) => dependencies).columns,
      ...producerColumns(rows, isInSequence, firstOrdinal, has('dependency', 'dep_type')),
    },
    stalls: {
      ...stalls.columns,
      reason: has('stall', 'reason') ? valuesOf(stalls.entries.map(({ reason }) => reason)) : null,
    },
    annotations: {
      ...annotations.columns,
      string: valuesOf(annotations.entries.map(({ string }) => string)),
      kind: has('annotate', 'kind')
        ? Uint8Array.from(annotations.entries, ({ kind }) => Math.min(kind, 255))
        : null,
    },
    flushes: {
      ...flushes.columns,
      reason: has('flush', 'reason') ? valuesOf(flushes.entries.map(({ reason }) => reason ?? 0)) : null,
    },
    traps: { ...traps.columns, ...trapColumns(traps.entries) },
  });
}

function timesOf(rows: readonly Tracked[]): bigint[] {
  return rows.flatMap(({ birthPs, endPs, stages, stalls, annotations, dependencies, flush, trap }) => [
    ...[birthPs, endPs].filter((time) => time !== null),
    ...stages.map(({ timeHi, timeLo }) => joined(timeHi, timeLo)),
    ...[stalls, annotations, dependencies, flush ? [flush] : [], trap ? [trap] : []].flatMap((entries) =>
      entries.map(({ timePs }) => timePs),
    ),
  ]);
}

function flagsOf({ end, endPs, isAbridged, birthPs, isCompressed, thread, flush }: Tracked): number {
  let flags: number = endPs === null ? BlockEnd.IN_FLIGHT : ENDS[end];
  if (isAbridged) flags |= BlockFlag.ABRIDGED;
  if (birthPs === null) flags |= BlockFlag.BIRTH_UNKNOWN;
  if (isCompressed !== null) flags |= BlockFlag.COMPRESSED_KNOWN;
  if (isCompressed) flags |= BlockFlag.COMPRESSED;
  if (thread !== null) flags |= BlockFlag.HAS_THREAD;
  if (flush) flags |= BlockFlag.FLUSHED;
  return flags;
}

/** Numbers of distinct things, in the order in which they come first. */
class Distinct<T> {
  readonly things: T[] = [];
  private readonly numbers = new Map<string, number>();

  numberOf(key: string, thing: () => T): number {
    let number = this.numbers.get(key);
    if (number === undefined) {
      number = this.things.length;
      this.things.push(thing());
      this.numbers.set(key, number);
    }
    return number;
  }
}

function staticColumns(rows: readonly Tracked[]): Pick<InstructionBlock, 'statics' | 'staticTable'> {
  const table = new Distinct<ReturnType<typeof staticOf>>();
  const statics = rows.map((row) => {
    const one = staticOf(row);
    return table.numberOf(Object.values(one).join(), () => one);
  });
  const { things } = table;
  return {
    statics: valuesOf(statics),
    staticTable: {
      pcLo: Uint32Array.from(things, ({ pcLo }) => pcLo),
      pcHi: valuesOf(things.map(({ pcHi }) => pcHi)),
      bits: Uint32Array.from(things, ({ bits }) => bits),
      known: Uint8Array.from(things, ({ known }) => known),
    },
  };
}

const staticOf = ({ pcLo, pcHi, bits, hasPc, hasBits }: Tracked) => ({
  pcLo: pcLo >>> 0,
  pcHi: pcHi >>> 0,
  bits: bits >>> 0,
  known: (hasPc ? Known.PC : 0) | (hasBits ? Known.BITS : 0),
});

function stageColumns(core: CpuCore, rows: readonly Tracked[], tick: (timePs: bigint) => number) {
  const paths = new Distinct<number[]>();
  const path = rows.map(({ stages }) => {
    const values = stages.map(({ value }) => value);
    return paths.numberOf(values.join(), () => values);
  });
  const ticks = rows.flatMap(({ stages, birthPs }) => {
    let before = birthPs === null ? 0 : tick(birthPs);
    return stages.map(({ timeHi, timeLo }) => {
      const at = tick(joined(timeHi, timeLo));
      const ticks = at - before;
      before = at;
      return ticks;
    });
  });
  const long = [...ticks.keys()].filter((index) => ticks[index] >= LONG_STAY);
  const values = paths.things.flat();
  return {
    path: valuesOf(path),
    pathStart: startsOf(paths.things.map(({ length }) => length)),
    pathStages: Int16Array.from(values, (value) => core.stageOf(value)),
    pathValues: valuesOf(values),
    stageStart: startsOf(rows.map(({ stages }) => stages.length)),
    stageTicks: Uint8Array.from(ticks, (count) => Math.min(count, LONG_STAY)),
    longStays: {
      index: Uint32Array.from(long),
      ticks: Float64Array.from(long, (index) => ticks[index]),
    },
  };
}

/** Where each of them begins, and where the last one ends. */
function startsOf(lengths: readonly number[]): Uint32Array {
  const starts = new Uint32Array(lengths.length + 1);
  lengths.forEach((length, index) => {
    starts[index + 1] = starts[index] + length;
  });
  return starts;
}

function producerColumns(
  rows: readonly Tracked[],
  isInSequence: boolean,
  firstOrdinal: number,
  hasType: boolean,
) {
  const own = new Set(rows);
  const all = rows.flatMap(({ dependencies }) => dependencies);
  const producer = all.map(({ producer }) => {
    if (!producer || producer.ordinal < 0) return NO_PRODUCER;
    const distance = producer.ordinal - firstOrdinal;
    return Math.abs(distance) < -NO_PRODUCER ? distance : NO_PRODUCER;
  });
  const foreign = [...all.keys()].filter((index) => {
    const one = all[index].producer;
    return !isInSequence || producer[index] === NO_PRODUCER || one === null || !own.has(one);
  });
  const of = (index: number): Tracked | null => all[index].producer;
  return {
    producer: Int32Array.from(producer),
    type: hasType ? valuesOf(all.map(({ type }) => type ?? 0)) : null,
    foreign: {
      at: Uint32Array.from(foreign),
      on: Uint32Array.from(foreign, (index) => all[index].on),
      known: Uint8Array.from(foreign, (index) => (of(index)?.hasPc ? Known.PC : 0)),
      pcLo: Uint32Array.from(foreign, (index) => of(index)?.pcLo ?? 0),
      pcHi: Uint32Array.from(foreign, (index) => of(index)?.pcHi ?? 0),
    },
  };
}

type Trap = NonNullable<Tracked['trap']>;

function trapColumns(traps: readonly Trap[]) {
  const words = (value: bigint | null): number[] => {
    const known = value ?? 0n;
    return [Number(known & 0xffff_ffffn), Number((known >> 32n) & 0xffff_ffffn)];
  };
  return {
    known: Uint8Array.from(traps, ({ cause, tval, target }) =>
      [cause, tval, target].reduce((bits, value, index) => bits | (value === null ? 0 : 1 << index), 0),
    ),
    words: Uint32Array.from(
      traps.flatMap(({ cause, tval, target }) => [...words(cause), ...words(tval), ...words(target)]),
    ),
  };
}

function gcd(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}

function joined(hi: number, lo: number): bigint {
  return (BigInt(hi >>> 0) << 32n) | BigInt(lo >>> 0);
}

function ticksOf(ticks: readonly number[], isLong: boolean): Ticks {
  return isLong ? Float64Array.from(ticks) : Uint32Array.from(ticks);
}
