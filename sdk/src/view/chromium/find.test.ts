/** Which browser draws pictures. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findChromium } from './find.js';

let directory: string;
const at = (...parts: string[]): string => join(directory, ...parts);
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-find-'));
  for (const folder of ['a', 'b']) mkdirSync(at(folder));
  for (const name of ['a/google-chrome', 'b/chromium', 'mine']) {
    writeFileSync(at(name), '');
    chmodSync(at(name), 0o755);
  }
  writeFileSync(at('a/chromium'), 'not a program');
  chmodSync(at('a/chromium'), 0o644);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('the browser', () => {
  it('is the one that CHROME_PATH names, and no other', () => {
    expect(findChromium('linux', { CHROME_PATH: at('mine'), PATH: at('b') })).toBe(at('mine'));
    expect(findChromium('linux', { CHROME_PATH: at('none'), PATH: at('b') })).toBeNull();
  });

  it('is the first that PATH has and that can be run', () => {
    expect(findChromium('linux', { PATH: `${at('a')}:${at('b')}` })).toBe(at('b/chromium'));
    expect(findChromium('linux', { PATH: at('a') })).toBe(at('a/google-chrome'));
    expect(findChromium('linux', { PATH: '' })).toBeNull();
    expect(findChromium('win32', {})).toBeNull();
  });
});
