/** `uscope ctrace`: Chronon's .ctrace files, with the commands, options and messages of Chronon's reader. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { Argument, type Command } from 'commander';
import { isUscopeError, UscopeError } from '../../base/errors.js';
import { OUTPUT_MODE } from '../../base/file-mode.js';
import { CtraceFile, type DumpSelection, dumpText, infoText } from '../../formats/ctrace/index.js';
import { openSource } from '../../reader/node.js';
import { writeAtomically } from '../../writer/output/atomic-file.js';
import { ioError } from '../../writer/output/output-file.js';
import { tellPartial } from '../common/foreign.js';
import { io, printBytes, printJson } from '../common/io.js';
import { withProgress } from '../common/progress-bar.js';
import { shownName } from '../common/trace-file.js';

interface CtraceArguments {
  readonly cycles?: string;
  readonly unit?: string;
  readonly limit?: string;
  readonly output?: string;
  readonly verbose?: boolean;
  readonly json?: boolean;
}

const COMMANDS = ['info', 'dump', 'filter', 'convert'];
const U64_MAX = (1n << 64n) - 1n;

export function register(command: Command): void {
  command
    .description(
      'Prints .ctrace files of the Chronon simulation framework with the commands, options and messages of its own reader. It also reads files of killed writers and files without an index.',
    )
    .addArgument(
      new Argument('<command>', 'info: what the file is; dump, filter, convert: its events as text').choices(
        COMMANDS,
      ),
    )
    .argument('<file>', '.ctrace file')
    .option('--cycles <a-b>', 'only events of cycles a to b, both included; a alone: from there to the end')
    .option('--unit <name>', 'only events of units whose name holds this')
    .option('--limit <n>', 'only the first n of them; 0: all (the default); convert prints all of them')
    .option('-o, --output <file>', 'write to this file, replacing it (default: stdout)')
    .option('-v, --verbose', 'info: list formats and units; else: tell how many events there were')
    .option('--json', 'one JSON document (info), or one JSON object per line')
    .action(async (command: string, file: string, args: CtraceArguments) => {
      const selection = selectionOf(command, args);
      await withFile(file, async (trace, size) => {
        if (command === 'info') return printInfo(trace, file, args);
        return withPlace(file, args.output, (take) => dump(trace, { file, size }, selection, take, args));
      });
    });
}

async function withFile(
  path: string,
  use: (trace: CtraceFile, size: number) => Promise<void>,
): Promise<void> {
  const source = await openSource(path);
  try {
    await use(await CtraceFile.open(source), await source.size());
  } catch (error) {
    throw isUscopeError(error) && error.code !== 'CLI_USAGE' ? error.at({ file: shownName(path) }) : error;
  } finally {
    await source.close?.();
  }
}

// -- info

async function printInfo(trace: CtraceFile, file: string, { verbose, json }: CtraceArguments): Promise<void> {
  if (json) printJson({ file: shownName(file), ...infoJson(trace) });
  else io.out(await infoText(trace, { file: shownName(file), verbose }));
  for (const warning of trace.warnings) warn(warning, file);
  if (!trace.isIndexed) await tellWithoutIndex(trace, file);
}

/** What the file's own words leave out. */
async function tellWithoutIndex(trace: CtraceFile, file: string): Promise<void> {
  let [blocks, events] = [0, 0];
  try {
    for await (const block of trace.blocks()) {
      blocks++;
      events += block.events;
    }
  } catch (error) {
    if (!isCut(error)) throw error;
    tellPartial(file, true);
  }
  if (blocks > 0) warn(`the file has no index; there are ${events} events in ${blocks} blocks`, file);
}

function infoJson({ header, schema, footer, isCompressed, isIndexed }: CtraceFile) {
  return {
    version: `${header.versionMajor}.${header.versionMinor}`,
    simulation: schema.simulationName,
    events: footer ? String(footer.totalEvents) : null,
    minCycle: footer ? String(footer.minCycle) : null,
    maxCycle: footer ? String(footer.maxCycle) : null,
    blocks: footer?.blockCount ?? null,
    created: footer && footer.created > 0n ? String(footer.created) : null,
    compressed: isCompressed,
    indexed: isIndexed,
    formats: schema.formats,
    units: schema.units,
    categories: schema.categories.map((category) => ({ ...category, mask: String(category.mask) })),
  };
}

// -- events

async function dump(
  trace: CtraceFile,
  { file, size }: { readonly file: string; readonly size: number },
  selection: DumpSelection,
  take: (bytes: Uint8Array) => void,
  { verbose }: CtraceArguments,
): Promise<void> {
  await withProgress(
    'reading',
    async (update) => {
      const { events, cut } = await dumpText(trace, selection, take, ({ position }) =>
        update(position / size),
      );
      for (const warning of trace.warnings) warn(warning, file);
      if (verbose) io.err(`Dumped ${events} events`);
      tellPartial(file, cut !== null);
    },
    { streams: true },
  );
}

/** stdout, or a file that appears whole. */
async function withPlace(
  input: string,
  output: string | undefined,
  use: (take: (bytes: Uint8Array) => void) => Promise<void>,
): Promise<void> {
  if (output === undefined) return use(printBytes);
  await writeAtomically(output, { inputs: [input], force: true }, async (path) => {
    const file = opened(path);
    try {
      await use((bytes) => {
        for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
      });
    } catch (error) {
      throw isUscopeError(error) ? error : ioError(error, output);
    } finally {
      closeSync(file);
    }
  });
}

function opened(path: string): number {
  try {
    return openSync(path, 'wx', OUTPUT_MODE);
  } catch (error) {
    throw ioError(error, path);
  }
}

/** @throws UscopeError CLI_USAGE */
function selectionOf(command: string, { cycles, unit, limit, json }: CtraceArguments): DumpSelection {
  const most = limit === undefined ? 0n : numberOf('--limit', limit);
  return {
    ...{ json, unit, cycles: cycles === undefined ? undefined : cyclesOf(cycles) },
    limit: command === 'convert' || most === 0n ? undefined : Number(most),
  };
}

function cyclesOf(text: string): { from: bigint; to: bigint } {
  const [from, to, ...rest] = text.split('-');
  if (rest.length > 0)
    throw new UscopeError('CLI_USAGE', `--cycles "${text}" is not a range; write 1000-2000`);
  return {
    from: numberOf('--cycles', from),
    to: to === undefined ? U64_MAX : numberOf('--cycles', to),
  };
}

function numberOf(option: string, text: string): bigint {
  if (/^\d{1,20}$/.test(text) && BigInt(text) <= U64_MAX) return BigInt(text);
  throw new UscopeError('CLI_USAGE', `${option}: "${text}" is not a number from 0 to 2^64 - 1`);
}

function isCut(error: unknown): boolean {
  return isUscopeError(error) && error.code === 'CONVERT_TRUNCATED';
}

function warn(message: string, file: string): void {
  io.err(`uscope: warning: ${message} (${shownName(file)})`);
}
