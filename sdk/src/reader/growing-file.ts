/**
 * A trace that is being written, on the side that has the file: what readers that follow it are going to ask for. These are the file's header, the
 * newest segments whole, since they are going to be shown, and of those before them the headers and the commit records. What is committed does
 * not change: each piece is read once, however many readers follow.
 */
import { COMMIT_HEADER_SIZE, commitRecordSize } from '../format/commit-record.js';
import { decodeHeader, Flag, HEADER_SIZE, HEADER_TAIL_OFFSET } from '../format/header.js';
import { SEGMENT_HEADER_SIZE } from '../format/segment.js';
import { commitRecordOffset } from './commit-strings.js';
import type { FilePart, GrownParts } from './grown-parts.js';
import { readSegmentHeader, safeOffset, segmentSize } from './segment-list.js';
import { CheckedSource, type Source } from './source.js';

/** Most segments of one answer, the newest ones where there are more. */
const MAX_SEGMENTS = 16_384;
/** Most bytes of one answer in records of segments that are not sent whole. */
const MAX_RECORDS_BYTES = 4 * 1024 * 1024;
/** Larger records are rare, and left to be asked for. */
const MAX_RECORD_BYTES = 256 * 1024;
/** Most bytes of one answer in segments that are sent whole. */
const WHOLE_BYTES = 1024 * 1024;
/** A reader looks for the headers of small segments in a window of this size, which may begin in a segment that it knows. */
const WINDOW_BYTES = 64 * 1024;
/** Kept for the next reader. */
const KEPT_BYTES = 8 * 1024 * 1024;

/** The place of a segment. */
interface Place {
  readonly offset: number;
  /** Offset of its commit record. */
  readonly end: number;
  /** End of that record. */
  readonly next: number;
}

export class GrowingFile {
  /** The newest segments, in the order of the file, as of the last tail. */
  private walked: { readonly tail: number; readonly places: Promise<readonly Place[]> } = {
    tail: 0,
    places: Promise.resolve([]),
  };
  private readonly pieces = new Map<
    string,
    { readonly bytes: Promise<Uint8Array>; readonly length: number }
  >();
  private keptBytes = 0;

  constructor(private readonly file: Source) {}

  /**
   * @param knownTail offset of the last segment that the reader knows; 'latest': it knows all but the last
   * @returns null: the trace is finalized, and its tables say more
   * @throws UscopeError FORMAT_*, READER_*: the file cannot be followed, which its reader finds out by itself
   */
  async since(knownTail: number | 'latest'): Promise<GrownParts | null> {
    const source = new CheckedSource(this.file);
    // Before everything else: all that it names is in the file by then.
    const head = await source.exactly(0, HEADER_SIZE, 'the header');
    const { flags, tailOffset } = decodeHeader(head);
    if ((flags & Flag.COMPLETE) !== 0) return null;
    const tail = safeOffset(tailOffset, HEADER_TAIL_OFFSET);
    const places = await this.placesTo(source, tail);
    const isNew = ({ offset }: Place): boolean => offset > (knownTail === 'latest' ? tail - 1 : knownTail);
    const added = places.slice(places.findLastIndex((place) => !isNew(place)) + 1);
    const size = places.at(-1)?.next ?? (await this.file.size());
    const parts = [
      ...(await this.before(source, added, knownTail === 'latest' ? 0 : knownTail)),
      ...(await this.records(source, added)),
      ...(await this.whole(source, newest(added))),
    ];
    return { size, tail, parts: [{ offset: 0, bytes: head }, ...parts] };
  }

  private placesTo(source: CheckedSource, tail: number): Promise<readonly Place[]> {
    const { walked } = this;
    if (walked.tail === tail) return walked.places;
    const places = walked.places.then(
      (known) => walk(source, tail, known),
      () => walk(source, tail, []),
    );
    // One whose header is older is answered all the same.
    if (tail > walked.tail) this.walked = { tail, places };
    return places;
  }

