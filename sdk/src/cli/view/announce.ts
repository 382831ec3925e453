/** What all forms of `uscope view` print, the browser that they open, and how they wait. */
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { hostname, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { writeFileAtomically } from '../../writer/output/atomic-file.js';
import { io } from '../common/io.js';
import { escaped } from './server/page.js';
import type { ViewServer } from './server/server.js';

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

/**
 * Opens a page in the browser of the desktop, where there is one. Its address lets a browser in, and arguments of programs are seen by all
 * users: the browser gets a file that leads there, which only this user may read.
 * @returns false where there is no browser to be seen: no display, a terminal of another machine, a container
 */
export async function openBrowser(
  url: string,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<boolean> {
  const command = commandFor(process.platform, environment);
  if (!command) return false;
  const [file, ...args] = command;
  try {
    await execa(file!, [...args, await fileLeadingTo(url)], {
      stdio: 'ignore',
      timeout: 10_000,
      env: environment,
      extendEnv: false,
    });
    return true;
  } catch {
    return false;
  }
}

/** Browsers take long to start: it is there until this process ends. */
async function fileLeadingTo(url: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'uscope-browser-'));
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
  const file = join(directory, 'viewer.html');
  const head = `<meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>µScope</title>`;
  const address = escaped(url);
  const html = `<!doctype html>${head}<meta http-equiv="refresh" content="0; url=${address}"><a href="${address}">the viewer</a>\n`;
  await writeFileAtomically(file, html, { inputs: [], mode: 0o600 });
  return file;
}

/** null: none would be visible. */
export function commandFor(platform: NodeJS.Platform, environment: NodeJS.ProcessEnv): string[] | null {
  if (environment.SSH_CONNECTION || environment.CI) return null;
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return environment.DISPLAY || environment.WAYLAND_DISPLAY ? ['xdg-open'] : null;
}
