// @ts-check
/** What docs/how-to/viewer.md promises of speed and memory, measured in Chromium without a GPU. */
import { percentile } from '../../bench/statistics.mjs';
import { startPlainSession } from './plain-session.mjs';
import { firstPicture, show, shownAfter, startSession } from './session.mjs';
import { longestTask } from './tasks.mjs';

/** @typedef {import('../../bench/table.mjs').Row} Row */
/** @typedef {import('playwright-core').Page} Page */
/** @typedef {import('./session.mjs').Size} Size */

const FULL_HD = { width: 1920, height: 1080 };
const UHD = { width: 3840, height: 2160 };
const MB = 1e6;
const TARGETS = { pictureMs: 1000, fetchedMb: 5, memoryMb: 500, frameMs: 33, frameUhdMs: 66, taskMs: 50 };

/** @param {string} path @returns {Promise<Row[]>} */
export async function measureFirstPicture(path) {
  const session = await startSession(path);
  try {
    const page = await session.open(FULL_HD);
    const { first, sharp } = await firstPicture(page);
    const { bytes, reads } = session.fetched();
    const fitted = await show(page, { do: 'fit' });
    return [
      {
        name: 'first picture',
        value: sharp,
        unit: 'ms',
        target: { atMost: TARGETS.pictureMs },
        limit: `${first.toFixed(0)} ms: something is drawn`,
      },
      {
        name: 'fetched for it',
        value: bytes / MB,
        unit: 'MB',
        target: { atMost: TARGETS.fetchedMb },
        limit: `${reads} reads`,
      },
      {
        name: 'then the whole run, fitted',
        value: fitted,
        unit: 'ms',
        target: { atMost: TARGETS.pictureMs },
      },
    ];
  } finally {
    await session.close();
  }
}

/**
 * The one instruction that is squashed in the run must be seen when all of it is on the screen.
 * @param {string} path @param {number} cycle of the flush
 * @returns {Promise<Row[]>}
 */
export async function measureLoneFlush(path, cycle) {
  const session = await startSession(path);
  try {
    const page = await session.open(FULL_HD);
    await firstPicture(page);
    await show(page, { do: 'fit' });
    const marked = await page.evaluate(flushColumns, cycle);
    return marked.map(({ name, columns }) => ({
      name: `columns of pixels with the mark of the one flush: ${name}`,
      value: columns,
      unit: '',
      target: { atLeast: 1 },
    }));
  } finally {
    await session.close();
  }
}

/**
 * Runs in the page: columns near the place that have the colour of flushes. The page's canvases show what their threads drew a moment
 * after the thread reports it, on a busy machine seconds.
 * @param {number} cycle
 */
async function flushColumns(cycle) {
  const [rows, overview] = ['canvas.rows', '.overview > canvas:not(.event-overview)'].map((selector) => {
    const canvas = document.querySelector(selector);
    if (canvas instanceof HTMLCanvasElement) return canvas;
    throw new Error(`the page has no ${selector}`);
  });
  const { view } = /** @type {any} */ (window).__uscope.state();
  const { segmentCycles } = /** @type {any} */ (window).__uscope.info();
  const { gutter } = /** @type {any} */ (window).__uscope.settings();
  const columnsOf = (/** @type {HTMLCanvasElement} */ canvas) => {
    const isRows = canvas === rows;
    const box = canvas.getBoundingClientRect();
    const place = isRows
      ? gutter + (cycle - view.x) * view.scale
      : (cycle / segmentCycles.at(-1)) * box.width;
    const x = Math.round((place * canvas.width) / box.width);
    const copy = new OffscreenCanvas(canvas.width, canvas.height);
    const context = copy.getContext('2d');
    context?.drawImage(canvas, 0, 0);
    const isRed = (/** @type {Uint8ClampedArray} */ data) => {
      for (let at = 0; at < data.length; at += 4)
        if (data[at] > 240 && data[at + 1] < 130 && data[at + 2] < 130) return true;
      return false;
    };
    let columns = 0;
    for (let column = Math.max(0, x - 3); column <= x + 3; column++) {
      const data = context?.getImageData(column, 0, 1, canvas.height).data;
      if (data && isRed(data)) columns++;
    }
    return { name: isRows ? 'picture' : 'overview', columns };
  };
  for (const patience = performance.now() + 60_000; ; ) {
    const marked = [rows, overview].map(columnsOf);
    if (marked.every(({ columns }) => columns > 0) || performance.now() > patience) return marked;
    await new Promise((resolve) => requestAnimationFrame(resolve));
  }
}

