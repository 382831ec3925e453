/** The Chromium of this machine, for tests of what runs in a page; null where there is none, and those tests are skipped. */
import { spawnSync } from 'node:child_process';
import { type Browser, chromium } from 'playwright-core';

export const chromiumPath: string | null = find();

function find(): string | null {
  const { status, stdout } = spawnSync('sh', ['-c', 'command -v chromium'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}

/** @param args of the command line, more than it always gets */
export function startChromium(args: readonly string[] = []): Promise<Browser> {
  return chromium.launch({
    executablePath: chromiumPath ?? 'chromium',
    // Its sandbox needs what containers and root do not have; these pages are ours.
    args: ['--no-sandbox', '--disable-gpu', ...args],
  });
}
