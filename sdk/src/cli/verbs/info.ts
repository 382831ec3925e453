/** `uscope info`: what a trace is and how much it holds. */
import { stat } from 'node:fs/promises';
import { type Command, Option } from 'commander';
import { UscopeError } from '../../base/errors.js';
import { onOneLine } from '../../base/printable.js';
import { compressionOf, Flag } from '../../format/header.js';
import type { ConversionContext, ForeignTrace } from '../../formats/index.js';
import { checkProtocol, findingText, isContradiction } from '../../protocols/index.js';
import { isHttpUrl } from '../../reader/http-url.js';
import type { Trace } from '../../reader/index.js';
import { periodMismatch } from '../../reader/queries/frame-times.js';
import { printSections, refuseOptions, withAnyTrace } from '../common/foreign.js';
import { io, paint, printJson } from '../common/io.js';
import { parseSeconds } from '../common/option-values.js';
import {
  clocksJson,
  dutJson,
  eventsJson,
  scopesJson,
  sessionJson,
  statusName,
  storagesJson,
} from '../common/schema-json.js';
import { shownName } from '../common/trace-file.js';

interface InfoOptions {
  readonly from?: string;
  readonly json?: boolean;
  readonly count?: boolean;
  readonly watch?: boolean;
  readonly interval?: string;
  readonly timeout?: string;
}

/** Frames are counted from the segments' headers; over a network each of them costs a request. */
const MAX_REMOTE_HEADERS = 256;

export function register(command: Command): void {
  command
    .description(
      'Prints header, session, DUT properties and the outline of the schema. Works on traces still being written. For a directory, lists the runs in it.',
    )
    .argument('<file>', 'trace file, or a directory with traces')
    .option('--from <format>', 'format of a file in another format (default: by its content)')
    .option('--json', 'one JSON document; 64-bit times as decimal strings')
    .option('--count', 'count ops and events, which reads the whole trace')
    .addOption(
      new Option('--watch', 'then follow how the trace grows until it is finalized').conflicts('count'),
    )
    .option('--interval <seconds>', 'polling interval for --watch (default: 0.2)')
    .option('--timeout <seconds>', 'with --watch: stop when nothing new arrives for this time')
    .action(async (file: string, options: InfoOptions) => {
      if (await isDirectory(file)) return listDirectory(file, options);
      const intervalMs = parseSeconds('--interval', options.interval);
      const timeoutMs = parseSeconds('--timeout', options.timeout);
      const watch = async (trace: Trace): Promise<void> => {
        const [{ DEFAULT_INTERVAL_MS }, { watchTrace }] = await Promise.all([
          import('../common/follow.js'),
          import('../common/watch.js'),
        ]);
        const following = { intervalMs: intervalMs ?? DEFAULT_INTERVAL_MS, timeoutMs };
        await watchTrace(file, trace, options.json === true, following);
      };
      const onTrace = async (trace: Trace): Promise<void> => {
        if (options.watch && options.json) return watch(trace);
        const frames =
          options.count || isQuick(file, trace.segmentCount) ? Number(await trace.frameCount()) : null;
        const items = options.count ? await countItems(trace) : null;
        const warnings = [...contradictionsOf(trace), ...(isHttpUrl(file) ? [] : await warningsOf(trace))];
        if (options.json) printJson({ ...infoJson(trace, frames, items), warnings });
        else printText(file, trace, frames, items);
        for (const warning of warnings) io.err(`uscope: warning: ${warning}`);
        if (options.watch) await watch(trace);
      };
      const onForeign = async (foreign: ForeignTrace, context: ConversionContext): Promise<void> => {
        refuseOptions(foreign.description, { '--watch': options.watch, '--count': options.count });
        printSections(file, foreign, await foreign.info(context), options.json === true);
      };
      return withAnyTrace(file, onTrace, onForeign, options.from);
    });
}

async function isDirectory(path: string): Promise<boolean> {
  if (isHttpUrl(path)) return false;
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false, // the code that opens it says why it cannot
  );
}

async function listDirectory(directory: string, { json, count, watch }: InfoOptions): Promise<void> {
  if (count || watch) {
    const option = count ? '--count' : '--watch';
    throw new UscopeError('CLI_USAGE', `${option} is for one trace; "${directory}" is a directory`);
  }
  // Loaded only for directories: they bring half of the package with them.
  const [{ listRuns }, { printRuns, runsJson }] = await Promise.all([
    import('../runs/listing.js'),
    import('../runs/print.js'),
  ]);
  const runs = await listRuns(directory, (text) => io.err(`uscope: warning: ${text}`));
  if (json) printJson(runsJson(directory, runs));
  else if (runs.length === 0) io.err(`uscope: no traces (*.uscope) below ${directory}`);
  else printRuns(runs);
}

