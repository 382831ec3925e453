/** What the page offers to tests as `window.__uscope` (viewer/src/page/main.tsx). */
import type { Page } from 'playwright-core';
import type { TraceInfo } from '../../src/data/protocol.js';
import type { SceneState } from '../../src/drawing/protocol.js';
import type { Settings } from '../../src/drawing/settings.js';
import type { Command } from '../../src/model/commands.js';
import type { RowDetails } from '../../src/model/row.js';

export interface PageHook {
  state(): SceneState | null;
  info(): TraceInfo | null;
  settings(): Settings;
  problems(): { code: string; what: string; advice: string }[];
  link(): string;
  run(command: Command): void;
  describe(row: number): Promise<RowDetails | null>;
}

declare global {
  interface Window {
    readonly __uscope: PageHook;
  }
}

export const stateOf = (page: Page): Promise<SceneState> =>
  page.evaluate(() => window.__uscope.state()) as Promise<SceneState>;

/** Waits until nothing changes any more and all of it is drawn. */
export async function settled(page: Page): Promise<SceneState> {
  for (let before = -1; ; ) {
    await page.waitForFunction(() => window.__uscope?.state()?.isCounted && window.__uscope.state()?.isSharp);
    await page.waitForTimeout(60);
    const state = await stateOf(page);
    if (state.frame === before) return state;
    before = state.frame;
  }
}

/** Waits for the picture that the action leads to. */
async function after(page: Page, act: () => Promise<unknown>): Promise<SceneState> {
  const before = await stateOf(page);
  await act();
  await page.waitForFunction((frame) => (window.__uscope.state()?.frame ?? 0) > frame, before.frame);
  return settled(page);
}

/**
 * A click into a list that is made anew every second. Waiting until the element stays the same, as a click otherwise does, takes minutes on a busy
 * machine; a person clicks on its place.
 */
export async function clickInList(list: Page, selector: string): Promise<void> {
  await list.waitForSelector(selector);
  await list.click(selector, { force: true });
}

/** Into the field that gets the focus: that may take a frame, or until a panel is loaded, and keys before it are commands. */
export async function type(page: Page, text: string): Promise<void> {
  await page.waitForFunction(() => document.activeElement?.matches('input, textarea'));
  await page.keyboard.type(text);
}

/** Does something, and sees what the page says of it: a notice is there for seconds only, so the page itself looks out for it from now on. */
export async function noticed(page: Page, said: RegExp, act: () => Promise<unknown>): Promise<void> {
  const seen = page.waitForFunction(
    (pattern) => new RegExp(pattern).test(document.querySelector('.notice')?.textContent ?? ''),
    said.source,
  );
  seen.catch(() => undefined); // where `act` fails nobody waits for it
  await act();
  await seen;
}

export const run = (page: Page, command: Command): Promise<SceneState> =>
  after(page, () => page.evaluate((one) => window.__uscope.run(one), command));

export const press = (page: Page, key: string): Promise<SceneState> =>
  after(page, () => page.keyboard.press(key));

export const wheel = (page: Page, deltaY: number, key?: string): Promise<SceneState> =>
  after(page, async () => {
    if (key) await page.keyboard.down(key);
    await page.mouse.wheel(0, deltaY);
    if (key) await page.keyboard.up(key);
  });

export interface Point {
  /** CSS pixels of the canvas. */
  readonly x: number;
  readonly y: number;
}

/** Red, green, blue of pixels of a canvas. */
export const coloursAt = (
  page: Page,
  points: readonly Point[],
  selector = 'canvas.rows',
): Promise<number[][]> =>
  page.evaluate(
    ([list, canvas]) => {
      const source = document.querySelector(canvas) as HTMLCanvasElement;
      const copy = document.createElement('canvas');
      copy.width = source.width;
      copy.height = source.height;
      const context = copy.getContext('2d')!;
      context.drawImage(source, 0, 0);
      return list.map(({ x, y }) => [...context.getImageData(x, y, 1, 1).data.slice(0, 3)]);
    },
    [points.map(({ x, y }) => ({ x, y })), selector] as const,
  );