  /** The window of a reader that knows the segment at `known`; 0: of one that knows none. */
  private async before(source: CheckedSource, [first]: readonly Place[], known: number): Promise<FilePart[]> {
    if (!first || known === 0 || first.next - first.offset > WINDOW_BYTES) return [];
    const offset = Math.max(known, first.offset - WINDOW_BYTES);
    return offset < first.offset ? [await this.part(source, offset, first.offset)] : [];
  }

  /** The parts of segments that are not sent whole: the headers, and the newest records, each with the header after it. */
  private async records(source: CheckedSource, added: readonly Place[]): Promise<FilePart[]> {
    const [first] = added;
    const count = added.length - newest(added).length;
    if (!first || count === 0) return [];
    const headerOf = ({ offset }: Place) => this.part(source, offset, offset + SEGMENT_HEADER_SIZE);
    const parts: FilePart[] = [];
    let bytes = 0;
    for (let at = count - 1; at >= 0; at--) {
      const { end, next } = added[at]!;
      const following = added[at + 1];
      if (bytes <= MAX_RECORDS_BYTES && next - end <= MAX_RECORD_BYTES) {
        parts.push(await this.part(source, end, following ? following.offset + SEGMENT_HEADER_SIZE : next));
        bytes += next - end;
      } else if (following) parts.push(await headerOf(following));
    }
    return [await headerOf(first), ...parts.reverse()];
  }

  private whole(source: CheckedSource, places: readonly Place[]): Promise<FilePart[]> {
    return Promise.all(places.map(({ offset, next }) => this.part(source, offset, next)));
  }

  private async part(source: CheckedSource, offset: number, end: number): Promise<FilePart> {
    return { offset, bytes: await this.piece(source, offset, end - offset) };
  }

  private piece(source: CheckedSource, offset: number, length: number): Promise<Uint8Array> {
    const key = `${offset} ${length}`;
    const known = this.pieces.get(key);
    if (known) return known.bytes;
    const bytes = source.exactly(offset, length, 'the segments');
    this.pieces.set(key, { bytes, length });
    this.keptBytes += length;
    // The next reader tries again.
    bytes.catch(() => this.drop(key));
    for (const oldest of this.pieces.keys()) {
      if (this.keptBytes <= KEPT_BYTES) break;
      this.drop(oldest);
    }
    return bytes;
  }

  private drop(key: string): void {
    this.keptBytes -= this.pieces.get(key)?.length ?? 0;
    this.pieces.delete(key);
  }
}

/** The new segments that are sent whole. */
function newest(added: readonly Place[]): readonly Place[] {
  let bytes = 0;
  let first = added.length;
  for (; first > 0; first--) {
    bytes += added[first - 1]!.next - added[first - 1]!.offset;
    if (bytes > WHOLE_BYTES) break;
  }
  return added.slice(first);
}

/** From the tail back to the newest segment that is known; the newest ones, where there are more than an answer takes. */
async function walk(source: CheckedSource, tail: number, known: readonly Place[]): Promise<readonly Place[]> {
  const newestKnown = known.at(-1)?.offset ?? 0;
  if (tail <= newestKnown) return known.filter(({ offset }) => offset <= tail);
  const found: Place[] = [];
  let offset = tail;
  while (offset > newestKnown && found.length < MAX_SEGMENTS) {
    const header = await readSegmentHeader(source, offset);
    const end = commitRecordOffset(offset + segmentSize(header));
    const next = found.at(-1)?.offset ?? end + commitRecordSize(await source.upTo(end, COMMIT_HEADER_SIZE));
    found.push({ offset, end, next });
    const previous = safeOffset(header.prevSegmentOffset, offset);
    if (previous >= offset) break;
    offset = previous;
  }
  const continued = offset === newestKnown ? known : [];
  return [...continued, ...found.reverse()].slice(-MAX_SEGMENTS);
}
