import { describe, expect, it } from 'vitest';
import { runUscope } from '../../../../test/support/run-cli.js';
import { maxMemoryOf, niceOf } from './daemon-arguments.js';

describe('--nice', () => {
  it.each([
    [undefined, undefined],
    ['0', 0],
    ['7', 7],
    ['19', 19],
  ])('%s is %s', (given, expected) => {
    expect(niceOf({ out: '.', ...(given === undefined ? {} : { nice: given }) })).toBe(expected);
  });

  it.each(['20', '100', '-1', '+3', '1.5', '1e1', 'x', ' ', ''])('"%s" is refused', async (given) => {
    for (const line of [
      ['serve', `--nice=${given}`],
      ['run', `--nice=${given}`, '--', 'true'],
    ]) {
      const { status, out, err } = await runUscope(line);
      expect(err).toBe(`uscope: CLI_USAGE: "${given}" is not a nice value; write 0 to 19\n`);
      expect([status, out]).toEqual([2, '']);
    }
  });

  it.each(['serve', 'run'])('is explained by the help of %s, with its default', async (verb) => {
    const { out } = await runUscope([verb, '--help']);
    expect(out.replace(/\s+/g, ' ')).toContain(
      '--nice <n> nice value of the daemon, which gives way to the simulator, 0 to 19 (default: 10)',
    );
  });
});

describe('--max-memory', () => {
  it.each([
    [undefined, undefined],
    ['64MB', 64 * 2 ** 20],
    ['1.5GiB', 1.5 * 2 ** 30],
    ['2g', 2 * 2 ** 30],
  ])('%s is %s bytes', (given, expected) => {
    expect(maxMemoryOf(given === undefined ? {} : { maxMemory: given })).toBe(expected);
  });

  it.each(['0', '63MB', 'much', '-1GB', ''])('"%s" is refused', async (given) => {
    for (const line of [
      ['serve', `--max-memory=${given}`],
      ['run', `--max-memory=${given}`, '--', 'true'],
    ]) {
      const { status, err } = await runUscope(line);
      expect(err).toBe(
        `uscope: CLI_USAGE: "${given}" is not a bound of memory; write 512MB or 2GB, at least 64MB\n`,
      );
      expect(status).toBe(2);
    }
  });
});
