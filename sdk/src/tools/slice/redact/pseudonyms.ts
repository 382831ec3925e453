/** Replacements that say nothing of what they replace, the same for the same input: of a key, which no file holds. Memory is bounded. */
import { createHmac, randomBytes } from 'node:crypto';

const MOST_KNOWN = 65_536;
/** Of a made-up word: 48 bits. */
const DIGITS = 12;

export class Pseudonyms {
  private readonly key: string | Uint8Array;
  private readonly words = new Map<string, string>();
  private readonly numbers = new Map<bigint, bigint>();

  /** @param key null: a random one */
  constructor(key: string | null) {
    this.key = key ?? randomBytes(32);
  }

  /** A word that may be a name of a schema. */
  word(text: string): string {
    return remembered(this.words, text, () => `r_${this.digest('t', text).slice(0, DIGITS)}`);
  }

  /** 64 bits, of which the caller takes those that fit. 0 stays 0: fields that were never set hold it. */
  number(value: bigint): bigint {
    if (value === 0n) return 0n;
    return remembered(this.numbers, value, () => BigInt(`0x${this.digest('n', String(value)).slice(0, 16)}`));
  }

  private digest(kind: string, text: string): string {
    return createHmac('sha256', this.key).update(`${kind}\0${text}`).digest('hex');
  }
}

function remembered<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  if (map.size >= MOST_KNOWN) map.clear();
  const made = make();
  map.set(key, made);
  return made;
}
