/** The format of a file, recognized by its content, never by its name: the one recognizer of all verbs. */
import { concatBytes } from '../base/bytes.js';
import { UscopeError } from '../base/errors.js';
import type { Source } from '../reader/index.js';
import { type ForeignFormat, SNIFF_STEPS } from './common/foreign-format.js';
import { FORMATS } from './registry.js';

/** `uSCP`, the first bytes of a µScope file. */
const USCOPE_MAGIC = [0x75, 0x53, 0x43, 0x50];

const isUscope = (head: Uint8Array): boolean => USCOPE_MAGIC.every((byte, index) => head[index] === byte);

export const USCOPE = 'uscope';

/**
 * µScope, a foreign format, or null when no format claims the file. Formats are loaded only when it is not µScope.
 * @throws UscopeError CONVERT_UNSUPPORTED for a file of a kind that another program converts
 */
export async function sniffFormat(source: Source): Promise<typeof USCOPE | ForeignFormat | null> {
  const head = await source.read(0, SNIFF_STEPS[0]);
  if (isUscope(head)) return USCOPE;
  const formats = await Promise.all([...FORMATS.values()].map(async (load) => (await load()).FORMAT));
  const claimedBy = async (bytes: Uint8Array): Promise<ForeignFormat | undefined> => {
    for (const format of formats) if (await format.sniff?.(bytes)) return format;
    return undefined;
  };
  const found = await claimedBy(head);
  if (found) return found;
  const stranger = (await import('./strangers.js')).strangerIn(head);
  if (stranger) throw stranger;
  const text = await unpackedHead(source);
  for (const step of SNIFF_STEPS) {
    const format = await claimedBy(text.subarray(0, step));
    if (format) return format;
    if (text.length <= step) break;
  }
  const packed = (await import('./strangers.js')).strangerIn(text);
  if (packed) throw packed;
  return null;
}

/** As far as the last step reaches, or the damage. */
async function unpackedHead(source: Source): Promise<Uint8Array> {
  const most = SNIFF_STEPS[SNIFF_STEPS.length - 1];
  const pieces: Uint8Array[] = [];
  let length = 0;
  // What unpacks is not loaded for traces, which most files are.
  const { unpack } = await import('./text/unpack.js');
  try {
    for await (const piece of unpack(source)) {
      pieces.push(piece.slice(0, most - length));
      length += pieces[pieces.length - 1].length;
      if (length >= most) break;
    }
  } catch {
    // What came before it counts; the format that reads the file reports the damage.
  }
  return concatBytes(pieces);
}

/** The format that is named, else the one of the content; a µScope file is one whatever is named. @throws UscopeError CONVERT_UNKNOWN (no such name), and as `sniffFormat` */
export async function formatOf(
  source: Source,
  named: string | undefined,
): Promise<typeof USCOPE | ForeignFormat | null> {
  if (named === undefined) return sniffFormat(source);
  const format = named.toLowerCase() === USCOPE ? USCOPE : await formatNamed(named);
  return isUscope(await source.read(0, USCOPE_MAGIC.length)) ? USCOPE : format;
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
