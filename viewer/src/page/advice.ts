/** What to do about an error, by its code. */

const ADVICE: Readonly<Record<string, string>> = {
  READER_OPEN:
    'Check that the server is running and reachable from this browser. A server of another origin must send Access-Control-Allow-Origin.',
  READER_HTTP_STATUS:
    'Check the address of the trace, and whether the server lets you read it. Then reload the page.',
  READER_HTTP_RANGES:
    'Serve the file with a web server that supports range requests, or use `uscope view FILE`, or drop the file on this page.',
  READER_HTTP_TIMEOUT: 'The server does not answer. Reload the page to try again.',
  READER_CHANGED: 'The file was replaced by another one. Reload the page to see the new trace.',
  ENV_KERNEL:
    "The policy of the page's server forbids WebAssembly (Content-Security-Policy): allow script-src 'wasm-unsafe-eval'. `uscope view` does.",
  READER_COMPRESSION: 'Rewrite the trace with LZ4: `uscope slice IN OUT --compression lz4`.',
  READER_NAME: 'Choose one of the cores that the message names.',
  FORMAT_TRUNCATED:
    'The file is cut. `uscope recover FILE OUT` makes a trace of what is complete; open that one.',
  FORMAT_MAGIC:
    'This is not a µScope trace. `uscope view FILE` converts and shows Kanata, gem5, STF, FTR, ctrace and flux files; `uscope convert FILE trace.uscope` makes a trace of them for this page.',
  FORMAT_CHECKSUM: 'A part of the file is damaged. `uscope verify FILE` lists what is wrong.',
  CONVERT_TRUNCATED: 'Was the run that wrote the file interrupted, or is the file still being written?',
  CONVERT_UNKNOWN: '`uscope convert --formats` lists the formats that are known.',
  VIEW_ABANDONED: '`uscope recover FILE` finalizes what is there. All of it is shown.',
  VIEW_CANVAS:
    'The page draws again when the browser gives it memory. If it does not, close other tabs and reload it.',
  VIEW_CRASHED: 'All that it had sent is shown. `uscope info FILE` counts what is missing.',
  VIEW_DOWNLOAD:
    'It works. With `uscope view FILE`, or a server with range requests, the page fetches only what it shows.',
  VIEW_EMPTY:
    'The run ended before its first cycle was recorded, or recording was paused. `uscope info FILE` shows what is known of it.',
  VIEW_LOST:
    'Start `uscope view` again and open the address that it prints. This address holds what is shown, from # on: add that to the new one.',
  VIEW_NO_CORE: '`uscope diff A B` compares any two traces.',
  VIEW_STORAGE: 'Allow this page to store data, or keep its address: it holds what is shown.',
};

const OF_CONVERSION =
  'The file breaks the rules of its format at the place named. `uscope info FILE` shows what it is.';

const OF_FORMAT =
  '`uscope verify FILE` lists everything that is wrong with the file; `uscope recover` keeps what is intact.';

const OF_PROTOCOL =
  'That part is not shown. `uscope schema --check FILE` lists what the schema contradicts, and what it lacks.';

/** @param isShown the trace is open: what has no magic number is a damaged part of it */
export function adviceFor(code: string, isShown = false): string {
  if (isShown && code === 'FORMAT_MAGIC') return OF_FORMAT;
  if (ADVICE[code]) return ADVICE[code];
  if (code.startsWith('FORMAT_')) return OF_FORMAT;
  if (code.startsWith('PROTOCOL_')) return OF_PROTOCOL;
  return code.startsWith('CONVERT_') ? OF_CONVERSION : 'Reload the page to try again.';
}
