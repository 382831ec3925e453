/**
 * The tracks in a real browser, on a trace without cores that keeps a record of what it did (support/two-clocks.ts): numbers, marks and values must
 * be that record, in windows of every size, for clocks of different periods.
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limitOfFile, PROCESSES_MS } from '../../test/support/limits.js';
import { lacks } from '../../test/support/needs.js';
import type { TransactionAnswer } from '../src/model/transactions.js';
import {
  type Columns,
  MAX_MARKS,
  REPLAY_CYCLES,
  type WindowAnswer,
  type WindowArgs,
} from '../src/model/window.js';
import { settled, type } from './support/page-hook.js';
import { chooser, served } from './support/served.js';
import { FAST_PS, Id, SLOW_PS, type TwoClocks, twoClocks } from './support/two-clocks.js';
import { chromiumPath, openFirstAndAgain, startViewer, type Viewer } from './support/viewer.js';

// A browser is started.
limitOfFile(PROCESSES_MS);

const WINDOWS = Number(process.env.VIEWER_WINDOWS ?? 20);
/** Long enough for the index to answer. */
const CYCLES = REPLAY_CYCLES + 40_000;
const BUCKET = 256;

const choose = chooser(4711);

interface Hook {
  ask(kind: string, args: unknown): Promise<unknown>;
  askTransactions(args: object): Promise<unknown>;
  tracks(): WindowAnswer | null;
  layout(): { sizes: Record<string, number>; shown: Record<string, boolean> };
}

const ALL = {
  counters: [Id.PUSHES, Id.POPS],
  buffers: [Id.QUEUE],
  events: [Id.PUSH, Id.POP, Id.STAGE],
  values: [
    { storage: Id.STATE, slot: 0, field: 0 },
    { storage: Id.QUEUE, slot: 1, field: 0 },
  ],
};

/** Typed arrays as lists: they come out of the page. */
async function ask(page: Page, args: WindowArgs): Promise<WindowAnswer> {
  const text = await page.evaluate(async (one) => {
    const { ask: question } = (window as unknown as { __uscope: Hook }).__uscope;
    const lists = (_: string, value: unknown) =>
      ArrayBuffer.isView(value)
        ? Array.from(value as Float64Array, (x) => (Number.isNaN(x) ? 'NaN' : x))
        : value;
    return JSON.stringify(await question('window', one), lists);
  }, args);
  return JSON.parse(text, (_, value) => (value === 'NaN' ? Number.NaN : value)) as WindowAnswer;
}

let times: number[] | null = null;
function instantTimes({ instants }: TwoClocks): number[] {
  times ??= instants.map(({ timePs }) => timePs);
  return times;
}

/** What the record says of `[from, to)` in ps. */
function truth(model: TwoClocks, from: number, to: number) {
  const end = Math.min(to, model.endPs + FAST_PS);
  let [sum, min, max] = [0, Number.NaN, Number.NaN];
  let last = model.instants[0]!;
  // The instants that reach into it.
  let index = indexOf(instantTimes(model), from);
  if (index > 0 && model.instants[index]?.timePs !== from) index--;
  for (; index < model.instants.length && model.instants[index]!.timePs < end; index++) {
    const one = model.instants[index]!;
    const until = Math.min(end, model.instants[index + 1]?.timePs ?? end);
    const time = until - Math.max(from, one.timePs);
    if (time > 0) {
      sum += one.queued * time;
      if (!(min <= one.queued)) min = one.queued;
      if (!(max >= one.queued)) max = one.queued;
    }
    last = one;
  }
  return { mean: end > from ? sum / (end - from) : Number.NaN, min, max, last };
}

/** Events of a type in `[from, to)`. */
function countOf(model: TwoClocks, type: number, from: number, to: number): number {
  const times = timesOf(model, type);
  return indexOf(times, to) - indexOf(times, from);
}

const known = new Map<number, number[]>();
function timesOf({ events }: TwoClocks, type: number): number[] {
  const times = known.get(type) ?? events.filter((one) => one.type === type).map(({ timePs }) => timePs);
  known.set(type, times);
  return times;
}

/** First index whose time is not before `timePs`. */
function indexOf(times: readonly number[], timePs: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (times[middle]! < timePs) low = middle + 1;
    else high = middle;
  }
  return low;
}

const rounded = (value: number): number => Math.round(value * 1e6) / 1e6;

