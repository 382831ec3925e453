/**
 * The smallest files that cost the simulator nothing: ZSTD level 1 (higher levels took longer and saved nothing on traces of pipelines; long-distance
 * matching neither), and checkpoints half as often. A checkpoint is not compressed, and a longer segment compresses better; twice the
 * interval still leaves a state at a random time within milliseconds. Nor is the summary compressed, which would be a fifth of the trace of a core that
 * retires an instruction every few cycles: it gets a sixteenth.
 */
import { UscopeError } from '../base/errors.js';
import { createCompressor } from './compression/compressor.js';
import { DEFAULT_CHECKPOINT_INTERVAL_PS, type WriterOptions } from './contract/options.js';

const INTERVAL_FACTOR = 2n;
const MAX_U64 = 0xffff_ffff_ffff_ffffn;

/** The checkpoint interval (ps) of a small file where `intervalPs` would be that of any other. */
export function smallInterval(intervalPs: bigint): bigint {
  const longer = intervalPs * INTERVAL_FACTOR;
  return longer > MAX_U64 ? intervalPs : longer;
}

/**
 * What `small` represents, written out; an interval that is given stays.
 * @throws UscopeError WRITER_COMPRESSION when another compression is asked for as well
 */
export function expandSmall(options: WriterOptions): WriterOptions {
  if (!options.small) return options;
  const { compression = 'zstd', checkpointIntervalPs } = options;
  if (compression !== 'zstd') {
    throw new UscopeError(
      'WRITER_COMPRESSION',
      `a small file is compressed with zstd, not "${compression}"; leave one of the two options out`,
    );
  }
  return {
    ...options,
    small: false,
    coarseSummary: true,
    compression,
    checkpointIntervalPs: checkpointIntervalPs ?? smallInterval(DEFAULT_CHECKPOINT_INTERVAL_PS),
  };
}

/**
 * Reports immediately, not only with the first trace, that small files cannot be written.
 * @throws UscopeError WRITER_COMPRESSION without ZSTD: neither Node 22.15 nor the optional package zstd-napi
 */
export function requireSmall(): void {
  createCompressor('zstd').close();
}
