/** `fetch` for the reader that notes what the user should know of the server. */

import { GROWN_TYPE } from 'uscope/reader';
import type { Problem } from './protocol.js';

/** A server that sends whole files may send this much. */
export const MAX_DOWNLOAD_BYTES = 512 * 1024 * 1024;

/**
 * @param report is called once, when the server sends the whole file instead of a part
 * @param writer is called with each answer: whether somebody may still write the file, as far as the server knows
 */
export function observedFetch(
  report: (problem: Problem) => void,
  writer: (isThere: boolean) => void = () => undefined,
): typeof fetch {
  let isTold = false;
  return async (input, options) => {
    const response = await fetch(input, options);
    writer(response.headers.get('uscope-writer') !== 'gone');
    const asked = new Headers(options?.headers);
    const isFile = response.status === 200 && response.headers.get('content-type') !== GROWN_TYPE;
    if (!isTold && isFile && asked.has('range') && !asked.has('if-range')) {
      isTold = true;
      const bytes = Number(response.headers.get('content-length') ?? 0);
      const size = bytes > 0 ? ` (${(bytes / 1e6).toFixed(1)} MB)` : '';
      const what = `The server does not serve parts of a file: the page fetches the whole trace${size}.`;
      report({ code: 'VIEW_DOWNLOAD', what, advice: '', isFatal: false });
    }
    return response;
  };
}
