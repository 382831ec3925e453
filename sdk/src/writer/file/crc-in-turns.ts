/** CRC-32 of many bytes, in steps of some milliseconds between which others have their turn. */
import { crc32 } from '#platform/crc32';

const STEP_BYTES = 4 * 1024 * 1024;

/** undefined: they are so few that it is done at once where it is needed. The bytes must not change meanwhile. */
export async function crcInTurns(bytes: Uint8Array): Promise<number | undefined> {
  if (bytes.length <= STEP_BYTES) return undefined;
  let crc = 0;
  for (let at = 0; at < bytes.length; at += STEP_BYTES) {
    crc = crc32(bytes.subarray(at, at + STEP_BYTES), crc);
    await new Promise((resolve) => setImmediate(resolve));
  }
  return crc;
}
