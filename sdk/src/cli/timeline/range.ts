/** Which cycles and instructions `uscope timeline` is asked for. */
import { UscopeError } from '../../base/errors.js';
import type { Trace } from '../../reader/index.js';
import { type CpuCore, cycleOf, requireEntities, requirePeriod } from '../../semantics/cpu/cores.js';
import { birthOf } from '../../semantics/cpu/numbering.js';
import { firstAt } from '../../semantics/cpu/searches.js';
import { instructions } from '../../semantics/instructions/instructions.js';
import type { TimelineRange } from '../../semantics/timeline/selection.js';
import { parseCycles } from '../common/ranges.js';
import { parseClockCycle, parseTime, periodOfClock } from '../common/times.js';

export interface RangeOptions {
  readonly cycles?: string;
  readonly cycle?: string;
  readonly from?: string;
  readonly to?: string;
  readonly instructions?: string;
  readonly around?: string;
  readonly last?: string;
}

/** Checked before a file is opened: what is asked for, as far as the command line alone says. */
export type Request =
  | { readonly kind: 'default' }
  | {
      readonly kind: 'cycles';
      readonly from: bigint;
      readonly to: bigint | null;
      /** Whose cycles these are; null: the core's. */
      readonly clock: string | null;
    }
  | { readonly kind: 'times'; readonly from: bigint; readonly to: bigint | null }
  | { readonly kind: 'instructions'; readonly from: bigint; readonly to: bigint }
  | { readonly kind: 'last'; readonly cycles: bigint }
  | { readonly kind: 'around'; readonly pc: bigint; readonly search: Request };

/** Cycles shown when the command line does not say: they fit the width of a pipe. */
const DEFAULT_CYCLES = 60n;
/** Slow cores get the cycles of this number of instructions, up to a limit. */
const DEFAULT_INSTRUCTIONS = 8;
const MAX_DEFAULT_CYCLES = 600n;
/** Of these, how many precede the instruction asked for with --around. */
const CYCLES_BEFORE = 16n;

/** @throws UscopeError CLI_USAGE */
export function parseRequest(options: RangeOptions): Request {
  const { cycles, cycle, from, to, instructions: numbers, last, around } = options;
  const byTime = from !== undefined || to !== undefined;
  const given = [
    cycles !== undefined && '--cycles',
    cycle !== undefined && '--cycle',
    byTime && '--from/--to',
    numbers !== undefined && '--instructions',
    last !== undefined && '--last',
  ].filter((name) => name !== false);
  if (given.length > 1) usage(`${given.join(' and ')} say the range twice; give one of them`);
  if (around !== undefined) {
    if (numbers !== undefined) usage('--around searches by time: give it --cycles, --from/--to or --last');
    const { around: _, ...rest } = options;
    return { kind: 'around', pc: parseAddress(around), search: parseRequest(rest) };
  }
  if (cycles !== undefined) return { ...parseCycles(cycles), kind: 'cycles' };
  if (cycle !== undefined) {
    const { number, clock } = parseClockCycle(cycle);
    return { kind: 'cycles', from: number, to: number + 1n, clock };
  }
  if (byTime) return timeRequest(from, to);
  if (numbers !== undefined) {
    const pair = parsePair('--instructions', numbers);
    return { kind: 'instructions', from: pair.from, to: pair.to ?? usage('--instructions needs both ends') };
  }
  if (last !== undefined) return { kind: 'last', cycles: parseCount(last) };
  return { kind: 'default' };
}

function timeRequest(from: string | undefined, to: string | undefined): Request {
  const start = from === undefined ? 0n : parseTime(from);
  const end = to === undefined ? null : parseTime(to);
  if (end !== null && end <= start) usage(`--from ${from ?? 0} is not before --to ${to}`);
  return { kind: 'times', from: start, to: end };
}

/** `N:M`, `N:` or `:M`. */
function parsePair(option: string, text: string): { from: bigint; to: bigint | null } {
  const match = /^([\d_]*):([\d_]*)$/.exec(text.trim());
  const [first = '', second = ''] = match ? match.slice(1).map((part) => part.replaceAll('_', '')) : [];
  if (!match || first + second === '') usage(`${option} "${text}" is not a range; write 100:200`);
  const from = BigInt(first || 0);
  const to = second === '' ? null : BigInt(second);
  if (to !== null && to <= from)
    usage(`${option} "${text}" is empty; the first is inclusive, the second not`);
  return { from, to };
}

