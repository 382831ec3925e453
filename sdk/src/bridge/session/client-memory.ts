/**
 * A local client's record memory (docs/reference/bridge-protocol.md#memory-of-a-local-client): data messages then carry only where the records are
 * (docs/reference/bridge-protocol.md#data-header), and the daemon reads them there, or copies them once.
 *
 * The file is found by the session id alone, never by a path that a client names, and taken only if it is an ordinary file that this
 * user owns and nobody else may touch.
 */
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  read,
  readdirSync,
  readSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { RECORD_BYTES } from '../../format/record.js';
import { isRunning, type ProcessName } from '../../writer/output/process-name.js';
import {
  MEMORY_CONTROL_BYTES as CONTROL_BYTES,
  MEMORY_LAYOUT_VERSION as LAYOUT_VERSION,
  MEMORY_MAGIC as MAGIC,
  MAX_PAYLOAD_BYTES,
} from '../wire/constants.js';
import { messageError } from '../wire/fields.js';
import { MappedFile } from './mapped-file.js';
import { type RecordedFrames, recordedAtEnd, recordedSoFar } from './recorded-frames.js';

const DEFAULT_DIRECTORY = '/dev/shm';
const SESSION_AT = 8;
const PROCESS_AT = 44;
const PROCESS_START_AT = 48;
const CHUNK_SIZE_AT = 56;
const NUM_CHUNKS_AT = 60;
const CHUNKS_OFFSET_AT = 64;
const ENTRY_SIZE_AT = 72;
const ENTRIES_AT = 76;
const ENTRY_PUBLISHED_AT = 24;
const ENTRY_BASE_AT = 8;
const DURABLE_AT = 80;
const UNRECORDED_AT = 88;
const NAME_AT = 96;
const NAME_BYTES = 208;
const SESSION_BYTES = 16;
const FILE = /^uscope-([0-9a-f]{32})\.mem$/;
/** A client needs milliseconds from creating its memory to describing it. */
const INCOMPLETE_MS = 10 * 60_000;
const OTHERS_MAY = 0o077;

const readInThread = promisify(read);

/** Records of one message at a time, from any sender, where the writer has no place for them: it is done with them before the next. */
const scratch = new Uint8Array(MAX_PAYLOAD_BYTES);

interface Chunk {
  readonly order: bigint;
  /** Ordinal of the frame that its first record belongs to or comes before. */
  readonly base: bigint;
  readonly offset: number;
  readonly size: number;
}

export class ClientMemory {
  /** The memories of this user's clients, living and gone, of the sessions that are `wanted`. Close what is not needed. */
  static all(
    wanted: (sessionId: Uint8Array) => boolean = () => true,
    directory = memoryDirectory(),
  ): ClientMemory[] {
    const found: ClientMemory[] = [];
    for (const file of filesIn(directory)) {
      const [, hex] = FILE.exec(file) ?? [];
      const sessionId = hex ? Buffer.from(hex, 'hex') : null;
      if (sessionId === null || !wanted(sessionId)) continue;
      const memory = ClientMemory.open(sessionId, directory);
      if (memory) found.push(memory);
      else removeIncomplete(join(directory, file));
    }
    return found;
  }

  /** null when there is no such memory here, or none that may be trusted: the client then sends its records. */
  static open(sessionId: Uint8Array, directory = memoryDirectory()): ClientMemory | null {
    return ClientMemory.openFile(
      join(directory, `uscope-${Buffer.from(sessionId).toString('hex')}.mem`),
      sessionId,
    );
  }