/** What in the schema contradicts the protocols that its scopes claim. */
function contradictionsOf({ schema, dut }: Trace): string[] {
  return checkProtocol(schema, dut).filter(isContradiction).map(findingText);
}

/** What the first segment shows, quickly, to be wrong with the period of the clock. */
async function warningsOf(trace: Trace): Promise<string[]> {
  const mismatch = await periodMismatch(trace);
  return mismatch ? [`${mismatch.detail}; ${mismatch.cause}`] : [];
}

function isQuick(file: string, segments: number): boolean {
  return !isHttpUrl(file) || segments <= MAX_REMOTE_HEADERS;
}

async function countItems(trace: Trace): Promise<number> {
  const [{ withProgress }, { scanFraction }] = await Promise.all([
    import('../common/progress-bar.js'),
    import('../common/ranges.js'),
  ]);
  let items = 0;
  const count = (): void => {
    items++;
  };
  await withProgress('counting', (update) =>
    trace.scan(
      {},
      { segment: (segment) => update(scanFraction(trace, {}, segment)), op: count, event: count },
    ),
  );
  return items;
}

function infoJson(trace: Trace, frames: number | null, items: number | null) {
  return {
    version: trace.version,
    flags: flagsJson(trace),
    totalTimePs: trace.totalTimePs,
    segments: trace.segmentCount,
    frames,
    items,
    session: sessionJson(trace.session),
    dut: dutJson(trace),
    clocks: clocksJson(trace),
    scopes: scopesJson(trace),
    storages: storagesJson(trace),
    events: eventsJson(trace),
  };
}

function flagsJson({ header }: Trace) {
  return {
    complete: (header.flags & Flag.COMPLETE) !== 0,
    compressed: (header.flags & Flag.COMPRESSED) !== 0,
    strings: (header.flags & Flag.HAS_STRINGS) !== 0,
    compression: compressionOf(header.flags),
    interleaved: (header.flags & Flag.INTERLEAVED) !== 0,
  };
}

function printText(file: string, trace: Trace, frames: number | null, items: number | null): void {
  const { compression, interleaved } = flagsJson(trace);
  const { schema } = trace;
  line('file', shownName(file));
  line(
    'format',
    `${trace.version}, compression ${compression}, ${interleaved ? 'interleaved' : 'separate'} items`,
  );
  line('state', trace.isComplete ? 'complete' : 'not finalized', trace.isComplete ? 'green' : 'yellow');
  line('session', sessionText(trace));
  line('time', `${trace.totalTimePs} ps${cyclesText(trace)}`);
  line('segments', String(trace.segmentCount));
  line('frames', frames === null ? 'not counted over the network (--count)' : String(frames));
  if (items !== null) line('items', String(items));
  for (const [key, value] of trace.dut) line('dut', `${key} = ${value}`);
  for (const clock of schema.clocks) {
    line('clock', `${clock.name} ${clock.periodPs === 0 ? '(period unknown)' : `${clock.periodPs} ps`}`);
  }
  for (const scope of scopesJson(trace)) {
    if (scope.path) line('scope', `${scope.path}${scope.protocol ? ` (${scope.protocol})` : ''}`);
  }
  for (const storage of storagesJson(trace)) {
    const kind = `${storage.sparse ? 'sparse' : 'dense'}${storage.buffer ? ' buffer' : ''}`;
    line(
      'storage',
      `${storage.name}[${storage.slots}] ${kind} {${storage.fields.map(fieldText).join(', ')}}`,
    );
  }
  for (const event of eventsJson(trace)) {
    line('event', `${event.name} {${event.fields.map(fieldText).join(', ')}}`);
  }
}

function line(label: string, text: string, colour?: 'green' | 'yellow'): void {
  io.out(`${paint('bold', label.padEnd(9))} ${colour ? paint(colour, text) : onOneLine(text)}\n`);
}

function fieldText({ name, type }: { name: string; type: string }): string {
  return `${name} ${type}`;
}

function sessionText({ session }: Trace): string {
  if (!session) return 'none (file of another writer)';
  const losses =
    session.lost || session.rejected ? `, lost ${session.lost}, rejected ${session.rejected}` : '';
  const { completed } = session;
  const cycles =
    completed && !completed.isExact ? `, its client completed at least ${completed.frames} cycles` : '';
  return `${statusName(session).replace('_', ' ')}${losses}${cycles}`;
}

function cyclesText(trace: Trace): string {
  const clocks = trace.schema.clocks.filter((clock) => clock.periodPs > 0);
  const texts = clocks.map((clock) => `${trace.totalTimePs / BigInt(clock.periodPs)} ${clock.name}`);
  return texts.length > 0 ? ` (cycle ${texts.join(', ')})` : '';
}
