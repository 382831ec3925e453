/**
 * Pictures of every form, compared pixel by pixel with those in `golden/`. `GOLDEN=write npx vitest run viewer/test/golden.test.ts` writes them
 * anew: look at each before it is checked in.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { runModel } from '../../test/support/pipeline-model.js';
import { decodePng, encodePng, type Picture } from '../../test/support/png.js';
import { Hits } from '../src/drawing/hits.js';
import { DEFAULT_ASPECT } from '../src/model/view.js';
import { type DrawnTrace, draw, drawnTrace, type Wanted } from './support/drawn.js';
import { chooser } from './support/served.js';

const GOLDEN = fileURLToPath(new URL('golden/', import.meta.url));
const CYCLES = 4000;
const AT_ROW = 600;

let trace: DrawnTrace;
let atCycle: number;
let squashed: number;

beforeAll(async () => {
  const model = runModel(chooser(4242), CYCLES);
  trace = await drawnTrace(model, 300);
  atCycle = model.instructions[AT_ROW]!.birth;
  squashed = model.instructions.findIndex(({ flush }, row) => flush !== null && row > AT_ROW);
});

/** @param scale pixels per cycle @param row height of a row */
const view = (scale: number, row: number, x = atCycle - 3) => ({ x, y: AT_ROW, scale, aspect: row / scale });

const PICTURES: Readonly<Record<string, () => Wanted>> = {
  classic: () => ({ view: view(12, 14), selected: AT_ROW + 3 }),
  'classic-light-class': () => ({ view: view(12, 14), settings: { theme: 'light', colour: 'class' } }),
  'classic-stall': () => ({ view: view(12, 14), settings: { colour: 'stall' } }),
  'classic-strong': () => ({ view: view(12, 14), settings: { palette: 'strong' } }),
  'classic-lightness': () => ({ view: view(12, 14), settings: { palette: 'lightness', theme: 'light' } }),
  'classic-boxes': () => ({ view: view(5, 4) }),
  'classic-ratio-2': () => ({ view: view(12, 14), width: 200, height: 140, ratio: 2 }),
  blank: () => ({ view: { ...view(12, 14), y: squashed - 6 }, settings: { squashed: 'blank' } }),
  collapse: () => ({ view: { ...view(12, 14), y: squashed - 6 }, settings: { squashed: 'collapse' } }),
  folded: () => ({ view: view(2, 2), hits: new Hits(Float64Array.of(AT_ROW + 20), Float64Array.of()) }),
  'folded-selected': () => ({ view: view(4, 2), selected: AT_ROW + 10 }),
  straight: () => ({ view: view(12, 10), settings: { form: 'straight' } }),
  'straight-latency': () => ({
    view: { ...view(6, 4), y: 0, x: -1 },
    settings: { form: 'straight', sort: 'latency' },
  }),
  'strip-blocks': () => ({ view: { x: 0, y: 0, scale: 0.2, aspect: DEFAULT_ASPECT } }),
  'strip-light': () => ({
    view: { x: -40, y: 0, scale: 0.088, aspect: DEFAULT_ASPECT },
    settings: { theme: 'light' },
    hits: new Hits(Float64Array.of(3), Float64Array.of(1000)),
  }),
};

/** The first pixel that differs; null: none. */
function difference(a: Picture, b: Picture): string | null {
  if (a.width !== b.width || a.height !== b.height)
    return `${a.width} x ${a.height}, not ${b.width} x ${b.height}`;
  const at = a.data.findIndex((byte, index) => byte !== b.data[index]);
  if (at < 0) return null;
  const pixel = at >> 2;
  return `pixel ${pixel % a.width}, ${Math.floor(pixel / a.width)}: ${a.data.subarray(pixel * 4, pixel * 4 + 4)}, not ${b.data.subarray(pixel * 4, pixel * 4 + 4)}`;
}

describe('the picture', () => {
  it.each(Object.keys(PICTURES))('%s is as it was', async (name) => {
    const drawn = await draw(trace, PICTURES[name]!());
    const path = `${GOLDEN}${name}.png`;
    if (process.env.GOLDEN === 'write') writeFileSync(path, encodePng(drawn));
    expect(existsSync(path), `${path} is missing`).toBe(true);
    expect(difference(drawn, decodePng(readFileSync(path)))).toBeNull();
  });

  it('shows something in every form: no picture is one colour', async () => {
    for (const wanted of Object.values(PICTURES)) {
      const { data } = await draw(trace, wanted());
      expect(new Set(new Uint32Array(data.buffer)).size).toBeGreaterThan(5);
    }
  });
});
