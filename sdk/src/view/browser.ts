/** Opens a page in the browser of the desktop, where there is one. */
import { execa } from 'execa';

/** @returns false where there is no browser to be seen: no display, a terminal of another machine, a container */
export async function openBrowser(
  url: string,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<boolean> {
  const command = commandFor(process.platform, environment);
  if (!command) return false;
  const [file, ...args] = command;
  try {
    await execa(file!, [...args, url], {
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

/** null: none would be visible. */
export function commandFor(platform: NodeJS.Platform, environment: NodeJS.ProcessEnv): string[] | null {
  if (environment.SSH_CONNECTION || environment.CI) return null;
  if (platform === 'darwin') return ['open'];
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return environment.DISPLAY || environment.WAYLAND_DISPLAY ? ['xdg-open'] : null;
}
