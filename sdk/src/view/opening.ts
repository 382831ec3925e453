/** A trace that is being made while the page is already open: a file of another format, converted. */
import type { ServedTrace } from './server.js';

/** What the page asks for until the trace is there. */
export type OpeningStatus =
  /** `part` is done, 0 to 1. */
  | { readonly state: 'converting'; readonly format: string; readonly part: number }
  /** `isCut`: the file ended early; what precedes its end is shown. */
  | { readonly state: 'ready'; readonly isCut: boolean }
  | { readonly state: 'failed'; readonly code: string; readonly what: string };

export interface Opening {
  /** Shown by the page. */
  readonly name: string;
  status(): OpeningStatus;
  /** null: not there yet, or never. */
  trace(): ServedTrace | null;
}

export const isOpening = (subject: ServedTrace | Opening): subject is Opening => 'status' in subject;
