/** Errors of the reader as messages that say what to do. */
import type { Problem } from './protocol.js';

const ADVICE: Readonly<Record<string, string>> = {
  READER_OPEN:
    'Check that the server is running and reachable from this browser. A server of another origin must send Access-Control-Allow-Origin.',
  READER_HTTP_STATUS:
    'Check the address of the trace, and whether the server needs a password. Then reload the page.',
  READER_HTTP_RANGES:
    'Serve the file with a web server that supports range requests, or use `uscope view FILE`, or drop the file on this page.',
  READER_HTTP_TIMEOUT: 'The server does not answer. Reload the page to try again.',
  READER_CHANGED: 'The file was replaced by another one. Reload the page to see the new trace.',
  READER_COMPRESSION: 'Rewrite the trace with LZ4: `uscope slice IN OUT --compression lz4`.',
  READER_NAME: 'Choose one of the cores that the message names.',
  FORMAT_TRUNCATED:
    'The file is cut. `uscope recover FILE OUT` makes a trace of what is complete; open that one.',
  FORMAT_MAGIC:
    'This is not a µScope trace. `uscope convert FILE trace.uscope` makes one of Kanata, gem5, STF, FTR, ctrace and flux files.',
  FORMAT_CHECKSUM: 'A part of the file is damaged. `uscope verify FILE` lists what is wrong.',
};

const OF_FORMAT =
  '`uscope verify FILE` lists everything that is wrong with the file; `uscope recover` keeps what is intact.';

export function describeProblem(error: unknown): Problem {
  const { code, detail, message } = error as { code?: unknown; detail?: unknown; message?: unknown };
  if (typeof code === 'string' && /^[A-Z]+_[A-Z0-9_]+$/.test(code)) {
    const advice = ADVICE[code] ?? (code.startsWith('FORMAT_') ? OF_FORMAT : 'Reload the page to try again.');
    return { code, what: String(detail ?? message), advice, isFatal: false };
  }
  return {
    code: 'VIEWER_FAILED',
    what: String(message ?? error),
    advice:
      'This is a defect of the viewer. Reload the page; if it happens again, report it with this message.',
    isFatal: false,
  };
}
