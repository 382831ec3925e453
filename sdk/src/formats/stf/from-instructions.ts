/** What the harts of a µScope trace retired, as STF: one file per hart. */

import { UscopeError } from '../../base/errors.js';
import type { Trace } from '../../reader/index.js';
import {
  type CpuCore,
  findCore,
  findCores,
  type Instruction,
  InstructionEnd,
} from '../../semantics/cpu/index.js';
import { instructions } from '../../semantics/instructions/instructions.js';
import type { ConversionContext, FormatOption, OutputFiles } from '../common/foreign-format.js';
import { choice, refused } from '../common/options.js';
import { AddressJoin } from './address-join.js';
import { NEWEST_MINOR, OLDEST_MINOR } from './cursor.js';
import { HartWriter } from './hart-writer.js';
import { GENERATORS, StfIem } from './types.js';
import type { StfWriterOptions } from './writer.js';

// Options of the export to STF, checked.

export const EXPORT_OPTIONS: readonly FormatOption[] = [
  {
    name: 'content',
    help: 'records: those that a trace made of STF holds; instructions: what retired, from addresses and bits; default: records where there are any',
    direction: 'export',
  },
  { name: 'core', help: 'only this core; default: all, one file each', direction: 'export' },
  { name: 'iem', help: 'rv32 or rv64; default: from the property cpu.isa', direction: 'export' },
  {
    name: 'generator',
    help: 'number or name of the tool in TRACE_INFO, 0 to 255; default 65',
    direction: 'export',
  },
  { name: 'generator-version', help: 'its version, A.B.C; default 0.1.0', direction: 'export' },
  {
    name: 'version',
    help: `version of the format, 1.${OLDEST_MINOR} to 1.${NEWEST_MINOR} (default)`,
    direction: 'export',
  },
  { name: 'chunk', help: 'instructions per chunk of .zstf; default 100000', direction: 'export' },
  { name: 'level', help: 'zstd level of .zstf; default 3', direction: 'export' },
];

/** No tool of the list, which ends at 64. */
const DEFAULT_GENERATOR = 65;

export interface ExportOptions {
  readonly content: 'records' | 'instructions' | null;
  readonly core: string | undefined;
  readonly iem: number | null;
  readonly generator: number;
  readonly generatorVersion: readonly [number, number, number];
  readonly minor: number;
  readonly writer: StfWriterOptions;
}

/** @throws UscopeError CONVERT_OPTION */
export function exportOptions(given: ReadonlyMap<string, string>, extension: string): ExportOptions {
  const iem = given.get('iem')?.toLowerCase();
  if (iem !== undefined && iem !== 'rv32' && iem !== 'rv64') throw refused('iem', iem, 'rv32 or rv64');
  return {
    content: choice(given, 'content', ['records', 'instructions']),
    core: given.get('core'),
    iem: iem === undefined ? null : iem === 'rv32' ? StfIem.RV32 : StfIem.RV64,
    generator: generatorOf(given.get('generator')),
    generatorVersion: versionOf(given.get('generator-version') ?? '0.1.0'),
    minor: minorOf(given.get('version') ?? `1.${NEWEST_MINOR}`),
    writer: {
      container: extension === '.zstf' ? 'zstf' : 'plain',
      markersPerChunk: count('chunk', given.get('chunk'), 2 ** 31),
      level: count('level', given.get('level'), 22),
    },
  };
}

/** @throws UscopeError CONVERT_SOURCE when neither the option nor the trace says how wide the core is */
export function iemOf(core: CpuCore, { iem }: ExportOptions): number {
  if (iem !== null) return iem;
  if (core.xlen !== null) return core.xlen === 32 ? StfIem.RV32 : StfIem.RV64;
  throw new UscopeError(
    'CONVERT_SOURCE',
    `the property cpu.isa of ${core.name} (${core.isa ?? 'none'}) names no RISC-V of 32 or 64 bits; say it with the option iem`,
  );
}

function generatorOf(text: string | undefined): number {
  if (text === undefined) return DEFAULT_GENERATOR;
  for (const [id, name] of GENERATORS) if (name.toLowerCase() === text.toLowerCase()) return id;
  const number = Number(text);
  if (text !== '' && Number.isInteger(number) && number >= 0 && number <= 255) return number;
  throw refused('generator', text, `a number from 0 to 255 or one of ${[...GENERATORS.values()].join(', ')}`);
}

function versionOf(text: string): [number, number, number] {
  const parts = /^(\d+)\.(\d+)\.(\d+)$/.exec(text)?.slice(1).map(Number);
  if (!parts || parts.some((part) => part > 255))
    throw refused('generator-version', text, 'A.B.C, each at most 255');
  return [parts[0], parts[1], parts[2]];
}

function minorOf(text: string): number {
  const minor = Number(/^1\.(\d)$/.exec(text)?.[1] ?? -1);
  if (minor >= OLDEST_MINOR && minor <= NEWEST_MINOR) return minor;
  throw refused('version', text, `1.${OLDEST_MINOR} to 1.${NEWEST_MINOR}`);
}

