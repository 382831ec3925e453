/** The traces of one run on one time axis, in a real browser: clocks of different periods, the network between, a request followed to memory and back. */
import type { Page, Frame as PageFrame } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ViewServer } from '../../sdk/src/cli/view/server/server.js';
import { serveTogether } from '../../sdk/src/cli/view/server/several-server.js';
import type { DutProperties, Frame, Item, Schema } from '../../sdk/src/format/types.js';
import { parseSchema } from '../../sdk/src/schema/index.js';
import { clear, frame, set, TraceBuilder } from '../../test/support/build-trace.js';
import { type Browser, startChromium } from '../../test/support/chromium.js';
import { openView } from '../../test/support/enter-view.mjs';
import { limitOfFile, PROCESSES_MS } from '../../test/support/limits.js';
import { lacks } from '../../test/support/needs.js';
import { event, u32 } from '../../test/support/pipeline-model.js';
import type { Step } from '../src/together/journey.js';
import { served } from './support/served.js';
import { chromiumPath, needBuiltPage, openFirstAndAgain } from './support/viewer.js';

limitOfFile(PROCESSES_MS);

interface ParsedSchema {
  readonly schema: Schema;
  readonly dut: DutProperties;
}

const FAST_PS = 1000;
const SLOW_PS = 2500;
const CYCLES = 2000;

const coreSchema = (periodPs: number): ParsedSchema =>
  parseSchema(`
uscope: 1
dut: {cpu.isa: RV32I, cpu.pipeline_stages: "fetch,execute,memory"}
clocks: {clk: ${periodPs} ps}
enums: {pipeline_stage: [fetch, execute, memory]}
scopes:
  core:
    protocol: cpu
    clock: clk
    storages:
      entities: {slots: 8, kind: sparse, fields: {entity_id: u32, pc: u64, inst_bits: u32}}
    events:
      stage_transition: {entity_id: u32, stage: pipeline_stage}
`);

const NETWORK = parseSchema(`
uscope: 1
dut: {noc.pipeline_stages: "request,wait", noc/memory/noc.pipeline_stages: "access"}
clocks: {clk: ${FAST_PS} ps}
enums: {opcode: [read_line], noc_stage: [request, wait], memory_stage: [access]}
scopes:
  noc:
    protocol: noc
    clock: clk
    storages:
      transactions: {slots: 8, kind: sparse, fields: {txn_id: u32, opcode: opcode, addr: u64, len: u16, size: u8, src_port: u16, dst_port: u16}}
    events:
      stage_transition: {txn_id: u32, stage: noc_stage}
      txn_handoff: {from_id: u32, to_id: u32}
    scopes:
      memory:
        protocol: noc.router
        storages:
          transactions: {slots: 4, kind: sparse, fields: {txn_id: u32, opcode: opcode, addr: u64, len: u16, size: u8, src_port: u16, dst_port: u16}}
        events:
          stage_transition: {txn_id: u32, stage: memory_stage}
`);

/** What happens, by time. */
class Timeline {
  private readonly items = new Map<number, Item[]>();

  at(ps: number, ...items: Item[]): void {
    this.items.set(ps, [...(this.items.get(ps) ?? []), ...items]);
  }

  trace({ schema, dut }: ParsedSchema, endPs: number): Uint8Array {
    const frames: Frame[] = [...this.items]
      .sort(([x], [y]) => x - y)
      .map(([ps, items]) => frame(ps, ...items));
    const builder = new TraceBuilder({ schema, dut });
    const half = frames.length >>> 1;
    builder.segment({ frames: frames.slice(0, half), end: frames[half]!.timePs, strings: [] });
    builder.segment({ frames: frames.slice(half), end: BigInt(endPs), strings: [] });
    return builder.finalize().bytes;
  }
}

const LOAD = 0x0000_2503;
/** Each fourth instruction is a load that waits this many cycles for memory; the others take a cycle in each stage. */
const WAIT = 20;

