/** A Chromium of this machine: what can draw the page without a window. */
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAMES = [
  'chromium',
  'chromium-browser',
  'google-chrome-stable',
  'google-chrome',
  'chrome',
  'microsoft-edge-stable',
  'microsoft-edge',
  'brave-browser',
];
const MAC = ['Google Chrome', 'Chromium', 'Microsoft Edge', 'Brave Browser'].map(
  (name) => `/Applications/${name}.app/Contents/MacOS/${name}`,
);
const WINDOWS = ['Google\\Chrome\\Application\\chrome.exe', 'Microsoft\\Edge\\Application\\msedge.exe'];

/** `CHROME_PATH`, else those that packages install; null: there is none. */
export function findChromium(
  platform: NodeJS.Platform = process.platform,
  environment: NodeJS.ProcessEnv = process.env,
): string | null {
  if (environment.CHROME_PATH) return isRunnable(environment.CHROME_PATH) ? environment.CHROME_PATH : null;
  return candidates(platform, environment).find(isRunnable) ?? null;
}

function candidates(platform: NodeJS.Platform, environment: NodeJS.ProcessEnv): string[] {
  if (platform === 'darwin') return MAC;
  if (platform === 'win32') {
    const roots = [environment.ProgramFiles, environment['ProgramFiles(x86)'], environment.LOCALAPPDATA];
    return roots.flatMap((root) => (root ? WINDOWS.map((path) => join(root, path)) : []));
  }
  const folders = (environment.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name)));
}

function isRunnable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
