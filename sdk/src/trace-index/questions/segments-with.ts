/** Which segments may hold what a search looks for: from the coarse unions to the sets of single segments. */
import { isUscopeError } from '../../base/errors.js';
import { IndexPart } from '../../format/index-container.js';
import type { SegmentParts } from '../containers/segment-parts.js';
import type { Directory } from '../directory/directory.js';
import { decodeStatics, decodeStrings, type StaticSet } from '../texts/static-set.js';

export interface TextQuery {
  /** Index of the core in the plan. */
  readonly core: number;
  /** Whether an instruction of this address and machine code (0: none) is looked for. */
  readonly statics?: ((pcLo: number, pcHi: number, bits: number) => boolean) | undefined;
  /** Whether a string of the string table is looked for. */
  readonly strings?: ((index: number) => boolean) | undefined;
}

export interface SegmentCandidate {
  readonly segment: number;
  /** False: it is not known what the segment names. */
  readonly isCertain: boolean;
}

/** Yes, no, or not known. */
type Answer = boolean | null;

/** Segments, rising. @throws UscopeError READER_*, FORMAT_* for damage */
export async function* segmentsWith(
  parts: SegmentParts,
  directory: Directory | null,
  query: TextQuery,
): AsyncGenerator<SegmentCandidate> {
  const searches = [staticSearch(parts, directory, query), stringSearch(parts, directory, query)].flatMap(
    (search) => (search ? [search] : []),
  );
  const count = parts.trace.segmentCount;
  const steps = [...new Set(searches.flatMap(({ unions }) => unions.map(({ segments }) => segments)))];
  steps.sort((a, b) => b - a);
  for (let segment = 0; segment < count; ) {
    const skipped = await skippable(searches, steps, segment);
    if (skipped > 0) {
      segment += skipped;
      continue;
    }
    const answers = await Promise.all(searches.map(({ inSegment }) => inSegment(segment)));
    if (answers.includes(true)) yield { segment, isCertain: true };
    else if (answers.includes(null)) yield { segment, isCertain: false };
    segment++;
  }
}

/** Segments from one on of which a union says that they hold nothing. */
async function skippable(
  searches: readonly Search[],
  steps: readonly number[],
  segment: number,
): Promise<number> {
  for (const step of steps) {
    if (segment % step !== 0) continue;
    const answers = await Promise.all(
      searches.map(async ({ unions }) => {
        const level = unions.find(({ segments }) => segments === step);
        return level ? level.inUnion(segment) : null;
      }),
    );
    if (answers.every((answer) => answer === false)) return step;
  }
  return 0;
}

interface Search {
  readonly unions: readonly { readonly segments: number; inUnion(segment: number): Promise<Answer> }[];
  inSegment(segment: number): Promise<Answer>;
}

function staticSearch(parts: SegmentParts, directory: Directory | null, query: TextQuery): Search | null {
  const { core, statics } = query;
  if (!statics) return null;
  const has = ({ length, pcLo, pcHi, bits }: StaticSet): boolean => {
    for (let at = 0; at < length; at++) if (statics(pcLo[at]!, pcHi[at]!, bits[at]!)) return true;
    return false;
  };
  return search(parts, directory, {
    decode: decodeStatics,
    part: IndexPart.PCS,
    subject: core,
    list: core,
    has,
  });
}

function stringSearch(
  parts: SegmentParts,
  directory: Directory | null,
  { strings }: TextQuery,
): Search | null {
  if (!strings) return null;
  const list = parts.plan.cores.length;
  const has = (set: Uint32Array): boolean => set.some((index) => strings(index));
  return search(parts, directory, { decode: decodeStrings, part: IndexPart.STRINGS, subject: 0, list, has });
}

interface Wanted<T> {
  readonly decode: (bytes: Uint8Array) => T;
  readonly part: number;
  readonly subject: number;
  /** Of the directory's unions. */
  readonly list: number;
  has(set: T): boolean;
}

function search<T>(parts: SegmentParts, directory: Directory | null, wanted: Wanted<T>): Search {
  const { decode, part, subject, list, has } = wanted;
  return {
    unions: (directory?.unions(list, decode) ?? []).map((level) => ({
      segments: level.segments,
      inUnion: async (segment) => {
        const set = await level.of(segment);
        return set && has(set);
      },
    })),
    inSegment: async (segment) => {
      const bytes = await parts.part(segment, part, subject);
      try {
        return bytes && has(decode(bytes));
      } catch (error) {
        if (!isUscopeError(error)) throw error;
        parts.trace.warn('index-damaged', `the texts in the index of segment ${segment} are damaged`);
        return null;
      }
    },
  };
}
