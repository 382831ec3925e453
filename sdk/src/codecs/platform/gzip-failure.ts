/** Errors of gzip data: the same in Node and in browsers, whose own errors differ. */
import { UscopeError } from '../../base/errors.js';

/** @param cause an error of ours passes unchanged: reading the packed bytes failed */
export function gzipFailure(cause: unknown, isTruncated: boolean): UscopeError {
  if (cause instanceof UscopeError) return cause;
  if (isTruncated) return new UscopeError('CONVERT_TRUNCATED', 'the gzip data end early', {}, { cause });
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new UscopeError('CONVERT_FORMAT', `gzip: ${reason}`, {}, { cause });
}
