// @ts-check
/**
 * `npm run viewer:bench`: what docs/how-to/viewer.md promises, measured on a trace of 100 M cycles, which is made and kept in the temporary
 * directory (250 MB).
 */
import { parseArgs } from 'node:util';
import { printTable } from '../../bench/table.mjs';
import { build, runScript, SetupError, setUpPackages } from '../../scripts/setup.mjs';

const USAGE = `npm run viewer:bench -- [PART...] [options]

  PART            picture, flush, memory, frames, search, live, open, followers, konata; default: all
  --cycles N      of the long trace (default 100,000,000)
  --frame-cycles N  of the trace that is moved about in (default 10,000,000)
  --jumps N       random jumps before memory is measured (default 1,000)
  --frames N      pictures of each of the moves (default 120)
  --konata DIR    a checkout of Konata in which "make production" was run: measures both on the same trace
  --konata-cycles N  of that trace (default 300,000)
  --no-build      measure what is built already
`;

const PARTS = /** @type {const} */ ([
  'picture',
  'flush',
  'memory',
  'frames',
  'search',
  'live',
  'open',
  'followers',
  'konata',
]);
const OF_LONG_TRACE = /** @type {const} */ (['picture', 'flush', 'memory']);

function request() {
  const count = (/** @type {string} */ name, /** @type {string} */ text) => {
    if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
    throw new SetupError(`CLI_USAGE: --${name} takes a number, not ${text}\n\n${USAGE}`, 2);
  };
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      cycles: { type: 'string', default: '100000000' },
      'frame-cycles': { type: 'string', default: '10000000' },
      jumps: { type: 'string', default: '1000' },
      frames: { type: 'string', default: '120' },
      konata: { type: 'string' },
      'konata-cycles': { type: 'string', default: '300000' },
      'no-build': { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  const unknown = positionals.find((name) => !PARTS.some((part) => part === name));
  if (unknown !== undefined) throw new SetupError(`CLI_USAGE: there is no part ${unknown}\n\n${USAGE}`, 2);
  return {
    help: values.help,
    parts: new Set(positionals.length > 0 ? positionals : PARTS),
    cycles: count('cycles', values.cycles),
    frameCycles: count('frame-cycles', values['frame-cycles']),
    jumps: count('jumps', values.jumps),
    frames: count('frames', values.frames),
    konata: values.konata ?? null,
    konataCycles: count('konata-cycles', values['konata-cycles']),
    build: !values['no-build'],
  };
}

/** @param {number} cycles */
async function traceOf(cycles) {
  const { longTrace } = await import('./long-trace.mjs');
  const made = await longTrace(cycles);
  const how = made.seconds > 0 ? `made in ${made.seconds.toFixed(0)} s` : 'made before';
  console.log(
    `${cycles.toLocaleString('en-US')} cycles, ${(made.bytes / 1e6).toFixed(0)} MB, ${how}: ${made.path}`,
  );
  return made.path;
}

/** @param {ReturnType<typeof request>} asked */
async function measureLongTrace({ parts, cycles, jumps }) {
  const { measureFirstPicture, measureLoneFlush, measureMemory } = await import('./measurements.mjs');
  const { flushCycle } = await import('./long-trace.mjs');
  const path = await traceOf(cycles);
  if (parts.has('picture')) printTable('First picture', await measureFirstPicture(path));
  if (parts.has('flush'))
    printTable('A single flush in the whole run', await measureLoneFlush(path, flushCycle(cycles)));
  if (parts.has('memory')) printTable('Memory', await measureMemory(path, jumps));
}

/** @param {ReturnType<typeof request>} asked */
async function measureKonata({ konata, konataCycles }) {
  const { compareWithKonata, whyNoKonata } = await import('./konata.mjs');
  const reason = whyNoKonata(konata);
  if (reason === null)
    printTable('Beside Konata', await compareWithKonata(await traceOf(konataCycles), String(konata)));
  else console.log(`\nBeside Konata\n  skipped: ${reason}`);
}

await runScript(async () => {
  const asked = request();
  if (asked.help) {
    process.stdout.write(USAGE);
    return 0;
  }
  if (asked.build) {
    await setUpPackages('test');
    await build();
  }
  const { parts, frames, frameCycles } = asked;
  if (OF_LONG_TRACE.some((part) => parts.has(part))) await measureLongTrace(asked);
  if (parts.has('frames')) {
    const { measureFrames } = await import('./measurements.mjs');
    printTable(
      'Frames, without a GPU, all panels open',
      await measureFrames(await traceOf(frameCycles), frames),
    );
  }
  if (parts.has('search')) {
    const { measureCancelling } = await import('./cancelling.mjs');
    printTable('Esc ends a search', await measureCancelling(await traceOf(frameCycles)));
  }
  if (parts.has('open')) {
    const { measureOpenPage } = await import('./open-page.mjs');
    printTable('A page that is open during a run', await measureOpenPage(asked.cycles));
  }
  if (parts.has('live') || parts.has('followers')) {
    const { measureFollowers, measureLatency } = await import('./live.mjs');
    if (parts.has('live')) printTable('A trace that is being written', await measureLatency());
    if (parts.has('followers')) printTable('Followers', await measureFollowers());
  }
  if (parts.has('konata')) await measureKonata(asked);
  return 0;
});
