/**
 * A local client's record memory (docs/client-memory.md): data messages then carry only where the records are (docs/bridge-protocol.md
 * §4), and the daemon copies them once, from memory to memory.
 *
 * The file is found by the session id alone, never by a path that a client names, and taken only if it is an ordinary file that this
 * user owns and nobody else may touch.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { messageError } from './fields.js';
import { MAX_PAYLOAD_BYTES } from './protocol.js';

const DEFAULT_DIRECTORY = '/dev/shm';
const MAGIC = 0x4d45_4d75;
const LAYOUT_VERSION = 1;
const CONTROL_BYTES = 72;
const SESSION_AT = 8;
const CHUNKS_OFFSET_AT = 64;
const SESSION_BYTES = 16;
const OTHERS_MAY = 0o077;

/** Records of one message at a time, whoever sends it: the writer is done with them before the next. */
const scratch = Buffer.alloc(MAX_PAYLOAD_BYTES);
const scratchWords = new Uint32Array(scratch.buffer, scratch.byteOffset, MAX_PAYLOAD_BYTES / 4);

export class ClientMemory {
  /** null when there is no such memory here, or none that may be trusted: the client then sends its records. */
  static open(
    sessionId: Uint8Array,
    directory = process.env.USCOPE_SHM_DIR ?? DEFAULT_DIRECTORY,
  ): ClientMemory | null {
    const path = join(directory, `uscope-${Buffer.from(sessionId).toString('hex')}.mem`);
    let fd: number;
    try {
      fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch {
      return null; // on another machine, or not in a file: nothing is wrong with either
    }
    const memory = inspect(fd, sessionId);
    if (memory === null) closeSync(fd);
    return memory;
  }

  constructor(
    private readonly fd: number,
    private readonly start: number,
    private readonly end: number,
  ) {}

  /**
   * The records at an offset of the file, valid until the next call of any memory.
   * @throws UscopeError BRIDGE_MESSAGE when they are not all in the chunks
   */
  words(offset: number, size: number): Uint32Array {
    if (offset < this.start || offset + size > this.end) {
      throw messageError(
        'data header',
        `records at ${offset}, ${size} bytes, are outside the client's memory`,
      );
    }
    const read = readSync(this.fd, scratch, 0, size, offset);
    if (read !== size)
      throw messageError('data header', `only ${read} of ${size} bytes are in the client's memory`);
    return scratchWords.subarray(0, size >>> 2);
  }

  close(): void {
    closeSync(this.fd);
  }
}

function inspect(fd: number, sessionId: Uint8Array): ClientMemory | null {
  const { size, uid, mode } = fstatSync(fd);
  const isOrdinary = (mode & constants.S_IFMT) === constants.S_IFREG;
  if (!isOrdinary || uid !== process.getuid?.() || (mode & OTHERS_MAY) !== 0) return null;
  const control = Buffer.alloc(CONTROL_BYTES);
  if (readSync(fd, control, 0, CONTROL_BYTES, 0) !== CONTROL_BYTES) return null;
  if (control.readUInt32LE(0) !== MAGIC || control.readUInt32LE(4) !== LAYOUT_VERSION) return null;
  if (!control.subarray(SESSION_AT, SESSION_AT + SESSION_BYTES).equals(sessionId)) return null;
  return new ClientMemory(fd, Number(control.readBigUInt64LE(CHUNKS_OFFSET_AT)), size);
}
