/** What all forms of `uscope view` print, and how they wait. */
import { hostname, userInfo } from 'node:os';
import { openBrowser, type ViewServer } from '../../view/index.js';
import { io } from '../common/io.js';

export interface Announcement {
  /** What is shown, as users call it. */
  readonly name: string;
  /** Of the page's address, with `#`. */
  readonly hash: string;
  readonly wantsBrowser: boolean;
  /** Where the address is printed; default: stdout. */
  readonly isStdoutTaken?: boolean;
  /** Instead of the sentence on Ctrl-C. */
  readonly ending?: string;
}

export async function announce(
  { name, hash, wantsBrowser, isStdoutTaken = false, ending = 'Ctrl-C ends' }: Announcement,
  { url, port }: ViewServer,
): Promise<void> {
  if (isStdoutTaken) io.err(`uscope: ${url}${hash}`);
  else {
    io.out(`${url}${hash}\n`);
    io.flush();
  }
  io.err(`uscope: showing ${name}; ${ending}`);
  io.err(
    `uscope: from another machine: ssh -L ${port}:127.0.0.1:${port} ${userInfo().username}@${hostname()}`,
  );
  // A browser that takes long to start must not hold up a conversion.
  if (wantsBrowser) void openBrowser(url + hash);
}

export function raised(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
