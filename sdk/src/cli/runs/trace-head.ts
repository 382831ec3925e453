/** What a trace says of itself in its first and last bytes: header, preamble, last segment header, section table. Nothing between is read. */
import { UscopeError } from '../../base/errors.js';
import { decodeHeader, type FileHeader, Flag, HEADER_SIZE } from '../../format/header.js';
import { decodePreamble, type Preamble } from '../../format/preamble.js';
import { decodeSectionTable, SECTION_ENTRY_SIZE } from '../../format/section-table.js';
import { decodeSegmentHeader, SEGMENT_HEADER_SIZE } from '../../format/segment.js';
import type { Source } from '../../reader/index.js';
import { fileSource } from '../../reader/node.js';

/** Schemas have some kB. */
const MAX_PREAMBLE_BYTES = 16 * 1024 * 1024;
/** Section tables have a handful of entries; of a longer one the END need not be seen. */
const MAX_SECTIONS = 64;

export interface TraceHead {
  readonly header: FileHeader;
  readonly preamble: Preamble;
  readonly isComplete: boolean;
  /** Simulated time in ps: of the last frame, or where the last segment ends in a trace that is not finalized. */
  readonly totalTimePs: bigint;
  /** Size of the file. */
  readonly bytes: number;
  /** What is wrong with the file's end; null: nothing that can be seen there. */
  readonly damage: UscopeError | null;
}

/** What the end of a file contains. */
type Tail = Pick<TraceHead, 'totalTimePs' | 'damage'>;

/** @throws UscopeError READER_OPEN, FORMAT_* when header or preamble cannot be read */
export async function readTraceHead(path: string): Promise<TraceHead> {
  const source = await fileSource(path);
  try {
    return await readHead(source);
  } catch (error) {
    if (error instanceof UscopeError) throw error;
    throw new UscopeError(
      'READER_OPEN',
      `the file cannot be read: ${(error as Error).message}`,
      {},
      { cause: error },
    );
  } finally {
    await source.close?.();
  }
}

async function readHead(source: Source): Promise<TraceHead> {
  const bytes = await source.size();
  const header = decodeHeader(await source.read(0, HEADER_SIZE));
  inside(header.preambleEnd, bytes, 'the preamble');
  if (header.preambleEnd > MAX_PREAMBLE_BYTES)
    throw new UscopeError('FORMAT_LENGTH', `a preamble of ${header.preambleEnd} bytes is not a preamble`);
  const preambleBytes = await source.read(HEADER_SIZE, header.preambleEnd - HEADER_SIZE);
  const preamble = decodePreamble(preambleBytes, header.versionMinor);
  const isComplete = (header.flags & Flag.COMPLETE) !== 0;
  return { header, preamble, isComplete, bytes, ...(await readTail(source, header, isComplete, bytes)) };
}

async function readTail(
  source: Source,
  header: FileHeader,
  isComplete: boolean,
  size: number,
): Promise<Tail> {
  const known = isComplete ? header.totalTimePs : 0n;
  try {
    const lastEndPs = await lastSegmentEnd(source, header, size);
    if (isComplete) await checkSections(source, header, size);
    return { totalTimePs: isComplete ? known : lastEndPs, damage: null };
  } catch (error) {
    if (error instanceof UscopeError) return { totalTimePs: known, damage: error };
    throw error;
  }
}

async function lastSegmentEnd(source: Source, { tailOffset }: FileHeader, size: number): Promise<bigint> {
  if (tailOffset === 0n) return 0n;
  inside(tailOffset + BigInt(SEGMENT_HEADER_SIZE), size, 'the last segment');
  const at = Number(tailOffset);
  const last = decodeSegmentHeader(await source.read(at, SEGMENT_HEADER_SIZE), at);
  const length = SEGMENT_HEADER_SIZE + last.checkpointSize + last.deltasCompressedSize;
  inside(tailOffset + BigInt(length), size, 'the last segment');
  return last.timeEndPs;
}

/** The file was finalized: what its tail points to must be there. */
async function checkSections(
  source: Source,
  { sectionTableOffset }: FileHeader,
  size: number,
): Promise<void> {
  inside(sectionTableOffset + BigInt(SECTION_ENTRY_SIZE), size, 'the section table');
  const at = Number(sectionTableOffset);
  const length = Math.min(size - at, MAX_SECTIONS * SECTION_ENTRY_SIZE);
  decodeSectionTable(await source.read(at, length), at, size);
}

function inside(end: number | bigint, size: number, what: string): void {
  if (BigInt(end) <= BigInt(size)) return;
  throw new UscopeError(
    'FORMAT_TRUNCATED',
    `${what} ends at ${end}, the file at ${size}: its end is missing`,
  );
}
