// @ts-check
/**
 * Bytes of a file as docs/reference/format.md describes them, read one value after the other. Everything in this folder follows that page alone and shares no
 * code with the library, so that the page can be held against the library.
 */

/** @typedef {(offset: number, size: number, meaning: string) => void} Note says what some bytes are */

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** @param {number} n */
export const align8 = (n) => Math.ceil(n / 8) * 8;

export class Bytes {
  /**
   * @param {Uint8Array} data
   * @param {number} at
   * @param {number} end
   * @param {Note} note
   */
  constructor(data, at, end, note) {
    if (end > data.length) throw new Error(`bytes up to ${end} of a file of ${data.length}`);
    this.data = data;
    this.at = at;
    this.end = end;
    this.note = note;
    this.view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  }

  get isAtEnd() {
    return this.at >= this.end;
  }

  /** @param {number} size @param {string} [meaning] */
  take(size, meaning) {
    if (this.at + size > this.end) throw new Error(`${size} bytes at ${this.at} reach past ${this.end}`);
    const at = this.at;
    this.at += size;
    if (meaning && size > 0) this.note(at, size, meaning);
    return at;
  }

  /** @param {string} name */
  u8(name) {
    const value = this.view.getUint8(this.take(1));
    this.note(this.at - 1, 1, `${name}: ${value}`);
    return value;
  }

  /** @param {string} name */
  u16(name) {
    const value = this.view.getUint16(this.take(2), true);
    this.note(this.at - 2, 2, `${name}: ${value === 0xffff ? '0xFFFF' : value}`);
    return value;
  }

  /** @param {string} name */
  u32(name) {
    const value = this.view.getUint32(this.take(4), true);
    this.note(this.at - 4, 4, `${name}: ${value === 0xffff_ffff ? '0xFFFFFFFF' : value}`);
    return value;
  }

  /** @param {string} name */
  u64(name) {
    const value = this.view.getBigUint64(this.take(8), true);
    this.note(this.at - 8, 8, `${name}: ${value}`);
    return value;
  }

  /** A u64 that is an offset or a size. @param {string} name */
  place(name) {
    return Number(this.u64(name));
  }

  /** @param {string} expected four characters @param {string} name */
  magic(expected, name) {
    const found = utf8.decode(this.bytes(4, `${name} "${expected}"`));
    if (found !== expected) throw new Error(`"${found}" where "${expected}" should be`);
  }

  /** @param {number} size @param {string} [meaning] */
  bytes(size, meaning) {
    const at = this.take(size, meaning);
    return this.data.subarray(at, at + size);
  }

  /** @param {number} size @param {string} name */
  text(size, name) {
    const value = utf8.decode(this.bytes(size));
    this.note(this.at - size, size, `${name}: "${value}"`);
    return value;
  }

  /** @param {string} name */
  leb128(name) {
    const start = this.at;
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      if (this.at - start === 10) throw new Error('a LEB128 number of more than 10 bytes');
      const byte = this.view.getUint8(this.take(1));
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    this.note(start, this.at - start, `${name}: ${value}`);
    return value;
  }

  /** @param {number} to */
  pad(to) {
    this.take(to - this.at, 'padding');
  }
}

/**
 * One LZ4 block.
 * @param {Uint8Array} block @param {number} rawSize
 */
export function decompressLz4(block, rawSize) {
  const raw = new Uint8Array(rawSize);
  let at = 0;
  let out = 0;
  const length = (/** @type {number} */ nibble) => {
    let total = nibble;
    for (let byte = nibble === 15 ? 255 : 0; byte === 255; total += byte) byte = block[at++];
    return total;
  };
  while (at < block.length) {
    const token = block[at++];
    const literals = length(token >> 4);
    raw.set(block.subarray(at, at + literals), out);
    at += literals;
    out += literals;
    if (at === block.length) break;
    const distance = block[at] | (block[at + 1] << 8);
    at += 2;
    for (let left = length(token & 15) + 4; left > 0; left--, out++) raw[out] = raw[out - distance];
  }
  if (out !== rawSize) throw new Error(`an LZ4 block of ${out} bytes instead of ${rawSize}`);
  return raw;
}
