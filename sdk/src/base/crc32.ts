/** CRC-32 as in zlib, gzip and PNG (reflected polynomial 0xEDB88320). Pure, so that it runs in a browser; Node has a faster native one. */

/** Eight tables for eight bytes per step: table k holds the effect of a byte that k further bytes follow. */
const TABLES = buildTables();

/**
 * CRC-32 of `bytes`; `seed` is the CRC of what came before, so that
 * `crc32(b, crc32(a))` is the CRC of a followed by b. Result as u32.
 */
export function crc32(bytes: Uint8Array, seed = 0): number {
  const [t0, t1, t2, t3, t4, t5, t6, t7] = TABLES;
  let crc = ~seed;
  let at = 0;
  for (const end = bytes.length - 7; at < end; at += 8) {
    crc ^= bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
    crc =
      t7[crc & 0xff] ^
      t6[(crc >>> 8) & 0xff] ^
      t5[(crc >>> 16) & 0xff] ^
      t4[crc >>> 24] ^
      t3[bytes[at + 4]] ^
      t2[bytes[at + 5]] ^
      t1[bytes[at + 6]] ^
      t0[bytes[at + 7]];
  }
  for (; at < bytes.length; at++) crc = t0[(crc ^ bytes[at]) & 0xff] ^ (crc >>> 8);
  return ~crc >>> 0;
}

function buildTables(): Int32Array[] {
  const first = new Int32Array(256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
    first[byte] = crc;
  }
  const tables = [first];
  for (let k = 1; k < 8; k++) {
    const before = tables[k - 1];
    tables.push(before.map((crc) => first[crc & 0xff] ^ (crc >>> 8)));
  }
  return tables;
}
