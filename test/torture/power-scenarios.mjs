// @ts-check
/**
 * What is done on a disk that loses power (power-record.mjs, power-tree.mjs), and what must be found on it afterwards: a flight recorder, the adoption
 * of what a daemon left, a trace in the way of another, and every verb that writes a file.
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DiskRecorder } from './power-record.mjs';
import { FoundOnce, forEachState } from './power-states.mjs';
import {
  appendFrame,
  FRAMES_PER_SEGMENT,
  generator,
  PERIOD_PS,
  readTrace,
  SCHEMA,
  SESSION,
} from './power-trace.mjs';
import { treeCrashes } from './power-tree.mjs';

const MAX_PROBLEMS = 20;
/** @type {import('../../sdk/src/writer/index.js').SessionEnd} */
const CLOSED = { status: 1 };
/** @type {import('../../sdk/src/writer/index.js').SessionEnd} */
const CLIENT_LOST = { status: 2 };

/**
 * @typedef {import('./power.mjs').Library & {
 *   createRing: any, resumeRing: any, recoverSpool: any, runCli: (args: string[]) => Promise<number>,
 * }} TreeLibrary
 *
 * @typedef {object} Scenario
 * @property {(work: Work) => Promise<void>} [prepare] What is durable before.
 * @property {(work: Work, promise: (what: any) => void) => Promise<void>} run
 * @property {(work: Work, directory: string, promised: any[]) => Promise<void>} check Throws where something promised is missing.
 *
 * @typedef {object} TreeResult
 * @property {number} steps
 * @property {number} crashes
 * @property {number} distinct States among them that differ, or of which something else was promised.
 * @property {string[]} problems
 */

/** One scenario's directory, library and reference. */
export class Work {
  /** @type {readonly string[]} */
  frames = [];
  /** Bytes of the files that are there before. @type {Map<string, Buffer>} */
  before = new Map();

  /** @param {TreeLibrary} library @param {string} directory @param {number} segments @param {(below: number) => number} choose */
  constructor(library, directory, segments, choose) {
    this.library = library;
    this.directory = directory;
    this.segments = segments;
    this.choose = choose;
  }

  get total() {
    return this.segments * FRAMES_PER_SEGMENT;
  }

  /** @param {string} [name] */
  path(name = 'core0.uscope', directory = this.directory) {
    return join(directory, name);
  }

  /** @param {object} [more] */
  options(more = {}) {
    return {
      path: this.path(),
      schema: SCHEMA,
      checkpointIntervalPs: FRAMES_PER_SEGMENT * PERIOD_PS,
      maxDelayMs: 0,
      sessionId: SESSION,
      summarizer: this.library.createCpuSummarizer,
      ...more,
    };
  }

