/** Options of the export to STF, checked. */
import { UscopeError } from '../../base/errors.js';
import type { CpuCore } from '../../semantics/cpu/index.js';
import type { FormatOption } from '../common/foreign-format.js';
import { NEWEST_MINOR, OLDEST_MINOR } from './header-rules.js';
import { GENERATORS, StfIem } from './types.js';
import type { StfWriterOptions } from './writer.js';

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
  const content = given.get('content') ?? null;
  if (content !== null && content !== 'records' && content !== 'instructions') {
    throw refused('content', content, 'records or instructions');
  }
  const iem = given.get('iem')?.toLowerCase();
  if (iem !== undefined && iem !== 'rv32' && iem !== 'rv64') throw refused('iem', iem, 'rv32 or rv64');
  return {
    content,
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

function refused(name: string, value: string, allowed: string): UscopeError {
  return new UscopeError('CONVERT_OPTION', `option ${name}: "${value}" is not ${allowed}`);
}