function count(name: string, text: string | undefined, max: number): number | undefined {
  if (text === undefined) return undefined;
  const number = Number(text);
  if (Number.isInteger(number) && number >= 1 && number <= max) return number;
  throw refused(name, text, `a whole number from 1 to ${max}`);
}

/**
 * @throws UscopeError CONVERT_SOURCE (no core, no instruction, no code or addresses, compressed instructions stored expanded), READER_NAME,
 *   ENV_MISSING, FORMAT_*
 */
export async function instructionsToStf(
  trace: Trace,
  files: OutputFiles,
  options: ExportOptions,
  context: ConversionContext,
): Promise<void> {
  const cores = options.core === undefined ? findCores(trace) : [findCore(trace, options.core)];
  for (const core of cores) requireCode(core);
  const harts: HartWriter[] = [];
  for (const [index, core] of cores.entries()) {
    const onProgress = (part: number): void => context.onProgress?.((index + part) / cores.length);
    const open = async (thread: number | null): Promise<HartWriter> => {
      const hasParts = cores.length > 1 || thread !== null;
      const part = thread === null ? core.name : `${core.name}-thread${thread}`;
      const output = await files.open(hasParts ? part.replaceAll('/', '-') : null);
      const hart = new HartWriter(output, trace, core, iemOf(core, options), options, context);
      harts.push(hart);
      return hart;
    };
    await exportCore(trace, core, open, { ...context, onProgress });
    reportRest(trace, core, context);
  }
  if (harts.length === 0) {
    throw new UscopeError('CONVERT_SOURCE', 'no instruction of any core retired (or the trace has no core)');
  }
}

/** An instruction needs an address and its machine code. */
function requireCode({ name, entities }: CpuCore): void {
  const missing = [
    ...(entities && entities.pcField >= 0 ? [] : ['pc']),
    ...(entities && entities.bitsField >= 0 ? [] : ['inst_bits']),
  ];
  if (missing.length === 0) return;
  throw new UscopeError(
    'CONVERT_SOURCE',
    `the instructions of ${name} have no field ${missing.join(' and no ')}: STF needs both`,
  );
}

/** Instructions between two reports of the progress. */
const INSTRUCTIONS_PER_LOOK = 1024;

async function exportCore(
  trace: Trace,
  core: CpuCore,
  open: (thread: number | null) => Promise<HartWriter>,
  context: ConversionContext,
): Promise<void> {
  const threads = new Map<number | null, HartWriter>();
  const join = AddressJoin.of(trace, core);
  const { report } = context;
  const squashed = report.dropped('squashed instructions', 'STF holds what took effect');
  const unfinished = report.dropped('instructions in flight at the end, or lost', 'they did not retire');
  const unknown = report.dropped('instructions without address or code', 'STF needs both');
  const details = tallyDetails(context);
  const end = trace.totalTimePs;
  const { signal } = context;
  let taken = 0;
  try {
    for await (const instruction of instructions(trace, core, {}, { numbering: 'never', signal })) {
      details(instruction);
      const { id, birthPs, endPs, thread, trap } = instruction;
      if (++taken % INSTRUCTIONS_PER_LOOK === 0) {
        signal?.throwIfAborted();
        if (end > 0n) context.onProgress?.(Number(((birthPs ?? 0n) * 1000n) / end) / 1000);
      }
      const access = join && (await join.take(id, birthPs ?? 0n, endPs ?? instruction.flush?.timePs ?? end));
      const isRetired = instruction.end === InstructionEnd.RETIRED;
      if (!isRetired && !trap) {
        if (instruction.end === InstructionEnd.SQUASHED) squashed.count++;
        else unfinished.count++;
        continue;
      }
      if (instruction.pc === null || instruction.bits === null) {
        unknown.count++;
        continue;
      }
      let hart = threads.get(thread);
      if (!hart) {
        // A trap before anything retired has no file to be in.
        hart = await open(thread);
        threads.set(thread, hart);
      }
      hart.take(instruction, access);
      if (hart.isFull) await hart.flush();
    }
  } finally {
    await join?.close();
  }
  for (const hart of threads.values()) await hart.close(join !== null);
  context.onProgress?.(1);
}

/** Counts what an instruction's life holds besides what STF takes. */
function tallyDetails({ report }: ConversionContext): (instruction: Instruction) => void {
  const why = 'STF has no time and no pipeline';
  const stages = report.dropped('stage transitions', why);
  const stalls = report.dropped('stalls of instructions', why);
  const dependencies = report.dropped('dependencies', why);
  const annotations = report.dropped('annotations', 'STF has comments, which belong to no instruction');
  return (instruction) => {
    stages.count += instruction.stages.length;
    stalls.count += instruction.stalls.length;
    dependencies.count += instruction.dependencies.length;
    annotations.count += instruction.annotations.length;
  };
}

function reportRest(trace: Trace, core: CpuCore, { report }: ConversionContext): void {
  const others = trace.schema.storages.filter(
    (def) => def.scopeId === core.scopeId && def.storageId !== core.entities?.def.storageId,
  );
  report.dropped('storages (counters, buffers, registers)', 'STF holds instructions alone').count +=
    others.length;
}