  /** @param {any} writer @param {number} from @param {number} to */
  async record(writer, from, to) {
    for (let frame = from; frame < to; ) {
      const end = Math.min(to, frame + 1 + this.choose(3 * FRAMES_PER_SEGMENT));
      const batch = new this.library.RecordBatch();
      for (; frame < end; frame++) appendFrame(batch, frame);
      writer.push(batch.words, 0, batch.length);
      if (this.choose(2) === 0) await writer.flush();
      else await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** A finalized trace, or one whose daemon was killed at `durable` frames. @param {string} name @param {number | null} durable */
  async leave(name, durable, sessionId = SESSION) {
    const writer = await this.library.RecordWriter.create(this.options({ path: this.path(name), sessionId }));
    await this.record(writer, 0, durable ?? this.total);
    if (durable === null) await writer.close(CLOSED);
    else {
      await writer.flush();
      const image = readFileSync(this.path(name));
      await writer.close(CLOSED);
      rmSync(this.path(name));
      const { writeFileSync } = await import('node:fs');
      writeFileSync(this.path(name), image);
    }
  }

  /** @param {string} path */
  async read(path) {
    return readTrace(this.library, new Uint8Array(readFileSync(path)));
  }

  /** Frames of a trace; they must be those recorded, from some frame on without a gap. @param {string} path @returns {Promise<{ first: number, end: number }>} */
  async rangeOf(path) {
    const { frames } = await this.read(path);
    if (frames.length === 0) return { first: 0, end: 0 };
    const times = frames.map((frame) => Number(frame.split(':')[0]) / PERIOD_PS);
    for (const [index, time] of times.entries())
      must(time === times[0] + index, `frame ${index} is of cycle ${time}`);
    return { first: times[0], end: times[times.length - 1] + 1 };
  }
}

/** @param {boolean} holds @param {string} problem */
function must(holds, problem) {
  if (!holds) throw new Error(problem);
}

/** @param {any[]} promised @param {string} key */
const last = (promised, key) => promised.findLast((what) => key in what)?.[key];

/** What a check sees of the promises: all of them, of the frames the last. @param {any[]} promised */
function promiseKey(promised) {
  const others = promised
    .map(({ frames: _, ...rest }) => rest)
    .filter((rest) => Object.keys(rest).length > 0);
  return JSON.stringify([last(promised, 'frames'), ...others]);
}

/** @type {Record<string, Scenario>} */
export const TREE_SCENARIOS = {
  /** Segments come and go, triggers get their files, and at the end all that is kept becomes the trace. */
  recorder: {
    async run(work, promise) {
      const options = work.options({
        onDurable: (/** @type {bigint} */ frames) => promise({ frames: Number(frames) }),
      });
      const span = { ps: BigInt(12 * FRAMES_PER_SEGMENT * PERIOD_PS) };
      const onTriggerFile = (/** @type {any} */ file, /** @type {any} */ error) =>
        error || promise({ file: file.path });
      const ring = await work.library.createRing(options, { span, onTriggerFile });
      promise({ created: true });
      const third = Math.floor(work.total / 3);
      for (let part = 0; part < 3; part++) {
        await work.record(ring, part * third, part === 2 ? work.total : (part + 1) * third);
        if (part < 2) ring.trigger(`trigger ${part}`);
      }
      await ring.close(CLOSED);
      promise({ closed: true });
    },
    async check(work, directory, promised) {
      for (const { file } of promised.filter((what) => what.file)) {
        const { end } = await work.rangeOf(join(directory, file.slice(work.directory.length)));
        must(end > 0, 'the file of a trigger is empty');
      }
      if (!last(promised, 'created')) return;
      const frames = last(promised, 'frames') ?? 0;
      const path = work.path('core0.uscope', directory);
      const spool = work.path('core0.ring', directory);
      if (last(promised, 'closed')) must(existsSync(path), 'the finalized trace is not there');
      if (existsSync(path)) {
        const { end } = await work.rangeOf(path);
        must(end >= frames, `${end} of ${frames} promised frames in the finalized trace`);
        return;
      }
      if (frames > 0) {
        const output = work.path('recovered.uscope', directory);
        await work.library.recoverSpool(spool, output, work.library.createCpuSummarizer);
        const { end } = await work.rangeOf(output);
        must(end >= frames, `recover saves ${end} of ${frames} promised frames`);
      }
      const again = await work.library.resumeRing(work.options({ path }), { span: { ps: 1n << 40n } });
      must(again !== null, 'the spool is not resumed');
      must(Number(again.nextFrame) >= frames, `resumed at ${again.nextFrame} of ${frames} promised frames`);
      await work.record(again, 0, work.total);
      await again.close(CLOSED);
      must((await work.rangeOf(path)).end === work.total, 'the resumed trace does not end where it should');
    },
  },

  /** A daemon finds what another left of a client that has died: the file continues, and is finalized. */
  adoption: {
    prepare: (work) => work.leave('core0.uscope', Math.floor(work.total / 2)),
    async run(work, promise) {
      promise({ frames: Math.floor(work.total / 2) });
      const onDurable = (/** @type {bigint} */ frames) => promise({ frames: Number(frames) });
      const writer = await work.library.resumeTrace(work.options({ onDurable }));
      must(writer !== null, 'the session is not resumed');
      await work.record(writer, 0, work.total);
      await writer?.close(CLIENT_LOST);
      promise({ frames: work.total, finalized: true }); // from here on the client's memory is removed
    },
    async check(work, directory, promised) {
      const path = work.path('core0.uscope', directory);
      const frames = last(promised, 'frames');
      const { first, end } = await work.rangeOf(path);
      must(first === 0 && end >= frames, `${end} of ${frames} promised frames`);
      if (last(promised, 'finalized')) {
        must((readFileSync(path)[8] & 1) === 1, 'the trace is not finalized');
        return;
      }
      const writer = await work.library.resumeTrace(work.options({ path }));
      must(
        writer !== null && Number(writer.nextFrame) >= frames,
        'adopted again at a frame before those promised',
      );
      await writer?.close(CLIENT_LOST);
    },
  },

  /** The same of a flight recorder's spool. */
  'recorder-adoption': {
    async prepare(work) {
      const ring = await work.library.createRing(work.options(), { span: { ps: 1n << 40n } });
      await work.record(ring, 0, Math.floor(work.total / 2));
      await ring.flush();
      // Left as it is: nothing of it is open any more that would write.
    },
    async run(work, promise) {
      promise({ frames: Math.floor(work.total / 2) });
      const onDurable = (/** @type {bigint} */ frames) => promise({ frames: Number(frames) });
      const ring = await work.library.resumeRing(work.options({ onDurable }), { span: { ps: 1n << 40n } });
      await work.record(ring, 0, work.total);
      await ring.close(CLIENT_LOST);
      promise({ frames: work.total, closed: true });
    },
    async check(work, directory, promised) {
      const path = work.path('core0.uscope', directory);
      const frames = last(promised, 'frames');
      if (last(promised, 'closed')) must(existsSync(path), 'the finalized trace is not there');
      if (existsSync(path))
        must((await work.rangeOf(path)).end >= frames, 'promised frames are not in the finalized trace');
      else {
        const output = work.path('recovered.uscope', directory);
        await work.library.recoverSpool(
          work.path('core0.ring', directory),
          output,
          work.library.createCpuSummarizer,
        );
        must((await work.rangeOf(output)).end >= frames, 'recover saves less than was promised');
      }
    },
  },

  /** A trace whose daemon was killed is where another begins. */
  aside: {
    prepare: (work) => work.leave('core0.uscope', Math.floor(work.total / 2), new Uint8Array(16).fill(9)),
    async run(work, promise) {
      const writer = await work.library.RecordWriter.create(
        work.options({ onDurable: (/** @type {bigint} */ frames) => promise({ frames: Number(frames) }) }),
      );
      promise({ frames: 0 });
      await work.record(writer, 0, FRAMES_PER_SEGMENT);
      await writer.close(CLOSED);
    },
    async check(work, directory, promised) {
      const aside = work.path('core0.09090909.unfinished.uscope', directory);
      const old = existsSync(aside) ? aside : work.path('core0.uscope', directory);
      must(
        (await work.rangeOf(old)).end === Math.floor(work.total / 2),
        'the trace that was set aside is not whole',
      );
      const frames = last(promised, 'frames');
      if (frames === undefined) return;
      must(old === aside, 'the old trace has its old name again');
      must(
        (await work.rangeOf(work.path('core0.uscope', directory))).end >= frames,
        'promised frames are missing',
      );
    },
  },

  slice: verb((work) => ['slice', work.path(), '--from', '0', '-o', work.path('out.uscope')], null),
  merge: verb(
    (work) => ['merge', work.path(), work.path('core1.uscope'), '-o', work.path('out.uscope')],
    null,
  ),
  recover: verb((work) => ['recover', work.path('core1.uscope'), '-o', work.path('out.uscope')], null),
  'recover-force': verb(
    (work) => ['recover', work.path('core1.uscope'), '--force', '-o', work.path('out.uscope')],
    'out.uscope',
  ),
  'slice-force': verb(
    (work) => ['slice', work.path(), '--force', '-o', work.path('out.uscope')],
    'out.uscope',
  ),
  convert: verb((work) => ['convert', work.path(), '-o', work.path('out.vcd')], null, 'out.vcd'),
};

/**
 * A verb that writes a file: until it ends the output is not there (or, replaced, the old one), or all of it; afterwards it is there. Inputs stay.
 * @param {(work: Work) => string[]} args @param {string | null} replaced @param {string} [output] @returns {Scenario}
 */
function verb(args, replaced, output = 'out.uscope') {
  return {
    async prepare(work) {
      await work.leave('core0.uscope', null);
      await work.leave('core1.uscope', Math.floor(work.total / 2), new Uint8Array(16).fill(7));
      if (replaced) copyFileSync(work.path(), work.path(replaced));
      for (const name of readdirSync(work.directory)) work.before.set(name, readFileSync(work.path(name)));
    },
    async run(work, promise) {
      const status = await work.library.runCli(args(work));
      // 3: nobody knows how many cycles the client of an unfinalized trace completed.
      must(status === 0 || (status === 3 && args(work)[0] === 'recover'), `the verb ends with ${status}`);
      work.before.set('result', readFileSync(work.path(output)));
      promise({ done: true });
    },
    async check(work, directory, promised) {
      for (const [name, bytes] of work.before) {
        if (name === 'result' || name === output) continue;
        must(bytes.equals(readFileSync(work.path(name, directory))), `the input ${name} is another one`);
      }
      const path = work.path(output, directory);
      const isDone = last(promised, 'done') === true;
      if (!existsSync(path)) {
        must(!isDone && replaced === null, 'the output is not there');
        return;
      }
      const bytes = readFileSync(path);
      if (work.before.get('result')?.equals(bytes)) return;
      must(
        !isDone && work.before.get(output)?.equals(bytes) === true,
        'under the name of the output there is something else',
      );
    },
  };
}

/**
 * @param {object} options
 * @param {TreeLibrary} options.library
 * @param {string} options.kind
 * @param {number} options.segments
 * @param {number} options.seeds Mixtures of what was not synced, per step.
 * @param {number} options.seed
 * @param {number} [options.every] Crashes of which one is looked at; default 1.
 * @param {number} [options.jobs] States looked at at the same time; default 1.
 * @param {(text: string) => void} [options.progress]
 * @returns {Promise<TreeResult>}
 */
export async function powerTree({ library, kind, segments, seeds, seed, every = 1, jobs = 1, progress }) {
  const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const base = mkdtempSync(join(parent, 'uscope-power-tree-'));
  try {
    const directory = join(base, 'disk');
    mkdirSync(directory);
    const choose = generator(seed);
    const work = new Work(library, directory, segments, choose);
    const scenario = TREE_SCENARIOS[kind];
    await scenario.prepare?.(work);
    const recorder = new DiskRecorder(directory);
    recorder.start();
    try {
      await scenario.run(work, (what) => recorder.promise(what));
    } finally {
      recorder.stop();
    }
    /** @type {string[]} */
    const problems = [];
    /** @type {FoundOnce<void>} */
    const found = new FoundOnce();
    let count = 0;
    let number = 0;
    await forEachState(
      treeCrashes(recorder, { seeds, choose: generator(seed + 1) }),
      jobs,
      async (crash, place) => {
        if (number++ % every !== 0) return true;
        count++;
        if (count % 1000 === 0) progress?.(`${kind}: ${count} crashes, ${problems.length} problems`);
        try {
          await found.get(`${crash.digest()} ${promiseKey(crash.promised)}`, async () => {
            const image = join(base, `crash-${place}`);
            try {
              crash.write(image);
              await scenario.check(work, image, crash.promised);
            } finally {
              rmSync(image, { recursive: true, force: true });
            }
          });
        } catch (error) {
          problems.push(`${kind}, ${crash.name}: ${error instanceof Error ? error.message : error}`);
        }
        return problems.length < MAX_PROBLEMS;
      },
    );
    return { steps: recorder.log.length, crashes: count, distinct: found.size, problems };
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}
