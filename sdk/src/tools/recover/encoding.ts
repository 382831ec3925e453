/** How a file's deltas are encoded: what its header says, unless the segments say otherwise because the header is damaged. */
import { compressionFlags, compressionOf, Flag } from '../../format/header.js';
import type { CompressionName } from '../../format/types.js';
import type { Codec } from '../../reader/codec.js';
import type { CheckedSource } from '../../reader/source.js';
import { isFormatError } from '../verify/finding.js';
import type { Outline } from '../verify/outline.js';
import { Replayer } from '../verify/replay.js';
import { type FoundSegment, isHole, SegmentWalk } from '../verify/segment-walk.js';

export interface Encoding {
  readonly compression: CompressionName;
  readonly interleaved: boolean;
  /** Header flags of an open trace with this encoding. */
  readonly flags: number;
}

export interface EncodingLimits {
  readonly codec: Codec;
  readonly maxSegmentBytes: number;
  readonly maxStateBytes: number | undefined;
}

const COMPRESSIONS: readonly CompressionName[] = ['lz4', 'none', 'zstd'];
/** Segments looked at; one may be damaged itself. */
const MAX_TRIALS = 4;

export async function detectEncoding(
  source: CheckedSource,
  size: number,
  outline: Outline,
  ours: boolean,
  limits: EncodingLimits,
): Promise<Encoding> {
  const stated = encodingOf(outline.header?.flags ?? 0);
  const others = [true, false].flatMap((interleaved) =>
    COMPRESSIONS.map((compression) => withFlags(compression, interleaved)),
  );
  const { schema, segmentsStart: start } = outline;
  const walk = new SegmentWalk(source, { start, end: size, hasRecords: ours, schema, codec: limits.codec });
  let trials = 0;
  for await (const found of walk) {
    if (isHole(found) || found.crc === 'bad' || found.header.numFrames === 0) continue;
    for (const encoding of [stated, ...others]) {
      if (await fits(found, encoding, outline, limits)) return encoding;
    }
    if (++trials >= MAX_TRIALS) break;
  }
  return stated;
}

async function fits(
  segment: FoundSegment,
  { compression, interleaved }: Encoding,
  { schema }: Outline,
  limits: EncodingLimits,
): Promise<boolean> {
  if (!schema) return false;
  const replayer = new Replayer({
    ...limits,
    schema,
    compression,
    interleaved,
    strict: false,
    summarizer: null,
    problem: () => {},
  });
  try {
    const replay = replayer.frames(segment, await replayer.decompress(segment));
    return replay.isWhole && replay.frames === segment.header.numFrames;
  } catch (error) {
    // Also a decompressor that is not installed: then it is not this one.
    if (isFormatError(error) || (error as { code?: string }).code === 'READER_COMPRESSION') return false;
    throw error;
  }
}

function encodingOf(flags: number): Encoding {
  return {
    compression: compressionOf(flags),
    interleaved: (flags & Flag.INTERLEAVED) !== 0,
    flags: flags & ~(Flag.COMPLETE | Flag.HAS_STRINGS),
  };
}

function withFlags(compression: CompressionName, interleaved: boolean): Encoding {
  const flags = compressionFlags(compression) | (interleaved ? Flag.INTERLEAVED : Flag.COMPACT_DELTAS);
  return { compression, interleaved, flags };
}
