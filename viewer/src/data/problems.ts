/** Errors as messages. What to do about those with a code of the reader, the page knows (`page/advice.ts`). */
import type { Problem } from './protocol.js';

/** What the page itself refuses, with a code of docs/reference/errors.md. */
export class CodedError extends Error {
  constructor(
    readonly code: string,
    readonly detail: string,
  ) {
    super(`${code}: ${detail}`);
  }
}

/** An error that the code of a thread did not catch. */
export function threadProblem(what: string): Problem {
  const advice = 'Reload the page. If it happens again, report it with this message.';
  return { code: 'VIEW_FAILED', what, advice, isFatal: false };
}

export function describeProblem(error: unknown): Problem {
  const { code, detail, message } = error as { code?: unknown; detail?: unknown; message?: unknown };
  if (typeof code === 'string' && /^[A-Z]+_[A-Z0-9_]+$/.test(code)) {
    return { code, what: String(detail ?? message), advice: '', isFatal: false };
  }
  return {
    code: 'VIEW_FAILED',
    what: String(message ?? error),
    advice:
      'This is a defect of the viewer. Reload the page; if it happens again, report it with this message.',
    isFatal: false,
  };
}
