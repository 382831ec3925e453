/** `info`, `dump`, `events` and `stats` of files in other formats. */

import { stat } from 'node:fs/promises';
import { isUscopeError, UscopeError } from '../../base/errors.js';
import { onOneLine } from '../../base/printable.js';
import type { ConversionContext, ForeignEvent, ForeignTrace, InfoSection } from '../../formats/index.js';
import { sniffFormat, USCOPE } from '../../formats/sniff.js';
import { isHttpUrl } from '../../reader/http-url.js';
import type { Source, Trace } from '../../reader/index.js';
import { openSource } from '../../reader/node.js';
import type { Condition, EventArguments } from './event-filter.js';
import { ExitCode, io, printJson } from './io.js';
import type { RangeArguments } from './ranges.js';
import { shownName, withTrace } from './trace-file.js';

/** Runs one of the two, by what the file is. A file that is in no known format is left to the µScope reader, which says what it misses. */
export async function withAnyTrace(
  path: string,
  onTrace: (trace: Trace) => Promise<void>,
  onForeign: (trace: ForeignTrace, context: ConversionContext) => Promise<void>,
): Promise<void> {
  const source = await openBytes(path);
  const foreign = source && (await asForeign(path, source));
  if (!foreign) return withTrace(path, onTrace, source ?? undefined);
  try {
    const [{ ConversionReport }, { withProgress }] = await Promise.all([
      import('../../formats/common/report.js'),
      import('./progress-bar.js'),
    ]);
    const [options, report, onWarning] = [new Map(), new ConversionReport(), warnOnce(path)];
    await withProgress(
      'reading',
      (onProgress) => onForeign(foreign, { options, report, onProgress, onWarning }),
      { streams: true },
    );
    tellPartial(path, foreign.isPartial);
  } catch (error) {
    throw isUscopeError(error) && error.code !== 'CLI_USAGE' ? error.at({ file: shownName(path) }) : error;
  } finally {
    await foreign.close();
    await source.close?.();
  }
}

/** null: not there, or no plain file. The code that opens it as a trace says what is wrong. */
async function openBytes(path: string): Promise<Source | null> {
  if (isHttpUrl(path)) return openSource(path);
  const isFile = await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
  return isFile ? openSource(path, { blocking: true }) : null;
}

/** null when the bytes are µScope or in no known format. */
async function asForeign(path: string, source: Source): Promise<ForeignTrace | null> {
  try {
    const format = await sniffFormat(source);
    return format === null || format === USCOPE || !format.open ? null : await format.open(source, new Map());
  } catch (error) {
    await source.close?.();
    throw isUscopeError(error) ? error.at({ file: shownName(path) }) : error;
  }
}

/** Warnings about a file to stderr, each once. */
export function warnOnce(path: string): (message: string) => void {
  const told = new Set<string>();
  return (message) => {
    if (told.has(message)) return;
    told.add(message);
    io.err(`uscope: warning: ${message} (${shownName(path)})`);
  };
}

/** Everything before the end was printed; that more was there shows in the exit status. */
export function tellPartial(path: string, isPartial: boolean): void {
  if (!isPartial) return;
  io.err(`uscope: warning: ${shownName(path)} ends early; everything before its end was read`);
  process.exitCode = ExitCode.LOSS;
}

/** @throws UscopeError CLI_USAGE for options (by their name on the command line) that only mean something for µScope */
export function refuseOptions(what: string, given: Readonly<Record<string, unknown>>): void {
  for (const [option, value] of Object.entries(given)) {
    if (value === undefined || value === false) continue;
    throw new UscopeError('CLI_USAGE', `${option} is for µScope traces; this is ${what}. Convert it first`);
  }
}

export function refuseRange(what: string, { from, to, cycles, cycle }: RangeArguments): void {
  refuseOptions(what, { '--from': from, '--to': to, '--cycles': cycles, '--cycle': cycle });
}

/** Prints what `stats` says of a file that is not µScope; false for one that is. @throws UscopeError CLI_USAGE for a format without */
export async function printForeignStats(path: string, args: RangeArguments & { readonly json?: boolean }) {
  let isForeign = true;
  await withAnyTrace(
    path,
    async () => {
      isForeign = false;
    },
    async (trace, context) => {
      refuseRange(trace.description, args);
      if (!trace.stats) {
        throw new UscopeError('CLI_USAGE', `${trace.description} has nothing to add up; see \`uscope info\``);
      }
      printSections(path, trace, await trace.stats(context), args.json === true);
    },
  );
  return isForeign;
}

/** `uscope info` and `uscope stats`. */
export function printSections(
  path: string,
  { description }: ForeignTrace,
  sections: readonly InfoSection[],
  asJson: boolean,
): void {
  if (asJson) {
    const parts = sections.map(({ title, rows }) => [title, Object.fromEntries(rows)] as const);
    printJson({ file: shownName(path), format: description, ...Object.fromEntries(parts) });
    return;
  }
  io.out(`${onOneLine(`${shownName(path)}: ${description}`)}\n`);
  for (const { title, rows } of sections) {
    const width = Math.max(0, ...rows.map(([key]) => key.length));
    io.out(`\n${onOneLine(title)}\n`);
    for (const [key, value] of rows) io.out(`  ${onOneLine(`${key.padEnd(width)}  ${value}`)}\n`);
  }
}

/** `uscope dump`. */
export async function dumpForeign(trace: ForeignTrace, json: boolean): Promise<void> {
  for await (const line of trace.dump({ json })) io.out(`${json ? line : onOneLine(line)}\n`);
}

export interface ForeignEventArguments extends EventArguments {
  readonly json?: boolean;
}

/** `uscope events`. @throws UscopeError CLI_USAGE when the format has no events */
export async function printForeignEvents(
  trace: ForeignTrace,
  args: ForeignEventArguments,
  limit: number,
): Promise<void> {
  if (!trace.events) {
    throw new UscopeError(
      'CLI_USAGE',
      `${trace.description} has no events; \`uscope dump\` prints its records`,
    );
  }
  const { parseConditions } = await import('./event-filter.js');
  const conditions = parseConditions(args);
  let left = limit;
  if (left === 0) return;
  for await (const event of trace.events()) {
    if (!isWanted(event, args.event, conditions)) continue;
    io.out(args.json ? eventJson(event, trace.timeUnit) : eventText(event, trace.timeUnit));
    if (--left === 0) return;
  }
}

/** Names may leave out everything before the last `/`, as for µScope. */
function isWanted(
  { type, fields }: ForeignEvent,
  types: readonly string[],
  conditions: readonly Condition[],
) {
  const named = types.length === 0 || types.some((wanted) => type === wanted || type.endsWith(`/${wanted}`));
  return (
    named &&
    conditions.every(({ field, value, number }) => {
      const found = fields.find(([name]) => name === field)?.[1];
      return found !== undefined && (String(found) === value || String(found) === number);
    })
  );
}

function eventText({ time, type, fields }: ForeignEvent, unit: string): string {
  const values = fields.map(([name, value]) => ` ${name}=${textOf(value)}`).join('');
  return `${onOneLine(`${time} ${unit}  ${type}${values}`)}\n`;
}

const textOf = (value: string | bigint | number | boolean): string =>
  typeof value === 'string' ? JSON.stringify(value) : String(value);

function eventJson({ time, type, fields }: ForeignEvent, unit: string): string {
  const values = Object.fromEntries(
    fields.map(([name, value]) => [name, typeof value === 'boolean' ? value : String(value)]),
  );
  return `${JSON.stringify({ time: String(time), unit, event: type, fields: values })}\n`;
}
