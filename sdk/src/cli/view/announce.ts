/** What all forms of `uscope view` print, and how they wait. */
import { hostname, userInfo } from 'node:os';
import { openBrowser, type ViewServer } from '../../view/index.js';
import { io } from '../common/io.js';

export interface Announcement {
  /** What is shown, as users call it. */
  readonly name: string;
  /** Of the page's address, with `#`; default: empty. */
  readonly hash?: string;
  readonly wantsBrowser: boolean;
  /** Everybody on this machine may look. */
  readonly isShared?: boolean;
  /** Where the address is printed; default: stdout. */
  readonly isStdoutTaken?: boolean;
  /** Instead of the sentence on Ctrl-C. */
  readonly ending?: string;
}

export async function announce(
  {
    name,
    hash = '',
    wantsBrowser,
    isShared = false,
    isStdoutTaken = false,
    ending = 'Ctrl-C ends',
  }: Announcement,
  { port, invite }: ViewServer,
): Promise<void> {
  const address = invite(hash);
  if (isStdoutTaken) io.err(`uscope: ${address}`);
  else {
    io.out(`${address}\n`);
    io.flush();
  }
  if (isShared)
    io.err(
      'uscope: warning: --no-token: every user of this machine may look; the page controls nothing, and asks nothing in SQL',
    );
  io.err(`uscope: showing ${name}; ${ending}`);
  io.err(
    `uscope: from another machine: ssh -L ${port}:127.0.0.1:${port} ${userInfo().username}@${hostname()}`,
  );
  // A browser that takes long to start must not hold up a conversion. The printed address stays good for another one.
  if (wantsBrowser) void openBrowser(invite(hash));
}

export function raised(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
