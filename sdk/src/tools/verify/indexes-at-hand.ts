/** Finds the index of a trace: in the trace, or in the file beside it. */
import { commitRecordSize, indexOfRecord } from '../../format/commit-record.js';
import { sealIndexContainer } from '../../format/index-container.js';
import { commitRecordOffset } from '../../reader/commit-strings.js';
import type { LoadedSegment, Source, Trace } from '../../reader/index.js';
import { CheckedSource } from '../../reader/source.js';
import { Directory, type ReadBytes } from '../../trace-index/directory/directory.js';
import { DIRECTORY_SECTION } from '../../trace-index/directory/format.js';
import type { IndexPlan } from '../../trace-index/plan.js';
import { fitContainer } from '../../trace-index/recording/size-limit.js';
import {
  decodeSidecarHead,
  isSameTrace,
  SIDECAR_HEAD_SIZE,
  sidecarHeadOf,
} from '../../trace-index/sidecar/format.js';
import type { StoredDirectory } from './directory-check.js';
import type { FindingLog } from './finding.js';

/** Bytes after a segment that are read at once. */
const READ_AHEAD = 64 * 1024;
const FOREIGN = 'does not belong to this trace, or is damaged';

/** A container as it is in a file. */
export interface Stored {
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** An index that is checked, wherever it is. */
export interface IndexAtHand {
  /** In front of what is found: the name of the file, where it is not the trace. */
  readonly prefix: string;
  /** Without any container in the first segments none is looked for. */
  readonly mayBeMissing: boolean;
  stored(segment: LoadedSegment): Promise<Stored | null>;
  /** The container that its writer makes of one that has everything; null: none. */
  fitted(container: Uint8Array, segment: LoadedSegment): Uint8Array | null;
  /** null: it has none, or what is wrong with it. */
  directory(): Promise<StoredDirectory | WrongDirectory | null>;
}

/** One that cannot be used. */
interface WrongDirectory {
  readonly wrong: string;
  readonly offset: number;
}

/** In the commit records, and in a section of the trace. */
export class OwnIndex implements IndexAtHand {
  readonly prefix = '';
  readonly mayBeMissing = true;

  constructor(
    private readonly trace: Trace,
    private readonly plan: IndexPlan,
  ) {}

  async stored(segment: LoadedSegment): Promise<Stored | null> {
    const at = commitRecordOffset(segment.deltasOffset + segment.header.deltasCompressedSize);
    const first = await this.trace.bytes(at, READ_AHEAD);
    const size = commitRecordSize(first);
    const record = size > first.length ? await this.trace.bytes(at, size) : first;
    const found = indexOfRecord(record);
    return (
      found && { offset: at + found.offset, bytes: record.subarray(found.offset, found.offset + found.size) }
    );
  }

  /** A writer leaves out what would take too much of the file. */
  fitted(container: Uint8Array, { offset, header }: LoadedSegment): Uint8Array | null {
    const segmentBytes = header.checkpointSize + header.deltasCompressedSize;
    const fitting = fitContainer(this.plan, container, segmentBytes);
    if (fitting) sealIndexContainer(fitting, offset, this.trace.crc32);
    return fitting;
  }

  async directory(): Promise<StoredDirectory | WrongDirectory | null> {
    const { trace, plan } = this;
    const section = trace.section(DIRECTORY_SECTION);
    if (!section) return null;
    const read: ReadBytes = (offset, length) => trace.bytes(offset, length);
    const directory = await Directory.open(trace, plan, read, section);
    return directory ? { directory, section, read } : { wrong: FOREIGN, offset: section.offset };
  }
}

/** The file beside a trace; null: it is not used, and the log says why. Its findings have offsets in that file. */
export async function sidecarIndex(
  trace: Trace,
  plan: IndexPlan,
  source: Source,
  log: FindingLog,
): Promise<SidecarIndex | null> {
  const file = new CheckedSource(source);
  const read: ReadBytes = (offset, length) => file.upTo(offset, length);
  const prefix = `in ${source.name ?? 'the index beside the trace'}: `;
  const head = decodeSidecarHead(await read(0, SIDECAR_HEAD_SIZE), trace.crc32);
  if (!head) {
    log.add('error', 'VERIFY_INDEX', 0, `${prefix}it is not an index, or its head is damaged`);
    return null;
  }
  if (!isSameTrace(head, await sidecarHeadOf(trace, plan)) || !head.directory) {
    const why = head.directory
      ? 'it belongs to another trace or to an earlier state of this one, or was made by other rules'
      : 'it is not finished';
    log.add('warning', 'VERIFY_INDEX', 0, `${prefix}${why}: it is not used; "uscope index" makes a new one`);
    return null;
  }
  const directory = await Directory.open(trace, plan, read, head.directory);
  if (directory) return new SidecarIndex(prefix, { directory, section: head.directory, read });
  log.add('error', 'VERIFY_INDEX', head.directory.offset, `${prefix}the directory of the index ${FOREIGN}`);
  return null;
}

class SidecarIndex implements IndexAtHand {
  readonly mayBeMissing = false;

  constructor(
    readonly prefix: string,
    private readonly found: StoredDirectory,
  ) {}

  async stored({ index }: LoadedSegment): Promise<Stored | null> {
    const place = await this.found.directory.place(index);
    if (!place || place.offset === 0) return null;
    return { offset: place.offset, bytes: await this.found.read(place.offset, place.size) };
  }

  /** It has everything: it takes nothing of the trace's room. */
  fitted(container: Uint8Array): Uint8Array {
    return container;
  }

  async directory(): Promise<StoredDirectory> {
    return this.found;
  }
}
