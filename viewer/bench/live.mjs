// @ts-check
/** What docs/how-to/viewer.md promises of a trace that is being written: how long until it is on the screen, and what followers cost. */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { openTraceFile } from 'uscope/reader/node';
import { median, percentile } from '../../bench/statistics.mjs';
import { openView } from '../../test/support/enter-view.mjs';
import { SCHEMA } from './long-trace.mjs';
import { chromiumPath } from './session.mjs';

/** @typedef {import('../../bench/table.mjs').Row} Row */
/** @typedef {{ cycle: number, at: number }} Moment a cycle, and the wall clock in ms */
/** @typedef {{ seen: Moment[], known: Moment[] }} Looks on the screen; in the page, drawn or not */

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CLI = join(ROOT, 'sdk/bin/uscope.js');
const SIZE = { width: 1280, height: 720 };
const TARGETS = { plainMs: 1500, hastenedMs: 700, viewShare: 10 };
/** Cycles per ms: a slow RTL simulation, a fast one, and all that the daemon takes. */
const RATES = [20, 300, 0];
const SECONDS = 8;
/** Of the model: see live-model.c. */
const PERIOD_PS = 1000n;
/** Between two looks at the file. */
const COMMITS_MS = 10;
/** Of the wall clock, before a run counts: the page opens, the simulator starts. */
const WARM_UP_MS = 2500;
const FOLLOWERS = 10;
const FOLLOWERS_WARM_UP_MS = 1500;
const PAIRS = 5;
const CYCLES_OF_PAIR = 1_500_000;

class Bench {
  directory = mkdtempSync(join(tmpdir(), 'uscope-live-bench-'));
  schema = join(this.directory, 'schema.yaml');
  model = join(this.directory, 'live-model');

  constructor() {
    writeFileSync(this.schema, SCHEMA);
    const dpi = join(ROOT, 'dpi');
    execFileSync('make', ['-s', '-C', dpi, 'build/libuscope.a']);
    const source = fileURLToPath(new URL('./live-model.c', import.meta.url));
    const library = join(dpi, 'build/libuscope.a');
    const options = ['-O2', '-I', join(dpi, 'include'), source, library, '-lzmq', '-lpthread'];
    execFileSync('cc', [...options, '-o', this.model]);
  }

  remove() {
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 3 });
  }
}

