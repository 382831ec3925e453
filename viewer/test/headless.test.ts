/** `uscope view --png`: the drawing code of the page in Node. What is seen must be what the made-up pipeline did. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createCanvas, loadImage } from '@napi-rs/canvas';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { elfFile } from '../../test/support/elf-file.js';
import { limitOfFile, PROCESSES_MS } from '../../test/support/limits.js';
import { type ModelInstruction, runModel, STAGES } from '../../test/support/pipeline-model.js';
import { AXIS_HEIGHT, DEFAULT_SETTINGS } from '../src/drawing/settings.js';
import { trackHeights } from '../src/headless/heights.js';
import { fillOf, THEMES } from '../src/model/palette.js';
import { MIN_TRACK, usualSize } from '../src/model/panels.js';
import { chooser, traceOf } from './support/served.js';
import { twoClocks } from './support/two-clocks.js';
import { needBuiltPage } from './support/viewer.js';

limitOfFile(PROCESSES_MS);

const COMMAND = fileURLToPath(new URL('../../sdk/bin/uscope.js', import.meta.url));
const FROM = 1000;
const TO = 1024;
const SIZE = { width: 900, height: 700 };
const OVERVIEW = usualSize('overview', SIZE.height);
const GUTTER = DEFAULT_SETTINGS.gutter;
const LIGHT = THEMES.light;
const SCALE = (SIZE.width - GUTTER) / (TO - FROM);

/** As if the package of the canvas were not installed. */
const WITHOUT_CANVAS = `data:text/javascript,${encodeURIComponent(`
import { register } from 'node:module';
register('data:text/javascript,' + encodeURIComponent(\`
  export async function resolve(name, context, next) {
    if (name !== '@napi-rs/canvas') return next(name, context);
    const message = "Cannot find package '@napi-rs/canvas' imported from " + context.parentURL;
    throw Object.assign(new Error(message), { code: 'ERR_MODULE_NOT_FOUND' });
  }
\`));
`)}`;

const model = runModel(chooser(77), 2400);
let directory: string;
let file: string;

beforeAll(async () => {
  needBuiltPage();
  directory = await mkdtemp(join(tmpdir(), 'uscope-headless-'));
  file = join(directory, 'model.uscope');
  await writeFile(file, traceOf(model));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const at = (name: string): string => join(directory, name);

/** The command where no program is found by its name. */
function take(args: readonly string[], { node = [] as string[], env = {} as NodeJS.ProcessEnv } = {}) {
  const all = [...node, COMMAND, 'view', '--no-cache', ...args];
  const options = { timeout: 100_000, env: { PATH: directory, HOME: directory, ...env } };
  return new Promise<{ status: unknown; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, all, options, (error, stdout, stderr) =>
      resolve({ status: error ? error.code : 0, stdout, stderr }),
    );
  });
}

const inSize = ['--size', `${SIZE.width}x${SIZE.height}`];
const inCycles = ['--cycles', `${FROM}:${TO}`];

async function drawn(out: string, ...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await take(['--force', '--png', at(out), ...inSize, ...args]);
  expect([status, stdout, stderr]).toEqual([0, `${at(out)}\n`, '']);
  return at(out);
}

interface Pixels {
  readonly width: number;
  readonly height: number;
  /** `#rrggbb` */
  of(x: number, y: number): string;
}

async function pixelsOf(path: string): Promise<Pixels> {
  const image = await loadImage(path);
  const { width, height } = image;
  const context = createCanvas(width, height).getContext('2d');
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const hex = (value: number): string => value.toString(16).padStart(2, '0');
  const of = (x: number, y: number): string => {
    const begin = (y * width + x) * 4;
    return `#${hex(data[begin]!)}${hex(data[begin + 1]!)}${hex(data[begin + 2]!)}`;
  };
  return { width, height, of };
}

interface Area {
  readonly x0: number;
  readonly y0: number;
  readonly x1: number;
  readonly y1: number;
}

/** Share of pixels of an area for which something is true. */
function share({ x0, y0, x1, y1 }: Area, isSo: (x: number, y: number) => boolean): number {
  let [count, all] = [0, 0];
  for (let y = Math.ceil(y0); y < y1; y++) {
    for (let x = Math.ceil(x0); x < x1; x++) {
      all++;
      if (isSo(x, y)) count++;
    }
  }
  return count / all;
}

/** Where the labels of instructions are in an SVG: middle of the row by address, from the top of the picture. */
function rowsOf(svg: string): Map<string, number> {
  const top = Number(/<g transform="translate\(0 (\d+)\)">/.exec(svg)![1]);
  return new Map(
    [...svg.matchAll(/<text x="[\d.]+" y="([\d.]+)"[^>]*>([0-9a-f]{8})<\/text>/g)].map(
      ([, y, pc]) => [pc!, top + Number(y) - 4] as const,
    ),
  );
}

