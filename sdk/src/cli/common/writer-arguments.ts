/** Options of everything that writes a trace, daemons and verbs. No part of the bridge is loaded for them. */
import { UscopeError } from '../../base/errors.js';
import type { CompressionName } from '../../format/types.js';
import { requireSmall } from '../../writer/small.js';
import { parseTime } from './times.js';

export interface WriterArguments {
  readonly compression?: string;
  readonly small?: boolean;
  readonly checkpointInterval?: string;
}

export const COMPRESSIONS: readonly string[] = ['lz4', 'zstd', 'none'] satisfies CompressionName[];

export const SMALL_HELP = 'the smallest files: zstd, and half as many checkpoints';

/**
 * The method asked for, `--small` included.
 * @throws UscopeError CLI_USAGE, WRITER_COMPRESSION for `--small` without ZSTD
 */
export function compressionOf({
  compression,
  small,
}: Pick<WriterArguments, 'compression' | 'small'>): CompressionName | undefined {
  if (small) {
    if (compression !== undefined && compression !== 'zstd')
      throw new UscopeError('CLI_USAGE', `--small writes zstd; --compression ${compression} contradicts it`);
    requireSmall();
    return 'zstd';
  }
  if (compression === undefined || COMPRESSIONS.includes(compression))
    return compression as CompressionName | undefined;
  throw new UscopeError(
    'CLI_USAGE',
    `"${compression}" is not a compression; write ${COMPRESSIONS.join(', ')}`,
  );
}

/** ps. @throws UscopeError CLI_USAGE */
export function intervalOf({
  checkpointInterval,
}: Pick<WriterArguments, 'checkpointInterval'>): bigint | undefined {
  if (checkpointInterval === undefined) return undefined;
  const interval = parseTime(checkpointInterval);
  if (interval > 0n) return interval;
  throw new UscopeError('CLI_USAGE', 'the checkpoint interval must be at least 1 ps');
}
