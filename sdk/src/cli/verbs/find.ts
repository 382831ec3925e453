/** `uscope find`: instructions by text or address, and events. */
import type { Command } from 'commander';
import { UscopeError } from '../../base/errors.js';
import { onOneLine } from '../../base/printable.js';
import { scopePath } from '../../format/types.js';
import type { Trace } from '../../reader/index.js';
import { findCore, findCores } from '../../semantics/cpu/cores.js';
import { type Found, find, parsePattern } from '../../semantics/search/index.js';
import { searchIndex, type TraceIndex } from '../../trace-index/index.js';
import { openIndexOf } from '../../trace-index/node/index.js';
import { bigintAsString, io, paint, printJson } from '../common/io.js';
import { append, parseCount } from '../common/option-values.js';
import { withProgress } from '../common/progress-bar.js';
import {
  type AskedRange,
  addRangeOptions,
  parseRange,
  type RangeArguments,
  rangeInTime,
} from '../common/ranges.js';
import { withTrace } from '../common/trace-file.js';

interface FindArguments extends RangeArguments {
  readonly core: readonly string[];
  readonly ignoreCase?: boolean;
  readonly fixed?: boolean;
  readonly limit?: string;
  readonly count?: boolean;
  readonly json?: boolean;
  readonly jsonl?: boolean;
}

export function register(command: Command): void {
  command
    .description(
      'Searches disassembly and annotations for a regular expression, or for pc:ADDRESS, seq:NUMBER, retired:NUMBER, event:NAME, stall:REASON, flush:REASON, or for several of them, and prints where each match is.',
    )
    .argument('<file>', 'trace file')
    .argument('<pattern>', 'what to search for')
    .option('-i, --ignore-case', 'upper and lower case are the same')
    .option('--fixed', 'take the pattern literally, not as a regular expression')
    .option('--core <name>', 'only this core (may be repeated)', append, []);
  addRangeOptions(command)
    .option('--limit <n>', 'stop after n matches')
    .option('--count', 'only how many there are')
    .option('--json', 'one JSON document')
    .option('--jsonl', 'one JSON object per line')
    .action((file: string, pattern: string, options: FindArguments) => {
      const asked = parseRange(options);
      const limit = parseCount('--limit', options.limit);
      if (options.json && options.jsonl) throw new UscopeError('CLI_USAGE', 'give one of --json and --jsonl');
      parsePattern(pattern, options);
      return withTrace(file, async (trace) => {
        const index = await openIndexOf(trace, file);
        try {
          await search(trace, pattern, options, { asked, limit, index });
        } finally {
          await index?.close();
        }
      });
    });
}

interface SearchPlan {
  readonly asked: AskedRange;
  /** Most matches. */
  readonly limit: number;
  /** null: the trace has none. */
  readonly index: TraceIndex | null;
}

async function search(
  trace: Trace,
  pattern: string,
  options: FindArguments,
  { asked, limit, index }: SearchPlan,
): Promise<void> {
  const { ignoreCase, fixed, json = false } = options;
  const cores = options.core.length > 0 ? options.core.map((name) => findCore(trace, name)) : undefined;
  const range = rangeInTime(asked, trace, cores?.[0]?.clock?.name);
  const skipping = index ? { index: searchIndex(index) } : {};
  const kept: unknown[] = [];
  const print = printer(trace, options, kept);
  let count = 0;
  await withProgress(
    'searching',
    async (progress) => {
      if (limit === 0) return;
      for await (const found of find(trace, pattern, {
        ...range,
        cores,
        ignoreCase,
        fixed,
        progress,
        ...skipping,
      })) {
        for (const one of found) {
          print(one);
          if (++count >= limit) return;
        }
      }
    },
    { streams: !json },
  );
  if (json) printJson(options.count ? { count } : { count, found: kept });
  else if (options.count) io.out(options.jsonl ? `${JSON.stringify({ count })}\n` : `${count}\n`);
}

/** What is done with a match. @param kept takes those of the one JSON document */
function printer(trace: Trace, options: FindArguments, kept: unknown[]): (found: Found) => void {
  if (options.count) return () => undefined;
  const periods = periodsOf(trace);
  const cycleOf = (found: Found): bigint | null => {
    const period = periods.get(found.kind === 'event' ? found.event : found.core) ?? 0n;
    return found.timePs === null || period === 0n ? null : found.timePs / period;
  };
  const data = (found: Found) => ({ cycle: cycleOf(found), ...found });
  if (options.json) return (found) => void kept.push(data(found));
  if (options.jsonl) return (found) => io.out(`${JSON.stringify(data(found), bigintAsString)}\n`);
  const hasCores = findCores(trace).length > 1;
  return (found) => io.out(`${line(found, cycleOf(found), hasCores)}\n`);
}

/** By name of a core or event: its clock's period in ps, 0n where it is not known. */
function periodsOf(trace: Trace): ReadonlyMap<string, bigint> {
  const { schema, names } = trace;
  const period = (scopeId: number): bigint => BigInt(trace.clockOf(scopeId)?.periodPs ?? 0);
  return new Map([
    ...schema.events.map(
      ({ eventTypeId, scopeId }) => [names.eventNames[eventTypeId], period(scopeId)] as const,
    ),
    ...schema.scopes.map(
      ({ scopeId, name }) => [scopePath(schema, scopeId) || name, period(scopeId)] as const,
    ),
  ]);
}

function line(found: Found, cycle: bigint | null, hasCores: boolean): string {
  const time = cycle !== null ? String(cycle) : found.timePs !== null ? `${found.timePs} ps` : 'before';
  if (found.kind === 'event') {
    const fields = Object.entries(found.fields).map(
      ([name, value]) => `${onOneLine(name)}=${oneLine(value)}`,
    );
    return `${time.padStart(10)}  ${paint('cyan', found.event)} ${fields.join(' ')}`.trimEnd();
  }
  const { core, row, pc, text, annotation, end } = found;
  const words = [
    time.padStart(10),
    ...(hasCores ? [onOneLine(core)] : []),
    (row < 0 ? '-' : `#${row}`).padStart(9),
    (pc === null ? '-' : pc.toString(16).padStart(8, '0')).padStart(8),
    paint('cyan', oneLine(text)),
    ...(annotation !== null && annotation !== text ? [paint('dim', oneLine(annotation))] : []),
    ...(end === 'retired' ? [] : [paint('yellow', end)]),
  ];
  return words.join('  ');
}

// Text of a model may hold anything: line breaks would break the lines.
function oneLine(text: string): string {
  return onOneLine(text.replace(/\s+/gu, ' ').trim());
}