class Child {
  text = '';
  /** @param {readonly string[]} args of node @param {string} cwd */
  constructor(args, cwd) {
    this.process = spawn(process.execPath, args, {
      cwd,
      env: { ...process.env, TMPDIR: cwd },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [this.process.stdout, this.process.stderr])
      stream.on('data', (data) => {
        this.text += data;
      });
    this.ended = new Promise((resolve) => this.process.once('close', resolve));
  }

  /** @param {RegExp} pattern @returns {Promise<RegExpExecArray>} */
  async printed(pattern) {
    for (;;) {
      const found = pattern.exec(this.text);
      if (found) return found;
      if (this.process.exitCode !== null) throw new Error(`ended without ${pattern}:\n${this.text}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** @param {NodeJS.Signals} signal */
  async end(signal) {
    this.process.kill(signal);
    await this.ended;
  }
}

/**
 * How long what the simulator did takes to the screen.
 * @param {readonly number[]} rates @param {readonly boolean[]} hastened @returns {Promise<Row[]>}
 */
export async function measureLatency(rates = RATES, hastened = [false, true]) {
  const bench = new Bench();
  const browser = await chromium.launch({
    executablePath: chromiumPath(),
    args: ['--no-sandbox', '--disable-gpu'],
  });
  /** @type {Row[]} */
  const rows = [];
  try {
    for (const isHastened of hastened)
      for (const rate of rates) rows.push(await latencyAt(bench, browser, rate, isHastened));
  } finally {
    await browser.close();
    bench.remove();
  }
  return rows;
}

/**
 * @param {Bench} bench @param {import('playwright-core').Browser} browser @param {number} rate
 * @param {boolean} isHastened the page of a directory asks the daemon to commit every 250 ms; that of a file does not
 */
async function latencyAt(bench, browser, rate, isHastened) {
  const cwd = mkdtempSync(join(bench.directory, 'run-'));
  const cycles = rate === 0 ? 1_000_000_000 : rate * (SECONDS * 1000 + 30_000);
  const run = new Child(
    [CLI, 'run', '--out', 'out', '--', bench.model, bench.schema, String(cycles), String(rate)],
    cwd,
  );
  await run.printed(/^\d+ \d+/m);
  const view = new Child([CLI, 'view', '--no-open', isHastened ? 'out' : 'out/core0.uscope'], cwd);
  const [address] = await view.printed(/http:\/\/\S+/);
  const page = await browser.newPage({ viewport: SIZE });
  const commits = await Commits.of(join(cwd, 'out/core0.uscope'));
  try {
    await openView(page, address, isHastened ? 'traces/core0/' : undefined);
    await page.evaluate(watchScreen);
    await new Promise((resolve) => setTimeout(resolve, WARM_UP_MS));
    const from = Date.now();
    await new Promise((resolve) => setTimeout(resolve, SECONDS * 1000));
    const { seen, known } = /** @type {Looks} */ (await page.evaluate('window.__moments'));
    const [recorded, to] = [recordedOf(run.text), Date.now()];
    const waits = waitsOf(recorded, seen, from, to);
    const steps = [
      ['in the file', commits.moments],
      ['known to the page', known],
    ].map(
      ([what, moments]) =>
        `${what} ${textOfWaits(waitsOf(recorded, /** @type {Moment[]} */ (moments), from, to))}`,
    );
    const target = isHastened ? TARGETS.hastenedMs : TARGETS.plainMs;
    const how = isHastened ? 'commits every 250 ms' : 'commits every 1 s';
    const speed = rate === 0 ? 'as fast as it can' : `${rate} k cycles/s`;
    return {
      name: `on the screen, 95 of 100, ${speed}, ${how}`,
      value: percentile(waits, 0.95),
      unit: 'ms',
      target: { atMost: target },
      limit: `median ${median(waits).toFixed(0)} ms, longest ${Math.max(...waits).toFixed(0)} ms, ${waits.length} moments; ${steps.join('; ')}`,
    };
  } finally {
    await commits.stop();
    await page.close();
    await view.end('SIGINT');
    await run.end('SIGKILL');
  }
}

const textOfWaits = (/** @type {readonly number[]} */ waits) =>
  `${median(waits).toFixed(0)} ms, 95 of 100 ${percentile(waits, 0.95).toFixed(0)} ms`;

/** When the file had which cycles, committed: as any reader of the file sees it. */
class Commits {
  /** @type {Moment[]} */
  moments = [];
  isOver = false;

  /** @param {string} path */
  static async of(path) {
    return new Commits(await openTraceFile(path));
  }

  /** @param {import('uscope/reader').Trace} trace */
  constructor(trace) {
    this.trace = trace;
    this.looked = this.look();
  }

  async look() {
    const { trace, moments } = this;
    while (!this.isOver) {
      const { newSegments, totalTimePs } = await trace.poll();
      if (newSegments > 0) moments.push({ cycle: Number(totalTimePs / PERIOD_PS), at: Date.now() });
      await new Promise((resolve) => setTimeout(resolve, COMMITS_MS));
    }
  }

  async stop() {
    this.isOver = true;
    await this.looked;
    await this.trace.close();
  }
}

/** Runs in the page: when it knew which cycle, and when that was on the screen, drawn whole. */
function watchScreen() {
  const hook = /** @type {any} */ (window).__uscope;
  /** @type {Looks} */
  const looks = { seen: [], known: [] };
  Object.assign(window, { __moments: looks });
  const look = () => {
    const [state, info] = [hook.state(), hook.info()];
    const cycle = info?.segmentCycles.at(-1) ?? 0;
    const end = state ? state.view.x + innerWidth / state.view.scale : 0;
    if (cycle > (looks.known.at(-1)?.cycle ?? 0)) looks.known.push({ cycle, at: Date.now() });
    if (state?.isSharp && end >= cycle && cycle > (looks.seen.at(-1)?.cycle ?? 0))
      looks.seen.push({ cycle, at: Date.now() });
    requestAnimationFrame(look);
  };
  look();
}

/** @param {string} text @returns {Moment[]} */
const recordedOf = (text) =>
  [...text.matchAll(/^(\d+) ([\d.]+)$/gm)].map(([, cycle, at]) => ({ cycle: Number(cycle), at: Number(at) }));

/**
 * From each moment of the simulator to the first picture that has it. What no picture has yet counts with its age, when that is more than all
 * others waited.
 * @param {readonly Moment[]} recorded @param {readonly Moment[]} seen @param {number} from @param {number} to
 */
export function waitsOf(recorded, seen, from, to) {
  const shown = seen.at(-1)?.cycle ?? 0;
  const moments = recorded.filter(({ at }) => at >= from && at <= to);
  const waits = [];
  let next = 0;
  for (const { cycle, at } of moments) {
    if (cycle >= shown) break;
    while (seen[next].cycle <= cycle) next++;
    waits.push(seen[next].at - at);
  }
  const longest = Math.max(0, ...waits);
  waits.push(
    ...moments.filter(({ cycle, at }) => cycle >= shown && to - at > longest).map(({ at }) => to - at),
  );
  if (waits.length === 0) throw new Error('the simulator has printed no moment of the time that counts');
  return waits;
}

/** What ten followers of one trace cost the simulator and the server. @returns {Promise<Row[]>} */
export async function measureFollowers() {
  const bench = new Bench();
  try {
    const alone = [];
    const followed = [];
    const shares = [];
    // Alternating: what else the machine does meets both.
    for (let pair = 0; pair < PAIRS; pair++) {
      alone.push((await followedRun(bench, 0)).seconds);
      const { seconds, share } = await followedRun(bench, FOLLOWERS);
      followed.push(seconds);
      shares.push(share);
    }
    const noise = `alone ${textOf(alone)}`;
    return [
      {
        name: `simulator with ${FOLLOWERS} followers, of its processor time alone`,
        value: median(followed) / median(alone),
        unit: 'times',
        limit: `${noise}; followed ${textOf(followed)} s`,
        target: { atMost: Math.max(1.05, Math.max(...alone) / Math.min(...alone)) },
      },
      {
        name: `uscope view of ${FOLLOWERS} followers`,
        value: median(shares),
        unit: '% of a core',
        target: { atMost: TARGETS.viewShare },
        limit: shares.map((share) => share.toFixed(1)).join(' '),
      },
    ];
  } finally {
    bench.remove();
  }
}

const textOf = (/** @type {readonly number[]} */ values) => values.map((one) => one.toFixed(2)).join(' ');

/** @param {Bench} bench @param {number} followers @returns {Promise<{ seconds: number, share: number }>} */
async function followedRun(bench, followers) {
  const cwd = mkdtempSync(join(bench.directory, 'run-'));
  const rate = String(CYCLES_OF_PAIR / (SECONDS * 1000));
  const command = ['run', '--out', 'out', '--', bench.model, bench.schema, String(CYCLES_OF_PAIR), rate];
  const run = new Child([CLI, ...command], cwd);
  await run.printed(/^\d+ \d+/m);
  const view = new Child([CLI, 'view', '--no-open', 'out'], cwd);
  const [address] = await view.printed(/http:\/\/\S+/);
  const follow = fileURLToPath(new URL('./follow.mjs', import.meta.url));
  const readers = followers === 0 ? null : new Child([follow, address, String(followers)], cwd);
  const pid = view.process.pid ?? 0;
  // Programs are compiled, and what commands to the daemon need is loaded, once.
  await new Promise((resolve) => setTimeout(resolve, FOLLOWERS_WARM_UP_MS));
  const [before, at] = [processorSeconds(pid), performance.now()];
  const [, seconds] = await run.printed(/^cpu ([\d.]+)$/m);
  const share = (100 * (processorSeconds(pid) - before)) / ((performance.now() - at) / 1000);
  if (readers && readers.process.exitCode !== null) throw new Error(`the followers ended:\n${readers.text}`);
  await readers?.end('SIGKILL');
  await view.end('SIGINT');
  await run.ended;
  return { seconds: Number(seconds), share };
}

/** User and system time of a process, whose clock has 100 ticks a second on Linux. @param {number} pid */
function processorSeconds(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}