/** @returns the trace, and for each load when it waits, in ps */
function core(periodPs: number): {
  bytes: Uint8Array;
  loads: { row: number; fromPs: number; toPs: number }[];
} {
  const timeline = new Timeline();
  const loads: { row: number; fromPs: number; toPs: number }[] = [];
  let cycle = 10;
  for (let row = 0; cycle + WAIT + 10 < CYCLES; row++) {
    const [slot, id] = [row % 8, row % 8];
    const isLoad = row % 4 === 3;
    const at = (offset: number, ...items: Item[]): void => timeline.at((cycle + offset) * periodPs, ...items);
    at(
      0,
      set(0, slot, 0, id),
      set(0, slot, 1, 0x8000_0000 + row * 4),
      set(0, slot, 2, isLoad ? LOAD : 0x33),
      event(0, ...u32(id), 0),
    );
    at(1, event(0, ...u32(id), 1));
    at(2, event(0, ...u32(id), 2));
    const end = isLoad ? 2 + WAIT : 3;
    at(end, clear(0, slot));
    if (isLoad) loads.push({ row, fromPs: (cycle + 2) * periodPs, toPs: (cycle + end) * periodPs });
    cycle += end + 1;
  }
  return { bytes: timeline.trace(coreSchema(periodPs), CYCLES * periodPs), loads };
}

const FAST = core(FAST_PS);
const SLOW = core(SLOW_PS);

/** A request for each load of both cores: memory works on it in its middle. */
function network(): Uint8Array {
  const timeline = new Timeline();
  let id = 0;
  for (const [port, { loads }] of [FAST, SLOW].entries())
    for (const { fromPs, toPs } of loads) {
      const [start, end] = [fromPs + 1000, toPs - 1000];
      const [slot, inner] = [port * 4 + (id % 4), id % 4];
      const access = [start + 4000, end - 4000] as const;
      const fields = (storage: number, at: number): Item[] => [
        set(storage, at, 0, id % 64),
        set(storage, at, 1, 0),
        set(storage, at, 2, 0x9000 + id),
        set(storage, at, 5, port),
      ];
      timeline.at(start, ...fields(0, slot), event(0, ...u32(id % 64), 0));
      timeline.at(
        access[0],
        ...fields(1, inner),
        event(2, ...u32(id % 64), 0),
        event(1, ...u32(id % 64), ...u32(id % 64)),
      );
      timeline.at(access[1], clear(1, inner));
      timeline.at(end, clear(0, slot));
      id++;
    }
  return timeline.trace(NETWORK, CYCLES * SLOW_PS);
}

interface Together {
  readonly __together: {
    lanes(): { name: string; kind: string; port: number }[];
    infos(): string[];
    time(): { fromPs: number; scale: number } | null;
    journey(): { steps: Step[]; at: number } | null;
    notice(): string;
  };
}