  /** As `open`, for a file that a person named: it must be of that session all the same. */
  static openFile(path: string, sessionId: Uint8Array): ClientMemory | null {
    let fd: number;
    try {
      fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch {
      return null; // on another machine, or not in a file: nothing is wrong with either
    }
    const memory = inspect(fd, path, sessionId);
    if (memory === null) closeSync(fd);
    return memory;
  }

  private mapped: MappedFile | null = null;

  constructor(
    private readonly fd: number,
    readonly path: string,
    private readonly control: Buffer,
    private readonly start: number,
    private readonly end: number,
  ) {}

  /**
   * The records at an offset of the file: in `window` (8-aligned) if they have room there; without one in the file itself, if it can be
   * mapped. Valid until the next call of any memory.
   * @throws UscopeError BRIDGE_MESSAGE when they are not all in the chunks
   */
  words(offset: number, size: number, window: Uint8Array | null = null): Uint32Array {
    this.checkRange(offset, size);
    const seen = window === null ? this.mappedWords(offset, size) : null;
    if (seen !== null) return seen;
    const target = window && window.length >= size ? window : scratch;
    return wordsOf(target, readSync(this.fd, target, 0, size, offset), size);
  }

  /** null when they had better be copied: a file that is too short by now, so that `words` says so, among others. */
  private mappedWords(offset: number, size: number): Uint32Array | null {
    this.mapped ??= MappedFile.open(this.fd, this.end);
    if (this.mapped === null || fstatSync(this.fd).size < offset + size) return null;
    return this.mapped.words(offset, size);
  }

  /**
   * As `words`, by another thread, into a `window` that no other code uses until the promise settles. Not to be called, nor waited for, when
   * `close` is.
   */
  async read(offset: number, size: number, window: Uint8Array): Promise<Uint32Array> {
    this.checkRange(offset, size);
    const { bytesRead } = await readInThread(this.fd, window, 0, size, offset);
    return wordsOf(window, bytesRead, size);
  }

  private checkRange(offset: number, size: number): void {
    if (offset >= this.start && offset + size <= this.end) return;
    throw messageError('data header', `records at ${offset}, ${size} bytes, are outside the client's memory`);
  }

  get sessionId(): Uint8Array {
    return new Uint8Array(this.control.subarray(SESSION_AT, SESSION_AT + SESSION_BYTES));
  }

  /** Name of the trace, as the client gave it. */
  get traceName(): string {
    const bytes = this.control.subarray(NAME_AT, NAME_AT + NAME_BYTES);
    const end = bytes.indexOf(0);
    return bytes.toString('utf8', 0, end < 0 ? NAME_BYTES : end);
  }

  /** The process that writes here, by its id and start time, is no more: nothing in the memory changes any longer. */
  get isAbandoned(): boolean {
    const { owner } = this;
    return owner.pid !== 0 && owner.start !== 0n && !isRunning(owner);
  }

  /** The process that writes here; zeros: unknown. */
  get owner(): ProcessName {
    const { control } = this;
    return { pid: control.readUInt32LE(PROCESS_AT), start: control.readBigUInt64LE(PROCESS_START_AT) };
  }

  /** Where the records of an abandoned memory are, in the order of the stream: the newest chunks that follow each other without a gap. */
  remains(): { readonly offset: number; readonly size: number }[] {
    const chunks = this.readEntries().sort((a, b) => Number(b.order - a.order));
    const gap = chunks.findIndex(({ order }, i) => i > 0 && order !== chunks[i - 1].order - 1n);
    return (gap < 0 ? chunks : chunks.slice(0, gap)).reverse();
  }

  /** How many frames its client has completed; of one that runs, so far and at least. */
  recorded(): RecordedFrames {
    const page = Buffer.alloc(16);
    readSync(this.fd, page, 0, page.length, DURABLE_AT);
    let newestBase = 0n;
    for (const { base } of this.readEntries()) if (base > newestBase) newestBase = base;
    const durable = page.readBigUInt64LE(0);
    const unrecorded = page.readBigUInt64LE(UNRECORDED_AT - DURABLE_AT);
    const numbers = { durable, unrecorded, newestBase };
    return this.isAbandoned ? recordedAtEnd(numbers, this.remainingWords()) : recordedSoFar(numbers);
  }

  private *remainingWords(): Generator<Uint32Array> {
    for (const { offset, size } of this.remains()) yield this.words(offset, size);
  }

  private readEntries(): Chunk[] {
    const { control, start } = this;
    const chunkSize = control.readUInt32LE(CHUNK_SIZE_AT);
    const entrySize = control.readUInt32LE(ENTRY_SIZE_AT);
    const entriesAt = control.readUInt32LE(ENTRIES_AT);
    const length = control.readUInt32LE(NUM_CHUNKS_AT) * entrySize;
    if (entrySize < ENTRY_PUBLISHED_AT + 8 || entriesAt + length > start) return [];
    const table = Buffer.alloc(length);
    if (readSync(this.fd, table, 0, length, entriesAt) !== length) return [];
    const entries = [];
    for (let at = 0; at < length; at += entrySize) {
      const order = table.readBigUInt64LE(at);
      const size = Number(table.readBigUInt64LE(at + ENTRY_PUBLISHED_AT));
      const isWhole = size % RECORD_BYTES === 0 && size <= Math.min(chunkSize, MAX_PAYLOAD_BYTES);
      const base = table.readBigUInt64LE(at + ENTRY_BASE_AT);
      if (order !== 0n && size > 0 && isWhole)
        entries.push({ order, base, offset: start + (at / entrySize) * chunkSize, size });
    }
    return entries;
  }

  close(): void {
    this.mapped?.close();
    this.mapped = null;
    closeSync(this.fd);
  }

  /** Once everything in an abandoned memory is durable, nobody else removes it. */
  remove(): void {
    try {
      unlinkSync(this.path);
    } catch {
      // gone already
    }
  }
}

function wordsOf(target: Uint8Array, read: number, size: number): Uint32Array {
  if (read !== size)
    throw messageError('data header', `only ${read} of ${size} bytes are in the client's memory`);
  return new Uint32Array(target.buffer, target.byteOffset, size >>> 2);
}

function memoryDirectory(): string {
  return process.env.USCOPE_SHM_DIR || DEFAULT_DIRECTORY;
}

function filesIn(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // no such memory on this machine
  }
}

/** A client that was killed while it made its memory has recorded nothing; nobody else would ever remove the file. */
function removeIncomplete(path: string): void {
  try {
    const { uid, mtimeMs } = statSync(path);
    const isOld = Date.now() - mtimeMs > INCOMPLETE_MS;
    if (isOld && uid === process.getuid?.() && readMagic(path) === 0) unlinkSync(path);
  } catch {
    // not ours to remove
  }
}

function readMagic(path: string): number {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const magic = Buffer.alloc(4);
    readSync(fd, magic, 0, 4, 0);
    return magic.readUInt32LE(0);
  } finally {
    closeSync(fd);
  }
}

function inspect(fd: number, path: string, sessionId: Uint8Array): ClientMemory | null {
  const { size, uid, mode } = fstatSync(fd);
  const isOrdinary = (mode & constants.S_IFMT) === constants.S_IFREG;
  if (!isOrdinary || uid !== process.getuid?.() || (mode & OTHERS_MAY) !== 0) return null;
  const control = Buffer.alloc(CONTROL_BYTES);
  if (readSync(fd, control, 0, CONTROL_BYTES, 0) !== CONTROL_BYTES) return null;
  if (control.readUInt32LE(0) !== MAGIC || control.readUInt32LE(4) !== LAYOUT_VERSION) return null;
  if (!control.subarray(SESSION_AT, SESSION_AT + SESSION_BYTES).equals(sessionId)) return null;
  const start = Number(control.readBigUInt64LE(CHUNKS_OFFSET_AT));
  return start >= CONTROL_BYTES && start <= size ? new ClientMemory(fd, path, control, start, size) : null;
}
