/** What trace_reader prints of a whole file, character for character. */
import { appendAll } from '../../base/arrays.js';
import type { CtraceFile } from './reader.js';

export interface InfoTextOptions {
  /** As the user named it. */
  readonly file: string;
  /** Lists the formats and units. */
  readonly verbose?: boolean | undefined;
  /** The time of creation in UTC; else in local time, as trace_reader prints it. */
  readonly utc?: boolean | undefined;
}

/** It says what header, schema and index say: of a file without an index that there are no events. */
export async function infoText(trace: CtraceFile, { file, verbose, utc }: InfoTextOptions): Promise<string> {
  const { header, schema, footer } = trace;
  const [min, max] = [footer?.minCycle ?? 0n, footer?.maxCycle ?? 0n];
  const lines = [
    'Trace File Information',
    '======================',
    `File: ${file}`,
    `Version: ${header.versionMajor}.${header.versionMinor}`,
    `Simulation: ${schema.simulationName}`,
    '',
    'Statistics:',
    `  Total events: ${footer?.totalEvents ?? 0}`,
    `  Cycle range: ${min} - ${max}`,
    `  Duration: ${BigInt.asUintN(64, max - min)} cycles`,
    '',
    'Schema:',
    `  Format entries: ${schema.formats.length}`,
    `  Unit entries: ${schema.units.length}`,
    `  Blocks: ${footer?.blockCount ?? 0}`,
    '',
    ...(await compressionLines(trace)),
    '',
  ];
  if (footer && footer.created > 0n) lines.push(`Created: ${ctime(footer.created, utc === true)}`);
  if (verbose) appendAll(lines, listOf(trace));
  return lines.map((line) => `${line}\n`).join('');
}

async function compressionLines(trace: CtraceFile): Promise<string[]> {
  if (!trace.isCompressed) return ['Compression:', '  Enabled: no'];
  const percent = (await averageRatio(trace)) * 100;
  return ['Compression:', '  Enabled: yes', `  Average ratio: ${percent.toFixed(2)}%`];
}

/** Compressed to uncompressed bytes, by the index; 0 without one. */
async function averageRatio(trace: CtraceFile): Promise<number> {
  if (!trace.footer) return 0;
  if (!trace.isIndexed) return 1;
  let [compressed, uncompressed] = [0, 0];
  for await (const block of trace.blocks()) {
    compressed += block.compressedBytes;
    uncompressed += block.uncompressedBytes;
  }
  return uncompressed > 0 ? compressed / uncompressed : 1;
}

function listOf({ schema }: CtraceFile): string[] {
  const formats = schema.formats.map(({ id, text, file, line }) => {
    return `  [${id}] ${text}${file ? ` (${file}:${line})` : ''}`;
  });
  const units = schema.units.map(({ id, name, typeName }) => {
    return `  [${id}] ${name}${typeName ? ` (${typeName})` : ''}`;
  });
  return ['', 'Registered Formats:', ...formats, '', 'Registered Units:', ...units];
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
/** Dates end here; what a damaged file says may lie beyond. */
const MAX_SECONDS = 8_640_000_000_000n;

/** As C's `ctime`: `Fri Nov  6 11:25:40 2026`. */
function ctime(seconds: bigint, utc: boolean): string {
  if (seconds > MAX_SECONDS) return `${seconds} s after 1970`;
  const at = new Date(Number(seconds) * 1000);
  const shift = utc ? 0 : at.getTimezoneOffset() * 60_000;
  const local = new Date(at.getTime() - shift);
  const two = (value: number): string => String(value).padStart(2, '0');
  const time = [local.getUTCHours(), local.getUTCMinutes(), local.getUTCSeconds()].map(two).join(':');
  const day = String(local.getUTCDate()).padStart(2);
  return `${DAYS[local.getUTCDay()]} ${MONTHS[local.getUTCMonth()]} ${day} ${time} ${local.getUTCFullYear()}`;
}
