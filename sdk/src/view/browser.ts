/**
 * Opens a page in the browser of the desktop, where there is one. Its address lets a browser in, and arguments of programs are seen by all users: the
 * browser gets a file that leads there, which only this user may read.
 */
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { writeFileAtomically } from '../writer/output/atomic-file.js';
import { escaped } from './page.js';

/** @returns false where there is no browser to be seen: no display, a terminal of another machine, a container */
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