/** Compares columns of counters, occupancies and events with the record. @param period of a cycle of the axis */
function compare(model: TwoClocks, answer: WindowAnswer, period: number, stride = 1): void {
  const columnsOf = ({ from, step, length }: Columns) =>
    Array.from({ length: Math.ceil(length / stride) }, (_, index) => {
      const column = index * stride;
      return { column, begin: (from + column * step) * period, end: (from + (column + 1) * step) * period };
    });
  for (const counter of answer.counters) {
    const name = counter.id === Id.PUSHES ? 'pushes' : 'pops';
    const at = (timePs: number): number => truth(model, timePs - 1, timePs).last[name];
    const all = columnsOf(counter);
    expect(counter.start, name).toBe(counter.from === 0 ? 0 : at(counter.from * period));
    expect(
      all.map(({ column }) => counter.totals[column]),
      name,
    ).toEqual(all.map(({ end }) => at(end)));
  }
  for (const { mean, min, max, ...grid } of answer.buffers) {
    const all = columnsOf(grid);
    expect(all.map(({ column }) => [min[column], rounded(mean[column]!), max[column]])).toEqual(
      all.map(({ begin, end }) => {
        const expected = truth(model, begin, end);
        return [expected.min, rounded(expected.mean), expected.max];
      }),
    );
  }
  for (const { id, counts, ...grid } of answer.events) {
    const all = columnsOf(grid);
    expect(
      all.map(({ column }) => counts[column]),
      `event ${id}`,
    ).toEqual(all.map(({ begin, end }) => countOf(model, id, begin, end)));
  }
}

