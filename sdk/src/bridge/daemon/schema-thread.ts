/** Runs in a thread of the daemon: reads one schema after the other (see schema-reader.ts). */
import { parentPort } from 'node:worker_threads';
import type { ErrorCode } from '../../base/codes.js';
import { type ErrorPlace, isUscopeError } from '../../base/errors.js';
import type { ParsedSchema } from '../../schema/index.js';
import { readRequest, type SchemaRequest } from './schema-request.js';

export type SchemaAnswer =
  | { readonly parsed: ParsedSchema }
  | { readonly code: ErrorCode; readonly detail: string; readonly place: ErrorPlace };

parentPort?.on('message', (request: SchemaRequest) => parentPort?.postMessage(answer(request)));

function answer(request: SchemaRequest): SchemaAnswer {
  try {
    return { parsed: readRequest(request) };
  } catch (error) {
    if (!isUscopeError(error)) return { code: 'BRIDGE_INTERNAL', detail: String(error), place: {} };
    const { code, detail, place } = error;
    return { code, detail, place };
  }
}
