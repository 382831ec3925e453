/**
 * The compiled code that makes an index, as the build puts it in place of the SDK's module (viewer/build.mjs). It is a script by itself, which is
 * loaded when a trace lacks its index or a part of it: most traces have one.
 */
import { CodedError } from './problems.js';

/** The script, next to the page. */
export const INDEX_KERNEL = 'index-kernel.js';

interface Scope {
  /** What the script defines. */
  readonly uscopeIndexKernel?: { bytes(): Uint8Array<ArrayBuffer> };
  /** Only workers have it. On the page's own thread the page loads the script first (page/threads/thread.ts). */
  importScripts?(file: string): void;
}

/** @throws CodedError READER_OPEN: the server does not answer */
export function bytes(): Uint8Array<ArrayBuffer> {
  const scope = globalThis as Scope;
  if (!scope.uscopeIndexKernel) load(scope);
  return scope.uscopeIndexKernel!.bytes();
}

function load(scope: Scope): void {
  try {
    scope.importScripts!(INDEX_KERNEL);
  } catch (error) {
    throw new CodedError('READER_OPEN', `${INDEX_KERNEL}: ${(error as Error).message}`);
  }
}
