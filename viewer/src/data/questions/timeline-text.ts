/** Rows as text, exactly as `uscope timeline --cycles FROM:TO` prints them. */
import { printTimeline } from 'uscope/timeline';
import { CodedError } from '../problems.js';
import type { Question } from './question.js';

interface TimelineTextArgs {
  /** Cycles of the core shown; `to` is exclusive. */
  readonly from: number;
  readonly to: number;
  /** Characters of a line. */
  readonly width: number;
}

/** Characters; more is nothing that a person would paste. */
const MAX_TEXT = 8 * 1024 * 1024;

/** null: the trace has no core. @throws CodedError READER_RANGE: it would be too long */
export const timelineText: Question<
  TimelineTextArgs,
  { readonly text: string; readonly rows: number } | null
> = async ({ from, to, width }, { trace, core, periodPs }, signal) => {
  if (!core) return null;
  const end = trace.totalTimePs / periodPs + 1n;
  const asked = { from: BigInt(Math.max(0, Math.floor(from))), to: BigInt(Math.max(0, Math.floor(to))) };
  const range = { from: asked.from, to: asked.to < end ? asked.to : end, numbers: null, pc: null };
  if (range.to <= range.from) return { text: '', rows: 0 };
  const parts: string[] = [];
  let length = 0;
  const out = (text: string): void => {
    length += text.length;
    if (length > MAX_TEXT) {
      const most = `${MAX_TEXT / 1024 / 1024} million characters`;
      const what = `cycles ${range.from} to ${range.to - 1n} would be more than ${most} of text`;
      throw new CodedError('READER_RANGE', `${what}; choose a shorter range`);
    }
    parts.push(text);
  };
  const { printed } = await printTimeline(trace, core, range, { width, colour: false, out, signal });
  return { text: parts.join(''), rows: printed };
};
