/** One line of O3PipeView. */
import { UscopeError } from '../../base/errors.js';
import { GEM5_STAGES } from './types.js';

export interface FetchLine {
  readonly stage: 0;
  readonly tick: number;
  readonly pc: bigint;
  readonly microPc: number;
  readonly seq: bigint;
  readonly disassembly: string;
}

export interface StageLine {
  /** Index into GEM5_STAGES. */
  readonly stage: number;
  readonly tick: number;
  readonly storeTick: number;
}

export const PREFIX = 'O3PipeView:';
/** Some builds print a tick, an object, or both before it. */
const HEAD = /^\s*(?:\d+:\s*)?(?:([A-Za-z_][\w.]*):\s*)?O3PipeView:/;
const MAX_U64 = (1n << 64n) - 1n;

/**
 * Null: another line, of other debug flags or the program itself.
 * @throws UscopeError CONVERT_FORMAT for an O3PipeView line that is none
 */
export function parseLine(line: string, offset: number): FetchLine | StageLine | null {
  const start = HEAD.exec(line)?.[0].length;
  if (start === undefined) return null;
  const columns = line.slice(start - PREFIX.length).split(':');
  const stage = (GEM5_STAGES as readonly string[]).indexOf(columns[1] ?? '');
  const tick = numberIn(columns[2]);
  if (stage < 0) throw wrong(offset, `"${(columns[1] ?? '').slice(0, 20)}" is no stage of O3PipeView`);
  if (tick === null) throw wrong(offset, `a tick is expected after "${columns[1]}"`);
  return stage === 0 ? fetchLine(columns, tick, offset) : stageLine(columns, stage, tick, offset);
}

/** The object that a line of O3PipeView begins with (`system.cpu1`); '': none. */
export function objectOf(line: string): string {
  return HEAD.exec(line)?.[1] ?? '';
}

function fetchLine(columns: readonly string[], tick: number, offset: number): FetchLine {
  const pc = /^\s*0x([0-9a-fA-F]{1,16})\s*$/.exec(columns[3] ?? '')?.[1];
  const microPc = numberIn(columns[4]);
  const seq = /^\s*(\d{1,20})\s*$/.exec(columns[5] ?? '')?.[1];
  if (pc === undefined) throw wrong(offset, 'an address (0x…) is due in column 4 of a fetch');
  if (microPc === null) throw wrong(offset, 'a micro-PC is due in column 5 of a fetch');
  if (seq === undefined || BigInt(seq) > MAX_U64)
    throw wrong(offset, 'a sequence number is due in column 6 of a fetch');
  if (columns.length < 7) throw wrong(offset, 'the disassembly is missing');
  const disassembly = columns.slice(6).join(':').trim();
  return { stage: 0, tick, pc: BigInt(`0x${pc}`), microPc, seq: BigInt(seq), disassembly };
}

function stageLine(columns: readonly string[], stage: number, tick: number, offset: number): StageLine {
  if (columns.length === 3) return { stage, tick, storeTick: 0 };
  const storeTick = columns.length === 5 && columns[3] === 'store' ? numberIn(columns[4]) : null;
  if (storeTick === null || GEM5_STAGES[stage] !== 'retire')
    throw wrong(offset, 'nothing may follow the tick but "store:" and another one');
  return { stage, tick, storeTick };
}

function numberIn(column: string | undefined): number | null {
  const digits = /^\s*(\d{1,16})\s*$/.exec(column ?? '')?.[1];
  const value = digits === undefined ? Number.NaN : Number(digits);
  return Number.isSafeInteger(value) ? value : null;
}

function wrong(offset: number, detail: string): UscopeError {
  return new UscopeError('CONVERT_FORMAT', detail, { offset });
}