/** All of an SVG. */
const textsOf = (svg: string): string[] =>
  [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text]) => text!);

const pcOf = ({ pc }: ModelInstruction): string => pc.toString(16).padStart(8, '0');

/** Drawn once, at the same time. */
let pictures: Promise<{ readonly cycles: Pixels; readonly svg: string; readonly run: Pixels }>;
beforeAll(() => {
  const draw = async () => {
    const [cycles, svg, run] = await Promise.all([
      drawn('cycles.png', ...inCycles, file).then(pixelsOf),
      drawn('cycles.svg', ...inCycles, file).then((path) => readFile(path, 'utf8')),
      drawn('run.png', '--theme', 'dark', file).then(pixelsOf),
    ]);
    return { cycles, svg, run };
  };
  pictures = draw();
});

describe('a picture', () => {
  it('shows the stages of the instructions, each in its cycles', async () => {
    const { cycles: picture, svg } = await pictures;
    expect([picture.width, picture.height]).toEqual([SIZE.width, SIZE.height]);
    const rows = rowsOf(svg);
    const once = model.instructions.filter(
      ({ birth, end, flush }) => birth >= FROM && end !== null && end <= TO && flush === null,
    );
    let seen = 0;
    for (const instruction of once) {
      const middle = rows.get(pcOf(instruction));
      const repeats = model.instructions.filter(
        (one) => one.pc === instruction.pc && (one.end ?? TO) >= FROM - 200 && one.birth <= TO + 200,
      );
      // The address must mean one row only.
      if (middle === undefined || repeats.length > 1) continue;
      instruction.stages.forEach(({ name, cycle }, index) => {
        const end = instruction.stages[index + 1]?.cycle ?? instruction.end!;
        if (end <= cycle) return;
        const [x0, x1] = [cycle, end].map((one) => GUTTER + (one - FROM) * SCALE) as [number, number];
        const box = { x0: x0 + 2, x1: x1 - 2, y0: middle - 4, y1: middle + 4 };
        const colour = fillOf(LIGHT, STAGES.indexOf(name));
        // The rest is the letter in it.
        expect(
          share(box, (x, y) => picture.of(x, y) === colour),
          `${name} of ${pcOf(instruction)}`,
        ).toBeGreaterThan(0.4);
        seen++;
      });
    }
    expect(seen).toBeGreaterThan(20);
  });

  it('has its text: numbers, addresses and cycles, as pixels and as an SVG', async () => {
    const { cycles: picture, svg } = await pictures;
    const rows = rowsOf(svg);
    const shown = model.instructions.filter(({ birth }) => birth >= FROM + 2 && birth < FROM + 8);
    expect(shown.length).toBeGreaterThan(3);
    for (const one of shown) expect(rows.has(pcOf(one)), pcOf(one)).toBe(true);
    const texts = textsOf(svg);
    expect(texts).toEqual(
      expect.arrayContaining(['1,010', '505.0 ns', 'Counters', 'committed_insns', 'Occupancy', 'entities']),
    );
    const isText = (x: number, y: number): boolean => picture.of(x, y) !== LIGHT.gutter;
    // The last row may be cut.
    const last = Math.max(...rows.values());
    for (const middle of rows.values()) {
      if (middle === last) continue;
      const label = { x0: 60, x1: 140, y0: middle - 5, y1: middle + 5 };
      expect(share(label, isText)).toBeGreaterThan(0.1);
      // Left of the number is nothing.
      expect(share({ ...label, x0: 0, x1: 10 }, isText)).toBe(0);
    }
  });

  it('is the whole run without --cycles, in the colours of the theme', async () => {
    const { run: picture } = await pictures;
    const { dark } = THEMES;
    expect(picture.of(2, OVERVIEW + AXIS_HEIGHT + 3)).toBe(dark.gutter);
    // Retired instructions, in the lane of sums.
    const lane = { x0: GUTTER + 20, x1: SIZE.width - 20, y0: OVERVIEW + AXIS_HEIGHT, y1: OVERVIEW + 200 };
    expect(share(lane, (x, y) => picture.of(x, y) === dark.ipc)).toBeGreaterThan(0.1);
  });

  it('names functions beside instructions', async () => {
    const elf = at('program.elf');
    await writeFile(elf, elfFile([{ name: 'all_of_it', from: 0x8000_0000, size: 0x10_0000 }]));
    const svg = await readFile(await drawn('program.svg', ...inCycles, '--elf', elf, file), 'utf8');
    expect(textsOf(svg).filter((text) => text === 'all_of_it').length).toBeGreaterThan(10);
  });

  it('has lanes of events, buffers, values and transactions where there is no core', async () => {
    const queue = at('queue.uscope');
    await writeFile(queue, (await twoClocks(chooser(5), 3000)).bytes);
    const args = ['--cycles', '100:160', '--size', '900x900'];
    const both = await Promise.all(
      ['queue.svg', 'queue.png'].map((name) => take(['--force', '--png', at(name), ...args, queue])),
    );
    for (const { status, stderr } of both) expect([status, stderr]).toEqual([0, '']);
    const texts = textsOf(await readFile(at('queue.svg'), 'utf8'));
    expect(texts).toEqual(
      expect.arrayContaining([
        'Counters',
        'Occupancy',
        'Transactions',
        'Events',
        'Values',
        'writer/queue',
        'reader/pop',
        'sent',
      ]),
    );
    const picture = await pixelsOf(at('queue.png'));
    const plot = { x0: GUTTER, x1: 900, y0: 100, y1: 900 };
    // Stages of transactions, and the first type of event.
    expect(share(plot, (x, y) => picture.of(x, y) === fillOf(LIGHT, 1))).toBeGreaterThan(0.01);
  });

  it('converts what is not a trace of ours first', async () => {
    const log = at('log.kanata');
    const lines = ['Kanata\t0004', 'C=\t100', 'I\t0\t0\t0', 'L\t0\t0\t00001000: addi a0,a0,1', 'S\t0\t0\tF'];
    await writeFile(log, [...lines, 'C\t2', 'S\t0\t0\tD', 'C\t2', 'E\t0\t0\tD', 'R\t0\t0\t0', ''].join('\n'));
    const { status } = await take(['--force', '--png', at('log.svg'), ...inSize, '--cycles', '0:8', log]);
    expect(status).toBe(0);
    expect(textsOf(await readFile(at('log.svg'), 'utf8'))).toContain('addi a0,a0,1');
  });

  it('is made of what can be read of a damaged trace, and says what is missing', async () => {
    const damaged = at('damaged.uscope');
    const bytes = traceOf(model);
    bytes.fill(0xa5, bytes.length >> 1, (bytes.length >> 1) + 40);
    await writeFile(damaged, bytes);
    const { status, stderr } = await take(['--force', '--png', at('damaged.png'), ...inSize, damaged]);
    expect(status).toBe(0);
    expect(stderr).toMatch(/^uscope: warning: FORMAT_[A-Z]+: /);
    expect((await pixelsOf(at('damaged.png'))).width).toBe(SIZE.width);
  });

  it('says what to do where it cannot be drawn', async () => {
    const without = { node: ['--import', WITHOUT_CANVAS] };
    const empty = fileURLToPath(
      new URL('../../test/compatibility/0.1.0/traces/empty.uscope', import.meta.url),
    );
    const cases = [
      [/ENV_MISSING: .*npm install @napi-rs\/canvas@1/, ['--png', at('a.png'), file], without],
      [/VIEW_PICTURE: VIEW_EMPTY: /, ['--png', at('d.png'), empty]],
      [/WRITER_DIRECTORY: /, ['--png', at('none/x.png'), file]],
      [/WRITER_EXISTS: this is an input/, ['--png', file, file]],
      [/READER_NAME.*near it: core0/, ['--png', at('e.png'), '--core', 'core7', file]],
    ] as const;
    const found = await Promise.all(cases.map(([, args, options]) => take(args, options)));
    cases.forEach(([message], index) => {
      const { status, stderr } = found[index]!;
      expect([status, stderr]).toEqual([
        String(message).includes('READER_NAME') ? 2 : 1,
        expect.stringMatching(message),
      ]);
    });
    // Nothing is left of what was not drawn.
    expect((await readdir(directory)).filter((name) => /^[a-e]\.png|tmp$/.test(name))).toEqual([]);
  });
});

describe('heights of tracks', () => {
  it('are those wanted where there is room, and shrink in proportion where there is none', () => {
    expect(trackHeights([96, 84], 300, false)).toEqual([96, 84]);
    expect(trackHeights([96, 84], 90, false)).toEqual([48, 42]);
    // The smaller one may not be lower.
    expect(trackHeights([200, 60], 120, false)).toEqual([120 - MIN_TRACK, MIN_TRACK]);
    expect(trackHeights([200, 60], 10, false)).toEqual([MIN_TRACK, MIN_TRACK]);
  });

  it('fill the room where there is no pipeline', () => {
    expect(trackHeights([100, 50], 600, true)).toEqual([400, 200]);
    expect(trackHeights([], 600, true)).toEqual([]);
  });
});
