/** `info`, `dump`, `events` and `stats` of files in other formats. */

import { stat } from 'node:fs/promises';
import { maxOf } from '../../base/arrays.js';
import { isUscopeError, UscopeError } from '../../base/errors.js';
import { namesNear } from '../../base/near-names.js';
import { onOneLine } from '../../base/printable.js';
import type {
  ConversionContext,
  ForeignEvent,
  ForeignFormat,
  ForeignTrace,
  InfoSection,
} from '../../formats/index.js';
import { FORMATS } from '../../formats/registry.js';
import { formatOf, USCOPE } from '../../formats/sniff.js';
import { isHttpUrl } from '../../reader/http-url.js';
import type { Source, Trace } from '../../reader/index.js';
import { openSource } from '../../reader/node.js';
import type { Condition, EventArguments } from './event-filter.js';
import { ExitCode, io, printJson } from './io.js';
import type { RangeArguments } from './ranges.js';
import { shownName, withTrace } from './trace-file.js';

/**
 * Runs one of the two, by what the file is. A file that is in no known format is left to the µScope reader, which says what it misses.
 * @param named the format that the user names
 */
export async function withAnyTrace(
  path: string,
  onTrace: (trace: Trace) => Promise<void>,
  onForeign: (trace: ForeignTrace, context: ConversionContext) => Promise<void>,
  named?: string,
): Promise<void> {
  const source = await openBytes(path);
  const foreign = source && (await asForeign(path, source, named));
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
async function asForeign(
  path: string,
  source: Source,
  named: string | undefined,
): Promise<ForeignTrace | null> {
  try {
    const format = await readableFormat(source, named);
    return format && (await format.open(source, new Map()));
  } catch (error) {
    await source.close?.();
    throw isUscopeError(error) ? error.at({ file: shownName(path) }) : error;
  }
}

type ReadableFormat = ForeignFormat & Required<Pick<ForeignFormat, 'open'>>;

/** null: µScope, or nothing known. @throws UscopeError CONVERT_UNKNOWN, CONVERT_UNSUPPORTED */
async function readableFormat(source: Source, named: string | undefined): Promise<ReadableFormat | null> {
  const format = await formatOf(source, named);
  if (format === null || format === USCOPE) return null;
  if (format.open) return format as ReadableFormat;
  throw new UscopeError('CONVERT_UNKNOWN', `${format.title} can be written, not read`);
}

/**
 * The format to convert a file from; null: µScope, or nothing known, which the reader then says.
 * @param named the format that the user names @throws UscopeError CONVERT_UNKNOWN, CONVERT_UNSUPPORTED, and as reading the file
 */
export async function foreignFormatOf(pathOrUrl: string, named?: string): Promise<ForeignFormat | null> {
  const source = await openSource(pathOrUrl);
  try {
    return await readableFormat(source, named);
  } catch (error) {
    throw isUscopeError(error) ? error.at({ file: shownName(pathOrUrl) }) : error;
  } finally {
    await source.close?.();
  }
}

/** `--from`, which is a time of a trace, or the format of a file of another format. @throws UscopeError CLI_USAGE: it is neither */
export function splitFrom<T extends RangeArguments>(args: T): { args: T; format: string | undefined } {
  const { from } = args;
  if (from === undefined || !/^\p{L}/u.test(from)) return { args, format: undefined };
  const formats = [USCOPE, ...FORMATS.keys()];
  if (formats.includes(from.toLowerCase())) return { args: { ...args, from: undefined }, format: from };
  throw new UscopeError(
    'CLI_USAGE',
    `"${from}" is not a time, such as 4000, 4ns or 1.5us, and not a format; there are ${formats.join(', ')}`,
  );
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
export async function printForeignStats(
  path: string,
  args: RangeArguments & { readonly json?: boolean },
  named?: string,
) {
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
    named,
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
    const width = maxOf(
      rows.map(([key]) => key.length),
      0,
    );
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
  const met = new MetNames(args.event, conditions);
  for await (const event of trace.events()) {
    if (!met.isWanted(event)) continue;
    io.out(args.json ? eventJson(event, trace.timeUnit) : eventText(event, trace.timeUnit));
    if (--left === 0) return;
  }
  met.check();
}

/** A file of another format has no list of its events: which names there are is known at its end. */
class MetNames {
  private readonly types = new Set<string>();
  private readonly fields = new Set<string>();
  private readonly missingTypes: Set<string>;

  constructor(
    private readonly wanted: readonly string[],
    private readonly conditions: readonly Condition[],
  ) {
    this.missingTypes = new Set(wanted);
  }

  isWanted({ type, fields }: ForeignEvent): boolean {
    if (!this.types.has(type)) this.meet(type);
    const { wanted } = this;
    if (wanted.length > 0 && !wanted.some((name) => isCalled(type, name))) return false;
    if (this.conditions.length > 0) for (const [name] of fields) this.fields.add(name);
    return this.conditions.every(({ field, value, number }) => {
      const found = fields.find(([name]) => name === field)?.[1];
      return found !== undefined && (String(found) === value || String(found) === number);
    });
  }

  /** @throws UscopeError READER_NAME for an event or a field that the file does not have */
  check(): void {
    const [type] = this.missingTypes;
    if (type !== undefined) this.fail('event', type, this.types);
    const condition = this.conditions.find(({ field }) => !this.fields.has(field));
    if (condition) this.fail('field', condition.field, this.fields);
  }

  private meet(type: string): void {
    this.types.add(type);
    for (const name of this.missingTypes) if (isCalled(type, name)) this.missingTypes.delete(name);
  }

  private fail(kind: string, name: string, known: ReadonlySet<string>): never {
    const near = namesNear(name, [...known]);
    throw new UscopeError('READER_NAME', `the file has no ${kind} "${name}"; ${near}`);
  }
}

/** Names may leave out everything before the last `/`, as for µScope. */
const isCalled = (type: string, name: string): boolean => type === name || type.endsWith(`/${name}`);

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