describe.skipIf(lacks('Chromium', chromiumPath))('the page of several traces', () => {
  let browser: Browser;
  let server: ViewServer;
  let page: Page;
  const complaints: string[] = [];
  beforeAll(async () => {
    needBuiltPage();
    browser = await startChromium();
    server = await serveTogether([
      served(FAST.bytes, 'core0.uscope'),
      served(SLOW.bytes, 'core1.uscope'),
      served(network(), 'noc.uscope'),
    ]);
  });
  openFirstAndAgain(async () => {
    page = await browser.newPage({ viewport: { width: 1400, height: 900 }, colorScheme: 'dark' });
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    await openView(page, server.invite());
    await page.waitForFunction(() => (window as unknown as Together).__together?.infos().length === 3);
    await page.waitForFunction(() => {
      const frames = [...document.querySelectorAll('iframe')];
      return frames.length === 3 && frames.every((one) => one.contentWindow?.__uscope?.state()?.isSharp);
    });
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  const laneOf = async (name: string): Promise<PageFrame> =>
    (await (await page.locator(`iframe[title="${name}"]`).elementHandle())!.contentFrame())!;
  const followed = (at: number) =>
    page.waitForFunction((step) => (window as unknown as Together).__together.journey()?.at === step, at);

  it('has a lane for each core and one for the network', async () => {
    const lanes = await page.evaluate(() => (window as unknown as Together).__together.lanes());
    expect(lanes.map(({ name, kind, port }) => ({ name, kind, port }))).toEqual([
      { name: 'core0', kind: 'core', port: 0 },
      { name: 'core1', kind: 'core', port: 1 },
      { name: 'network', kind: 'network', port: -1 },
    ]);
  });

  it('shows the same time in all of them, though their clocks differ', async () => {
    await page.getByRole('button', { name: 'core1' }).click();
    const slow = await laneOf('core1');
    await slow.waitForFunction(() => window.__uscope?.settings().form === 'auto');
    await slow.locator('canvas.rows').click({ position: { x: 600, y: 200 } });
    await slow.evaluate(() =>
      window.__uscope.run({ do: 'view', view: { x: 700, y: 0, scale: 20, aspect: 1 }, selected: null }),
    );
    // As it is drawn then: the command is carried out by another thread.
    await slow.waitForFunction(() => window.__uscope?.state()?.view.scale === 20);
    await page.waitForFunction(
      ([fast, slow]) => {
        const views = [...document.querySelectorAll('iframe')].map(
          (one) => one.contentWindow!.__uscope.state()!.view,
        );
        const [a, b, c] = views;
        const time = (window as unknown as Together).__together.time();
        const near = (x: number, y: number) => Math.abs(x - y) < 1e-3 * Math.abs(y);
        return (
          [a!, c!].every(
            (one) => near(one.x * fast!, b!.x * slow!) && near(one.scale / fast!, b!.scale / slow!),
          ) &&
          time !== null &&
          near(time.fromPs, b!.x * slow!) &&
          near(time.scale, b!.scale / slow!)
        );
      },
      [FAST_PS, SLOW_PS],
    );
  });

  it('shows the whole run of the longest of them in all of them', async () => {
    for (const name of ['core0', 'core1']) {
      const lane = await laneOf(name);
      await lane.locator('canvas.rows').click({ position: { x: 600, y: 20 } });
      await lane.evaluate(() => window.__uscope.run({ do: 'fit' }));
      await page.waitForFunction(
        ([fast, slow]) => {
          const [a, b, c] = [...document.querySelectorAll('iframe')].map((one) => {
            const { state, info } = one.contentWindow!.__uscope;
            return { ...state()!.view, cycles: info()!.segmentCycles.at(-1)! };
          });
          const near = (x: number, y: number) => Math.abs(x - y) < 1e-6 * Math.max(1, Math.abs(y));
          const isSame = [a!, c!].every(
            (one) => near(one.scale / fast!, b!.scale / slow!) && near(one.x * fast!, b!.x * slow!),
          );
          // The slow clock's run takes longer: its picture is filled.
          const share = (b!.cycles * b!.scale) / (innerWidth - 230);
          return isSame && share > 0.9 && share < 1;
        },
        [FAST_PS, SLOW_PS],
      );
    }
  });

  it('follows the request of a load through the network to memory and back, a key for each step', async () => {
    const { row, fromPs, toPs } = SLOW.loads[30]!;
    const slow = await laneOf('core1');
    await slow.locator('canvas.rows').click({ position: { x: 600, y: 20 } });
    await slow.evaluate((wanted) => window.__uscope.run({ do: 'goRow', row: wanted }), row);
    await slow.waitForFunction(() => window.__uscope?.state()?.isSharp);
    await slow.evaluate((wanted) => window.__uscope.run({ do: 'select', row: wanted }), row);
    await slow.waitForFunction((wanted) => window.__uscope?.state()?.selectedRow === wanted, row);
    // What is known of it is loaded.
    await slow.waitForFunction((wanted) => window.__uscope.describe(wanted), row);
    await page.keyboard.press('F8');
    await followed(0);
    const { steps } = await page.evaluate(() => (window as unknown as Together).__together.journey()!);
    const start = fromPs + 1000;
    expect(steps.map(({ place, fromPs: from, toPs: to }) => ({ place, from, to }))).toEqual([
      { place: 'core', from: fromPs, to: toPs },
      { place: 'network', from: start, to: toPs - 1000 },
      { place: 'network', from: start + 4000, to: toPs - 5000 },
      { place: 'network', from: toPs - 5000, to: toPs - 1000 },
      { place: 'core', from: toPs, to: toPs + SLOW_PS },
    ]);
    expect(steps[0]!.what).toMatch(/^core1: lw a0,0\(zero\)$/);
    expect(steps[1]!.what).toMatch(/^noc port 1: read_line 0x9/);
    expect(steps[2]!.what).toMatch(/^noc\/memory: read_line 0x9/);
    await page.keyboard.press('F8');
    await followed(1);
    await page.keyboard.press('F8');
    await followed(2);
    await page.keyboard.press('Shift+F8');
    await followed(1);
    await expect.poll(() => page.getByRole('status').textContent()).toContain('2 of 5: noc port 1');
    await page.locator('.band div').waitFor();
  });

  it('says why there is nothing to follow', async () => {
    await page.reload();
    await page.waitForFunction(() => (window as unknown as Together).__together?.infos().length === 3);
    await page.getByRole('button', { name: 'follow the request' }).click();
    await expect
      .poll(() => page.getByRole('status').textContent())
      .toContain('select an instruction of a core first');
    expect(complaints).toEqual([]);
  });
});