/** @param {string} path @param {number} jumps @returns {Promise<Row[]>} */
export async function measureMemory(path, jumps) {
  const session = await startPlainSession(path, FULL_HD);
  try {
    await session.evaluate(untilSharp, null);
    const cycles = await session.evaluate(lastCycle, null);
    const before = session.pageBytes();
    let seed = 1;
    const random = () => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return (seed >>> 8) / 2 ** 24;
    };
    /** @type {number[]} */
    const times = [];
    for (let jump = 0; jump < jumps; jump++)
      times.push(await session.evaluate(shownAfter, { do: 'goCycle', cycle: Math.floor(random() * cycles) }));
    const after = session.pageBytes();
    const { bytes } = session.fetched();
    if (before === null || after === null)
      throw new Error('this system does not report the memory of processes');
    return [
      {
        name: `memory of the page after ${jumps} random jumps`,
        value: after / MB,
        unit: 'MB',
        target: { atMost: TARGETS.memoryMb },
        limit: `${(before / MB).toFixed(0)} MB before them`,
      },
      {
        name: 'a jump until all is drawn, median',
        value: percentile(times, 0.5),
        unit: 'ms',
        limit: `p95 ${percentile(times, 0.95).toFixed(0)} ms`,
      },
      { name: 'fetched for all of them', value: bytes / MB, unit: 'MB' },
    ];
  } finally {
    await session.close();
  }
}

/** Runs in the page: until there is a picture in which nothing is missing. */
async function untilSharp() {
  const isSharp = () => /** @type {any} */ (window).__uscope?.state()?.isSharp === true;
  while (!isSharp()) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Runs in the page. @returns {number} */
const lastCycle = () => /** @type {any} */ (window).__uscope.info().segmentCycles.at(-1);

/** @param {string} path @param {number} frames of each of the moves @returns {Promise<Row[]>} */
export async function measureFrames(path, frames) {
  /** @type {Row[]} */
  const rows = [];
  for (const [size, target] of /** @type {const} */ ([
    [FULL_HD, TARGETS.frameMs],
    [UHD, TARGETS.frameUhdMs],
  ])) {
    const session = await startSession(path);
    try {
      const page = await session.open(size);
      await firstPicture(page);
      await openAllPanels(page);
      const { result, longest } = await longestTask(session.browser, page, () => moveAbout(page, frames));
      const at = `${size.width}×${size.height}`;
      rows.push(
        {
          name: `from one picture to the next while moving, p95, ${at}`,
          value: percentile(result.intervals, 0.95),
          unit: 'ms',
          target: { atMost: target },
          limit: `${result.intervals.length} pictures, median ${percentile(result.intervals, 0.5).toFixed(1)} ms`,
        },
        { name: `drawing one, p95, ${at}`, value: percentile(result.drawing, 0.95), unit: 'ms' },
        {
          name: `longest task of the page's main thread, ${at}`,
          value: longest.wallMs,
          unit: 'ms',
          target: { atMost: TARGETS.taskMs },
          limit: `most processor time of one: ${longest.cpuMs.toFixed(0)} ms`,
        },
      );
    } finally {
      await session.close();
    }
  }
  return rows;
}

/** Keys that show the tracks which are hidden at first: model/panels.ts. */
const HIDDEN_TRACKS = ['Shift+N', 'Shift+V'];
const TRACKS = ['Counters', 'Occupancy', 'Events', 'Values'];

/** @param {Page} page @throws Error if one is missing */
async function openAllPanels(page) {
  for (const key of HIDDEN_TRACKS) await page.keyboard.press(key);
  await page.waitForTimeout(500);
  const missing = await page.evaluate(
    (names) => names.filter((name) => !document.querySelector(`section.track[aria-label="${name}"]`)),
    TRACKS,
  );
  if (missing.length > 0) throw new Error(`the page does not show: ${missing.join(', ')}`);
}

/**
 * Pans and zooms without a pause, at zooms from one cycle to the whole run: a command with every animation frame.
 * @param {Page} page @param {number} frames
 * @returns {Promise<{ intervals: number[], drawing: number[] }>} milliseconds
 */
function moveAbout(page, frames) {
  return page.evaluate(async (count) => {
    const hook = /** @type {any} */ (window).__uscope;
    /** @type {number[]} */
    const intervals = [];
    /** @type {number[]} */
    const drawing = [];
    const zoom = (/** @type {number} */ factor) => ({ do: 'zoom', factor, at: null, axis: 'both' });
    const moves = [
      { start: { do: 'goCycle', cycle: 300_000 }, step: { do: 'rows', count: 3, follow: true } },
      { start: { do: 'goCycle', cycle: 600_000 }, step: { do: 'drag', dx: -9, dy: -7 } },
      { start: { do: 'goCycle', cycle: 900_000 }, step: zoom(0.95) },
      { start: { do: 'fit' }, step: zoom(1.05) },
      { start: { do: 'fit' }, step: { do: 'drag', dx: -5, dy: 0 } },
    ];
    const wait = () => new Promise((resolve) => requestAnimationFrame(resolve));
    for (const { start, step } of moves) {
      hook.run(start);
      for (const until = performance.now() + 400; performance.now() < until; ) await wait();
      let seen = hook.state().frame;
      let last = performance.now();
      for (let frame = 0; frame < count; frame++) {
        hook.run(step);
        await wait();
        const state = hook.state();
        const now = performance.now();
        if (state.frame === seen) continue;
        // The first one also waited for the pause to end.
        if (frame > 2) intervals.push((now - last) / (state.frame - seen));
        drawing.push(state.ms);
        seen = state.frame;
        last = now;
      }
    }
    return { intervals, drawing };
  }, frames);
}