describe.skipIf(lacks('chromium', chromiumPath !== null))('tracks', () => {
  let model: TwoClocks;
  let viewer: Viewer;
  let page: Page;

  beforeAll(async () => {
    model = await twoClocks(choose, CYCLES);
    viewer = await startViewer(served(model.bytes, 'two-clocks.uscope'));
  });
  openFirstAndAgain(async () => {
    page = await viewer.open('', { layout: {} });
    await settled(page);
  });
  afterAll(async () => {
    await viewer?.close();
  });

  it('of a trace without cores are shown at once, without a pipeline', async () => {
    for (const name of ['Counters', 'Occupancy', 'Transactions', 'Events', 'Values'])
      await expect.poll(() => page.locator(`section.track[aria-label="${name}"]`).isVisible()).toBe(true);
    expect((await page.locator('main.picture').boundingBox())!.height).toBeLessThan(48);
    await expect.poll(() => page.locator('.message').count()).toBe(0);
  });

  it(`are what happened, cycle by cycle, in ${WINDOWS} windows`, async () => {
    for (let window = 0; window < WINDOWS; window++) {
      const from = choose(CYCLES - 300);
      const args = { ...ALL, from, to: from + 1 + choose(250), step: 1 };
      const answer = await ask(page, args);
      expect(answer.source).toBe('replay');
      compare(model, answer, FAST_PS);
      const marks = model.events.filter(
        ({ timePs }) => timePs >= args.from * FAST_PS && timePs < args.to * FAST_PS,
      );
      expect(answer.marks!.texts).toEqual(marks.map(({ text }) => text));
      expect([...answer.marks!.cycle]).toEqual(marks.map(({ timePs }) => Math.floor(timePs / FAST_PS)));
      const [mode] = answer.values;
      for (let cycle = args.from; cycle < args.to; cycle++) {
        const end = (cycle + 1) * FAST_PS;
        const known = [...mode!.cycle].filter((at) => at <= cycle).length - 1;
        expect(mode!.texts[known], `mode in cycle ${cycle}`).toBe(truth(model, end - 1, end).last.mode);
      }
    }
  });

  it('are exact sums where a column holds many cycles, from replay and from the index', async () => {
    const short = await ask(page, { ...ALL, from: 1000, to: 61_000, step: 37 });
    expect(short.source).toBe('replay');
    expect(short.marks).toBe(model.events.length > MAX_MARKS ? null : expect.anything());
    compare(model, short, FAST_PS, 41);
    const long = await ask(page, { ...ALL, from: 0, to: CYCLES, step: 100 });
    expect(long.source).toBe('index');
    expect(long.isExact).toBe(true);
    compare(model, long, FAST_PS, 29);
    const ofType = (type: number) => long.events.find(({ id }) => id === type)!;
    expect(ofType(Id.PUSH).step % BUCKET).toBe(0);
    // The other clock has buckets of its own cycles.
    expect(ofType(Id.POP).step % (BUCKET * (SLOW_PS / FAST_PS))).toBe(0);
    for (const type of ALL.events)
      expect(ofType(type).counts.reduce((sum, count) => sum + count, 0)).toBe(
        model.events.filter((one) => one.type === type).length,
      );
  });

  it('follow the transactions of a network', async () => {
    const from = 20_000;
    const to = 20_400;
    const answer = (await page.evaluate(
      async (args) => {
        const { askTransactions } = (window as unknown as { __uscope: Hook }).__uscope;
        const found = (await askTransactions(args)) as TransactionAnswer;
        const { birth, end, port, id, stageCycle, details } = found.list!;
        return {
          birth: [...birth],
          end: [...end],
          port: [...port],
          id: [...id],
          stageCycle: [...stageCycle],
          details,
        };
      },
      { from, to },
    )) as Record<'birth' | 'end' | 'port' | 'id' | 'stageCycle', number[]> & { details: string[][] };
    const expected = model.transactions
      .filter(({ birth, end }) => birth < to * FAST_PS && end >= from * FAST_PS)
      .sort((a, b) => a.birth - b.birth);
    expect(expected.length).toBeGreaterThan(10);
    expect(answer.birth).toEqual(expected.map(({ birth }) => birth / FAST_PS));
    expect(answer.end).toEqual(expected.map(({ end }) => end / FAST_PS));
    expect(answer.port).toEqual(expected.map(({ port }) => port));
    expect(answer.id).toEqual(expected.map(({ slot }) => slot));
    expect(answer.stageCycle).toEqual(
      expected.flatMap(({ birth, sent }) => [birth / FAST_PS, sent / FAST_PS]),
    );
    expect(answer.details[0]!.join('\n')).toContain('0x100');
  });

  it('count cycles of the clock that is chosen, or time', async () => {
    await page.selectOption('.top select', 'read_clk');
    await page.waitForFunction(() => (window as unknown as { __uscope: Hook }).__uscope.tracks() !== null);
    await settled(page);
    const slow = await ask(page, { ...ALL, from: 400, to: 600, step: 1 });
    compare(model, slow, SLOW_PS);
    await page.selectOption('.top select', 'time');
    await settled(page);
    const time = await ask(page, { ...ALL, from: 1_000_000, to: 1_200_000, step: 500 });
    compare(model, time, 1);
    await page.selectOption('.top select', 'write_clk');
    await settled(page);
  });

  it('show what is on the screen, at every zoom', async () => {
    for (const factor of [1, 1 / 64, 1 / 4096, 1 / 1e6, 16]) {
      await page.evaluate((one) => {
        const { run } = (window as unknown as { __uscope: { run(command: unknown): void } }).__uscope;
        run({ do: 'zoom', factor: one, at: null, axis: 'both' });
      }, factor);
      const { view } = await settled(page);
      await page.waitForFunction(({ x, scale }) => {
        const shown = (window as unknown as { __uscope: Hook }).__uscope.tracks();
        return (
          shown !== null &&
          shown.args.from <= Math.max(0, x) &&
          shown.args.step === Math.max(1, Math.floor(1 / scale))
        );
      }, view);
    }
    expect(viewer.complaints).toEqual([]);
  });

  describe('layout', () => {
    const splitter = (name: string) => page.getByRole('separator', { name });

    it('is changed with keys and with the pointer, and remembered', async () => {
      const events = page.locator('section.track[aria-label="Events"]');
      const before = (await events.boundingBox())!.height;
      await splitter('height of events').focus();
      for (let press = 0; press < 3; press++) await page.keyboard.press('ArrowUp');
      await expect.poll(async () => (await events.boundingBox())!.height).toBeGreaterThan(before);
      const size = await page.evaluate(
        () => (window as unknown as { __uscope: Hook }).__uscope.layout().sizes.events,
      );
      expect(Number(await splitter('height of events').getAttribute('aria-valuenow'))).toBe(size);

      await page.keyboard.press('Shift+V');
      await expect.poll(() => page.locator('section.track[aria-label="Values"]').count()).toBe(0);
      const stored = await page.evaluate(() => localStorage.getItem('uscope.view.layout'));
      const again = await viewer.open('', { layout: JSON.parse(stored!) as object });
      await settled(again);
      await expect.poll(() => again.locator('section.track[aria-label="Values"]').count()).toBe(0);
      const other = await again.locator('section.track[aria-label="Events"]').boundingBox();
      expect(other!.height).toBeCloseTo((await events.boundingBox())!.height, 0);
      await again.close();
      await page.keyboard.press('Shift+V');
    });

    it('does not jump while the pointer moves over lanes', async () => {
      const boxes = async () =>
        Promise.all((await page.locator('section.track').all()).map((one) => one.boundingBox()));
      const before = await boxes();
      for (const [x, y] of [
        [700, 200],
        [900, 400],
        [1100, 600],
      ] as const)
        await page.mouse.move(x, y);
      expect(await boxes()).toEqual(before);
    });

    it('lets lanes be chosen by name, with keys alone', async () => {
      const values = page.locator('section.track[aria-label="Values"]');
      await values.getByRole('button', { name: /of \d+/ }).focus();
      await page.keyboard.press('Enter');
      const filter = page.getByRole('searchbox', { name: 'filter values' });
      await filter.waitFor();
      await type(page, 'queue[5]');
      await page.keyboard.press('Tab');
      await page.keyboard.press('Space');
      await page.keyboard.press('Escape');
      await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
      const names = await values.getByRole('listitem').allTextContents();
      expect(names.some((text) => text.includes('queue[5]'))).toBe(true);
      await page.waitForFunction(
        (slot) =>
          (window as unknown as { __uscope: Hook }).__uscope
            .tracks()
            ?.values.some((one) => one.slot === slot),
        5,
      );
    });
  });
});
