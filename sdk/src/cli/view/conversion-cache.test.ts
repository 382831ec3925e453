/** What is kept of conversions: found by what decides its contents, bounded, those used longest ago removed first. */
import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConversionCache, cacheDirectory, conversionKey } from './conversion-cache.js';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-cache-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

describe('the key of a conversion', () => {
  it('changes with path, size, time of change and format, and with nothing else', async () => {
    const [one, other] = [join(directory, 'a'), join(directory, 'b')];
    for (const path of [one, other]) {
      writeFileSync(path, 'text');
      utimesSync(path, 1000, 1000);
    }
    const key = await conversionKey(one, 'konata');
    expect(key).toMatch(/^[0-9a-f]{32}$/);
    expect(await conversionKey(join(directory, '.', 'a'), 'konata')).toBe(key);
    expect(await conversionKey(other, 'konata')).not.toBe(key);
    expect(await conversionKey(one, 'gem5')).not.toBe(key);
    utimesSync(one, 1000, 1001);
    const touched = await conversionKey(one, 'konata');
    expect(touched).not.toBe(key);
    writeFileSync(one, 'text of another size');
    utimesSync(one, 1000, 1001);
    expect(await conversionKey(one, 'konata')).not.toBe(touched);
  });
});

describe('what is kept', () => {
  it('is found again, also when its file was cut', async () => {
    const cache = new ConversionCache(directory);
    expect(await cache.find('k')).toBeNull();
    const path = await cache.prepare('k');
    writeFileSync(path, 'trace');
    expect(await cache.find('k')).toEqual({ path, isCut: false });
    const cut = cache.pathOfCut(await cache.prepare('c'));
    writeFileSync(cut, 'trace');
    expect(await cache.find('c')).toEqual({ path: cut, isCut: true });
  });

  it.each([
    ['others may write', (path: string) => chmodSync(path, 0o777)],
    [
      'is a link',
      (path: string) => {
        renameSync(path, `${path}.real`);
        symlinkSync(`${path}.real`, path);
      },
    ],
  ])('is not believed in a directory that %s', async (_, spoil) => {
    const cache = new ConversionCache(directory);
    writeFileSync(await cache.prepare('k'), 'trace');
    spoil(directory);
    expect(await cache.find('k')).toBeNull();
    await expect(cache.prepare('k')).rejects.toMatchObject({ code: 'READER_UNTRUSTED' });
    rmSync(`${directory}.real`, { recursive: true, force: true });
  });

  it('has a limit of bytes: those used longest ago go, the one in use never', async () => {
    const cache = new ConversionCache(directory, 25);
    for (const [name, time] of [
      ['old', 1000],
      ['middle', 2000],
      ['new', 3000],
    ] as const) {
      const path = await cache.prepare(name);
      writeFileSync(path, '0123456789');
      utimesSync(path, time, time);
    }
    await cache.find('old');
    await cache.trim(await cache.prepare('new'));
    expect(readdirSync(directory).sort()).toEqual(['new.uscope', 'old.uscope']);
    await new ConversionCache(directory, 5).trim(await cache.prepare('new'));
    expect(readdirSync(directory)).toEqual(['new.uscope']);
  });

  it('does not hold for ever what a killed conversion left', async () => {
    const cache = new ConversionCache(directory);
    const keep = await cache.prepare('k');
    for (const [name, age] of [
      ['.a.uscope.1.tmp', 2],
      ['.b.uscope.2.tmp', 0],
    ] as const) {
      const path = join(directory, name);
      writeFileSync(path, 'half');
      const time = Date.now() / 1000 - age * 24 * 3600;
      utimesSync(path, time, time);
    }
    await cache.trim(keep);
    expect(readdirSync(directory)).toEqual(['.b.uscope.2.tmp']);
  });
});

it('is in the directory that XDG_CACHE_HOME names, which must be absolute', () => {
  expect(cacheDirectory({ XDG_CACHE_HOME: '/somewhere' })).toBe('/somewhere/uscope/converted');
  expect(cacheDirectory({ XDG_CACHE_HOME: 'here' })).toBe(cacheDirectory({}));
});
