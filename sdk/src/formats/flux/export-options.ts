/** Options of the export to flux, checked. */
import { UscopeError } from '../../base/errors.js';
import type { FormatOption } from '../common/foreign-format.js';
import type { BlockCompression } from './blocks.js';

export const EXPORT_OPTIONS: readonly FormatOption[] = [
  { name: 'compress', help: 'lz4 (default), zlib, gzip or none', direction: 'export' },
  {
    name: 'ring',
    help: 'keep only the newest entries, in a ring buffer of this size per file (64K, 4M); not compressed',
    direction: 'export',
  },
  {
    name: 'files',
    help: 'one (default): all cores in one file; cores: a file for each scope below the root',
    direction: 'export',
  },
  {
    name: 'content',
    help: 'entries: those that a trace made of flux holds; items: its events and storages; default: entries where there are any',
    direction: 'export',
  },
];

export interface FluxExportOptions {
  readonly compress: BlockCompression | 'none';
  /** Bytes; null: everything is kept. */
  readonly ring: number | null;
  readonly separate: boolean;
  readonly content: 'entries' | 'items' | null;
}

const FACTORS: Readonly<Record<string, number>> = { '': 1, k: 1024, m: 1024 * 1024 };
const MAX_RING = 1024 ** 3;

/** @throws UscopeError CONVERT_OPTION */
export function fluxOptions(given: ReadonlyMap<string, string>): FluxExportOptions {
  const ring = given.has('ring') ? size(given.get('ring')!) : null;
  const compress = choice(given, 'compress', ['lz4', 'zlib', 'gzip', 'none']);
  if (ring !== null && compress !== null && compress !== 'none') {
    throw new UscopeError('CONVERT_OPTION', 'a ring buffer is not compressed: leave out ring or compress');
  }
  return {
    compress: ring !== null ? 'none' : (compress ?? 'lz4'),
    ring,
    separate: choice(given, 'files', ['one', 'cores']) === 'cores',
    content: choice(given, 'content', ['entries', 'items']),
  };
}

function choice<T extends string>(
  given: ReadonlyMap<string, string>,
  name: string,
  allowed: readonly T[],
): T | null {
  const value = given.get(name);
  if (value === undefined) return null;
  const found = allowed.find((one) => one === value);
  if (found) return found;
  throw new UscopeError('CONVERT_OPTION', `option ${name}: "${value}" is not one of ${allowed.join(', ')}`);
}

function size(text: string): number {
  const match = /^(\d{1,12})([kKmM]?)$/.exec(text);
  const bytes = match ? Number(match[1]) * FACTORS[match[2].toLowerCase()] : 0;
  if (bytes >= 1024 && bytes <= MAX_RING) return bytes;
  throw new UscopeError('CONVERT_OPTION', `option ring: "${text}" is not a size from 1K to 1024M`);
}
