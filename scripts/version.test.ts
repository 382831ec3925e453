import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './step.mjs';
import { PLACES, versionIn, withVersion } from './version.mjs';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const { version } = JSON.parse(read('sdk/package.json'));

describe('one version for everything', () => {
  it.each(PLACES)('%s has the version of sdk/package.json, and gets another one', (path, before) => {
    const text = read(path);
    expect(versionIn(path, before, text)).toBe(version);
    const raised = withVersion(path, before, text, '12.34.56');
    expect(versionIn(path, before, raised)).toBe('12.34.56');
    expect(withVersion(path, before, raised, version)).toBe(text);
  });

  it('a place without a version is an error', () => {
    expect(() => versionIn('sv/uscope.core', PLACES.at(-1)![1], 'name: other')).toThrow('sv/uscope.core');
  });

  it('the licence of the Python package is that of the repository', () => {
    expect(read('cocotb-adapter/LICENSE')).toBe(read('LICENSE'));
  });
});
