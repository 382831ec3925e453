/** Every conversion says how far it is, and ends soon when it is interrupted: with the signal's reason, and with nothing left behind. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { TRIES_ALL } from '../../../test/support/effort.js';
import { MANY_CASES_MS } from '../../../test/support/limits.js';
import { PLAIN_FILES, PLAIN_MAP } from '../../../test/support/plain-files.js';
import { openSource } from '../reader/node.js';
import { convert } from './convert.js';
import { formatForName, sniffFormat, USCOPE } from './sniff.js';

const PERIOD_PS = 1000;
/** Steps of each file: a second of work on a slow machine, so that a timer comes in the middle. */
const FACTOR = TRIES_ALL ? 3 : 1;
const STEPS: Readonly<Record<string, number>> = {
  ...{ konata: 20_000, gem5: 10_000, ftr: 20_000, ctrace: 30_000, flux: 30_000, vcd: 20_000 },
  ...{ spike: 20_000, qemu: 2000, stf: 200_000 },
};
/** Small segments: progress is told by segment. */
const CHECKPOINT_PS = BigInt(500 * PERIOD_PS * FACTOR);
const LOOK_EACH = 4;

let directory = '';
const path = (name: string): string => join(directory, name);
const output = (extension: string): string => join(directory, 'out', `output${extension}`);

interface Run {
  readonly input: string;
  readonly extension: string;
  readonly options?: Record<string, string> | undefined;
  readonly signal?: AbortSignal;
  readonly onProgress?: (part: number) => void;
}

async function run({ input, extension, options = {}, ...rest }: Run): Promise<void> {
  const source = await openSource(input);
  try {
    const from = (await sniffFormat(source)) ?? USCOPE;
    const { format: to } = await formatForName(`x${extension}`);
    await convert({
      ...{ input, source, from, to, output: output(extension), extension, force: true, ...rest },
      options: new Map(Object.entries(options)),
      target: { checkpointIntervalPs: CHECKPOINT_PS },
    });
  } finally {
    await source.close?.();
  }
}

/** Files that the conversion has left. */
const left = (): string[] => readdirSync(path('out'));

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-interrupt-'));
  mkdirSync(path('out'));
  writeFileSync(path('map.yaml'), PLAIN_MAP);
  for (const [name, make] of Object.entries(PLAIN_FILES))
    writeFileSync(path(name), await make(STEPS[name]! * FACTOR, PERIOD_PS));
  const made = async (input: string, to: string, options?: Record<string, string>): Promise<void> => {
    await run({ input: path(input), extension: '.uscope', options });
    writeFileSync(path(to), readFileSync(output('.uscope')));
    rmSync(output('.uscope'));
  };
  await made('konata', 'core.uscope');
  await made('ftr', 'bus.uscope');
  await made('spike', 'retired.uscope');
}, MANY_CASES_MS);
afterEach(() => {
  for (const name of left()) rmSync(path(join('out', name)));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const CONVERSIONS: readonly (readonly [name: string, input: string, extension: string])[] = [
  ...Object.keys(PLAIN_FILES).map((name) => [`${name} in`, name, '.uscope'] as const),
  ['Kanata out', 'core.uscope', '.kanata'],
  ['Kanata out, packed', 'core.uscope', '.kanata.gz'],
  ['VCD out', 'core.uscope', '.vcd'],
  ['Perfetto out', 'core.uscope', '.pftrace'],
  ['FTR out, of a core', 'core.uscope', '.ftr'],
  ['FTR out, of transactions', 'bus.uscope', '.ftr'],
  ['flux out', 'core.uscope', '.flux'],
  ['ctrace out', 'core.uscope', '.ctrace'],
  ['STF out', 'retired.uscope', '.stf'],
  ['Kanata to VCD', 'konata', '.vcd'],
];

describe.each(CONVERSIONS)('%s', (_, name, extension) => {
  const conversion = () => ({
    input: path(name),
    extension,
    ...(name === 'vcd' ? { options: { map: path('map.yaml') } } : {}),
  });

  it('tells its progress, up to the end', async () => {
    const parts: number[] = [];
    await run({ ...conversion(), onProgress: (part) => parts.push(part) });
    expect(parts.length).toBeGreaterThanOrEqual(LOOK_EACH);
    expect(parts.every((part, index) => part >= (parts[index - 1] ?? 0) && part <= 1)).toBe(true);
    expect(parts.at(-1)).toBeGreaterThan(0.9);
    // No step says more than half of the work.
    expect(Math.max(...parts.map((part, index) => part - (parts[index - 1] ?? 0)))).toBeLessThan(0.51);
  });

  it('ends at the next look when its signal is raised', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    let count = 0;
    let raisedAt = 0;
    const onProgress = (): void => {
      if (++count !== 2) return;
      raisedAt = count;
      controller.abort(reason);
    };
    await expect(run({ ...conversion(), signal: controller.signal, onProgress })).rejects.toBe(reason);
    expect(raisedAt).toBe(2);
    expect(count - raisedAt).toBeLessThanOrEqual(LOOK_EACH);
    expect(left()).toEqual([]);
  });

  it('lets the event loop turn, in which a signal is raised', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const timer = setTimeout(() => controller.abort(reason), 1);
    await expect(run({ ...conversion(), signal: controller.signal })).rejects.toBe(reason);
    clearTimeout(timer);
    expect(left()).toEqual([]);
  });
});