function parseAddress(text: string): bigint {
  if (/^(0[xX][0-9a-fA-F]+|\d+)$/.test(text)) return BigInt(text);
  return usage(`"${text}" is not an address; write 0x80000010`);
}

function parseCount(text: string): bigint {
  return /^[1-9]\d*$/.test(text) ? BigInt(text) : usage(`--last "${text}" is not a number of cycles`);
}

/**
 * @throws UscopeError READER_RANGE: the range lies outside the trace, or it holds no such instruction; READER_NO_CYCLES, READER_NAME
 */
export async function resolveRange(trace: Trace, core: CpuCore, request: Request): Promise<TimelineRange> {
  requireEntities(core);
  const period = requirePeriod(core);
  const end = trace.totalTimePs / period + 1n;
  const range = await findRange(trace, core, request, end);
  if (range.from >= end) {
    throw new UscopeError(
      'READER_RANGE',
      `the trace ends in cycle ${end - 1n}; cycle ${range.from} is beyond it`,
    );
  }
  return range.to > end ? { ...range, to: end } : range;
}

async function findRange(trace: Trace, core: CpuCore, request: Request, end: bigint): Promise<TimelineRange> {
  const cycles = (from: bigint, to: bigint | null): TimelineRange => ({
    from,
    to: to ?? end,
    numbers: null,
    pc: null,
  });
  switch (request.kind) {
    case 'cycles': {
      if (request.clock === null) return cycles(request.from, request.to);
      const period = periodOfClock(trace, request.clock);
      const last = request.to && cycleOf(core, request.to * period - 1n) + 1n;
      return cycles(cycleOf(core, request.from * period), last);
    }
    case 'times':
      return cycles(cycleOf(core, request.from), request.to && cycleOf(core, request.to - 1n) + 1n);
    case 'last':
      return cycles(end > request.cycles ? end - request.cycles : 0n, end);
    case 'instructions':
      return numberRange(trace, core, request.from, request.to);
    case 'around':
      return aroundAddress(trace, core, request.pc, request.search, end);
    default: {
      const { first, last } = await firstInstructions(trace, core);
      return cycles(first, last);
    }
  }
}

/** Cycles in which the first instructions are born, start inclusive, end exclusive. */
async function firstInstructions(trace: Trace, core: CpuCore): Promise<{ first: bigint; last: bigint }> {
  let first: bigint | null = null;
  let last = 0n;
  let count = 0;
  for await (const { birthPs } of instructions(trace, core, {}, { lookahead: 0, numbering: 'never' })) {
    const birth: bigint = cycleOf(core, birthPs ?? (await trace.segment(0)).timeStartPs);
    first ??= birth;
    if (birth >= first + MAX_DEFAULT_CYCLES) break;
    last = birth;
    if (++count === DEFAULT_INSTRUCTIONS) break;
  }
  first ??= 0n;
  const fewest = first + DEFAULT_CYCLES;
  return { first, last: last < fewest ? fewest : last + 1n };
}

/** From the first one's birth until a while after the last one's. */
async function numberRange(trace: Trace, core: CpuCore, from: bigint, to: bigint): Promise<TimelineRange> {
  const first = await birthOf(trace, core, from);
  if (first === null) {
    throw new UscopeError('READER_RANGE', `the trace does not hold instruction ${from} of ${core.name}`);
  }
  const last = await birthOf(trace, core, to - 1n);
  const end = cycleOf(core, last ?? trace.totalTimePs) + DEFAULT_CYCLES;
  return { from: cycleOf(core, first), to: end, numbers: [from, to], pc: null };
}

async function aroundAddress(
  trace: Trace,
  core: CpuCore,
  pc: bigint,
  search: Request,
  end: bigint,
): Promise<TimelineRange> {
  const where = search.kind === 'default' ? { from: 0n, to: end } : await findRange(trace, core, search, end);
  const found = await firstAt(trace, core, pc, { from: where.from, to: where.to, unit: 'cycles' });
  if (found === null) {
    throw new UscopeError(
      'READER_RANGE',
      `no instruction at 0x${pc.toString(16)} is fetched in cycles ${where.from} to ${where.to}`,
    );
  }
  const cycle = cycleOf(core, found);
  const from = cycle > CYCLES_BEFORE ? cycle - CYCLES_BEFORE : 0n;
  return { from, to: from + DEFAULT_CYCLES, numbers: null, pc };
}

function usage(problem: string): never {
  throw new UscopeError('CLI_USAGE', problem);
}
