/** The format of a file, recognized by its content, never by its name. */
import { UscopeError } from '../base/errors.js';
import type { Source } from '../reader/index.js';
import { type ForeignFormat, SNIFF_BYTES } from './common/foreign-format.js';
import { FORMATS } from './registry.js';

/** `uSCP`, the first bytes of a µScope file. */
const USCOPE_MAGIC = [0x75, 0x53, 0x43, 0x50];

export const USCOPE = 'uscope';

/** µScope, a foreign format, or null when no format claims the file. Formats are loaded only when it is not µScope. */
export async function sniffFormat(source: Source): Promise<typeof USCOPE | ForeignFormat | null> {
  const size = await source.size();
  const head = await source.read(0, Math.min(SNIFF_BYTES, size));
  if (USCOPE_MAGIC.every((byte, index) => head[index] === byte)) return USCOPE;
  for (const load of FORMATS.values()) {
    const { FORMAT } = await load();
    if (await FORMAT.sniff?.(head)) return FORMAT;
  }
  return null;
}

/** Names of all formats that can be read. */
export async function readableFormats(): Promise<string[]> {
  const formats = await Promise.all([...FORMATS.values()].map(async (load) => (await load()).FORMAT));
  return [USCOPE, ...formats.filter(({ open }) => open).map(({ name }) => name)];
}

/** @throws UscopeError CONVERT_UNKNOWN */
export async function formatNamed(name: string): Promise<ForeignFormat> {
  const load = FORMATS.get(name.toLowerCase());
  if (load) return (await load()).FORMAT;
  throw new UscopeError(
    'CONVERT_UNKNOWN',
    `there is no format "${name}"; there are ${[USCOPE, ...FORMATS.keys()].join(', ')}`,
  );
}

/**
 * The format an output's name asks for, and the extension that says so. µScope and the formats' own extensions may be followed by one of a
 * compressed file where the format lists it.
 * @throws UscopeError CONVERT_UNKNOWN
 */
export async function formatForName(
  path: string,
): Promise<{ format: typeof USCOPE | ForeignFormat; extension: string }> {
  const name = path.toLowerCase();
  if (name.endsWith('.uscope')) return { format: USCOPE, extension: '.uscope' };
  let best: { format: ForeignFormat; extension: string } | null = null;
  for (const load of FORMATS.values()) {
    const { FORMAT } = await load();
    if (!FORMAT.write) continue;
    for (const extension of FORMAT.extensions) {
      if (name.endsWith(extension) && extension.length > (best?.extension.length ?? 0)) {
        best = { format: FORMAT, extension };
      }
    }
  }
  if (best) return best;
  throw new UscopeError('CONVERT_UNKNOWN', 'its name does not tell the format; name it with --to', {
    file: path,
  });
}
