/** What a pool and its threads say to each other: plain data. */
import type { ErrorCode } from '../base/codes.js';
import { type ErrorPlace, isUscopeError, UscopeError } from '../base/errors.js';
import type { TraceWarning } from '../reader/index.js';

/** The place at which a thread finds the trace; every thread reads for itself. */
export type TraceLocation =
  | { readonly kind: 'place'; readonly place: string }
  | { readonly kind: 'blob'; readonly blob: Blob; readonly name?: string | undefined };

/** What every thread opens the trace with: see `OpenOptions`. */
export interface ThreadOpenOptions {
  readonly maxSegmentBytes?: number | undefined;
  readonly maxStateBytes?: number | undefined;
  readonly cacheBytes?: number | undefined;
  readonly verify?: boolean | undefined;
}

/** How far the trace is known: a thread that knows less looks for more before it answers. */
export interface Known {
  readonly segments: number;
  readonly isComplete: boolean;
}

export interface OpenMessage {
  readonly type: 'open';
  readonly location: TraceLocation;
  readonly options: ThreadOpenOptions;
}

export interface RequestMessage {
  readonly type: 'request';
  readonly id: number;
  readonly kind: string;
  readonly params: unknown;
  readonly priority: number;
  readonly known: Known;
}

export interface CancelMessage {
  readonly type: 'cancel';
  readonly id: number;
}

export type ToThread = OpenMessage | RequestMessage | CancelMessage;

export type FromThread =
  | { readonly type: 'opened'; readonly known: Known }
  | { readonly type: 'failed'; readonly error: SentError }
  | { readonly type: 'progress'; readonly id: number; readonly fraction: number }
  | { readonly type: 'warning'; readonly warning: TraceWarning }
  /** `bytes`: of the arrays in the value. */
  | { readonly type: 'answer'; readonly id: number; readonly value: unknown; readonly bytes: number }
  | { readonly type: 'error'; readonly id: number; readonly error: SentError };

/** An error on its way: its class is lost between threads. */
export type SentError =
  | { readonly code: ErrorCode; readonly detail: string; readonly place: ErrorPlace }
  | { readonly code: null; readonly message: string; readonly stack: string | undefined };

export function sendError(error: unknown): SentError {
  if (isUscopeError(error)) return { code: error.code, detail: error.detail, place: error.place };
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  return { code: null, message, stack };
}

export function receiveError(sent: SentError): Error {
  if (sent.code !== null) return new UscopeError(sent.code, sent.detail, sent.place);
  const error = new Error(sent.message);
  if (sent.stack !== undefined) error.stack = sent.stack;
  return error;
}
