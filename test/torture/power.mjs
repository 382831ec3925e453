// @ts-check
/**
 * Power loss at every write of a session.
 *
 * The session runs on a disk that remembers (power-disk.mjs). For every write, and everything that may have become of it, what is found on the disk
 * must open to a prefix of what was recorded that holds all that was promised; `recover` must make a whole file of it; and a writer that resumes
 * must end with what an undisturbed one writes.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crashes, PowerDisk } from './power-disk.mjs';
import { contentDigest, FoundOnce, forEachState } from './power-states.mjs';
import {
  appendFrame,
  FRAMES_PER_SEGMENT,
  generator,
  PERIOD_PS,
  readTrace,
  SCHEMA,
  SESSION,
} from './power-trace.mjs';

/** After this number of crashes a writer resumes what was found; it costs as much as the session. */
const RESUME_EVERY = 97;
const MAX_PROBLEMS = 20;

/**
 * What is tested, so that the same code runs on the built package and, in the tests, on the sources.
 * @typedef {object} Library
 * @property {typeof import('../../sdk/src/writer/index.js').RecordWriter} RecordWriter
 * @property {typeof import('../../sdk/src/writer/records/record-batch.js').RecordBatch} RecordBatch
 * @property {typeof import('../../sdk/src/writer/index.js').resumeTrace} resumeTrace
 * @property {typeof import('../../sdk/src/reader/index.js').openTrace} openTrace
 * @property {typeof import('../../sdk/src/reader/index.js').memorySource} memorySource
 * @property {typeof import('../../sdk/src/tools/recover/index.js').recoverTrace} recoverTrace
 * @property {typeof import('../../sdk/src/writer/index.js').createCpuSummarizer} createCpuSummarizer
 */

/**
 * @typedef {object} PowerOptions
 * @property {Library} library
 * @property {number} segments Segments of the session, at least.
 * @property {number} random Random mixtures of sector versions per write.
 * @property {number} seed
 * @property {number} [recoverEvery] `recover` runs once per this number of crashes; default 1.
 * @property {number} [jobs] States looked at at the same time; default 1.
 * @property {(text: string) => void} [progress]
 *
 * @typedef {object} PowerResult
 * @property {number} segments
 * @property {number} writes
 * @property {number} crashes
 * @property {number} distinct States among them that differ.
 * @property {number} recovered Crashes of which `recover` made a whole file.
 * @property {number} resumed Crashes after which a writer resumed and ended as an undisturbed one.
 * @property {string[]} problems What went wrong, the first 20.
 *
 * @typedef {{ frames: number, strings: number, wrongFrame: number, wrongString: number }} Content -1: none is wrong
 */

/**
 * @param {PowerOptions} options
 * @returns {Promise<PowerResult>}
 */
export async function powerTorture(options) {
  // In memory where there is such a directory: what happens to a disk is in the log, and real syncs would only cost time.
  const parent = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
  const directory = mkdtempSync(join(parent, 'uscope-power-'));
  try {
    return await new PowerTorture(options, directory).run();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

class PowerTorture {
  /** @type {string[]} */
  problems = [];
  counts = { crashes: 0, recovered: 0, resumed: 0 };
  /** Every frame of the undisturbed session, as text; and its strings. @type {readonly string[]} */
  frames = [];
  /** @type {readonly string[]} */
  strings = [];
  /** What the reader finds in an image, and what it finds in what `recover` makes of it. @type {FoundOnce<Content>} */
  read = new FoundOnce();
  /** @type {FoundOnce<Content>} */
  recovered = new FoundOnce();

  /** @param {PowerOptions} options @param {string} directory */
  constructor(options, directory) {
    this.options = options;
    this.library = options.library;
    this.directory = directory;
    this.choose = generator(options.seed);
  }

  async run() {
    const disk = new PowerDisk();
    const total = this.options.segments * FRAMES_PER_SEGMENT;
    const writer = await this.library.RecordWriter.create(this.#writerOptions(disk));
    await this.#record(writer, 0, total, this.choose);
    const stats = await writer.close({ status: 1 });
    await this.#setReference(disk.content);
    await this.#crashAll(disk, { frames: 0n, strings: 0n }, this.choose, true);
    const writes = disk.log.filter(({ operation }) => operation.kind === 'write').length;
    const distinct = this.read.size;
    return { segments: stats.segments, writes, ...this.counts, distinct, problems: this.problems };
  }

  /** @param {PowerDisk} disk */
  #writerOptions(disk) {
    return {
      path: join(this.directory, 'core0.uscope'), // the disk has one file, which is not there
      schema: SCHEMA,
      checkpointIntervalPs: FRAMES_PER_SEGMENT * PERIOD_PS,
      maxDelayMs: 0,
      sessionId: SESSION,
      summarizer: this.library.createCpuSummarizer,
      openOutput: disk.open,
      onDurable: (/** @type {bigint} */ frames, /** @type {bigint} */ strings) => {
        disk.promised = { frames, strings };
      },
    };
  }

  /**
   * Frames `from` up to `to`, some at a time, so that groups of one and of several segments are committed.
   * @param {InstanceType<Library['RecordWriter']>} writer
   * @param {number} from
   * @param {number} to
   * @param {(below: number) => number} choose
   */
  async #record(writer, from, to, choose) {
    const { RecordBatch } = this.library;
    for (let frame = from; frame < to; ) {
      const end = Math.min(to, frame + 1 + choose(3 * FRAMES_PER_SEGMENT));
      const batch = new RecordBatch();
      for (; frame < end; frame++) appendFrame(batch, frame);
      writer.push(batch.words, 0, batch.length);
      if (choose(2) === 0) await writer.flush();
      else await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** @param {Uint8Array} bytes */
  async #setReference(bytes) {
    const { frames, strings } = await readTrace(this.library, bytes);
    this.frames = frames;
    this.strings = strings;
  }

  /**
   * @param {PowerDisk} disk
   * @param {import('./power-disk.mjs').Promised} before promised by an earlier life of the session
   * @param {(below: number) => number} choose
   * @param {boolean} mayResume
   */
  async #crashAll(disk, before, choose, mayResume) {
    const { random, recoverEvery = 1, jobs = 1, progress } = this.options;
    const states = crashes(disk, { random, choose });
    // A resumed session has its place already.
    await forEachState(states, mayResume ? jobs : 1, async (crash) => {
      if (this.problems.length >= MAX_PROBLEMS) return false;
      const number = this.counts.crashes++;
      if (number % 500 === 0) progress?.(`${number} crashes, ${this.problems.length} problems`);
      const promised = crash.promised.frames > before.frames ? crash.promised : before;
      // Until it is created the client has received nothing, not even that there is a file.
      if (!crash.created) return true;
      await this.#attempt(crash.name, async () => {
        await this.#mustOpen(crash, promised);
        if (number % recoverEvery === 0) await this.#mustRecover(crash, promised);
        if (mayResume && number % RESUME_EVERY === RESUME_EVERY - 1)
          await this.#mustResume(crash, promised, number);
      });
      return true;
    });
  }

  /** @param {string} name @param {() => Promise<void>} action */
  async #attempt(name, action) {
    try {
      await action();
    } catch (error) {
      this.problems.push(`${name}: ${error instanceof Error ? error.message : error}`);
    }
  }

  /**
   * The reader opens what is there, without repair.
   * @param {import('./power-disk.mjs').Crash} crash
   * @param {import('./power-disk.mjs').Promised} promised
   */
  async #mustOpen({ image }, promised) {
    const content = await this.read.get(contentDigest(image), () => this.#contentOf(image));
    compare('reader', content, promised);
  }

  /**
   * @param {import('./power-disk.mjs').Crash} crash
   * @param {import('./power-disk.mjs').Promised} promised
   */
  async #mustRecover({ image }, promised) {
    const content = await this.recovered.get(contentDigest(image), () => this.#recover(image));
    compare('recover', content, promised);
    this.counts.recovered++;
  }

  /** @param {Uint8Array} image */
  async #recover(image) {
    const directory = mkdtempSync(join(this.directory, 'recover-'));
    const input = join(directory, 'input.uscope');
    const output = join(directory, 'output.uscope');
    writeFileSync(input, image);
    const { recoverTrace, createCpuSummarizer } = this.library;
    const report = await recoverTrace({ input, output, summarizer: createCpuSummarizer });
    const content = await this.#contentOf(new Uint8Array(readFileSync(output)));
    rmSync(directory, { recursive: true });
    if (report.saved.frames !== content.frames) fail('recover counts frames that are not there');
    return content;
  }

  /**
   * @param {import('./power-disk.mjs').Crash} crash
   * @param {import('./power-disk.mjs').Promised} promised
   * @param {number} number
   */
  async #mustResume({ image }, promised, number) {
    const disk = new PowerDisk(image);
    const choose = generator(this.options.seed + number);
    const writer = await this.library.resumeTrace(this.#writerOptions(disk));
    if (!writer) fail('the session is not resumed');
    else {
      if (writer.nextFrame < promised.frames)
        fail(`resumed at ${writer.nextFrame} of ${promised.frames} frames`);
      await this.#record(writer, 0, this.frames.length, choose); // what is there is skipped
      await writer.close({ status: 1 });
      const { frames, strings } = await readTrace(this.library, disk.content);
      if (frames.join() !== this.frames.join()) fail('the resumed trace is another one than the undisturbed');
      if (strings.join() !== this.strings.join())
        fail('the resumed trace has other strings than the undisturbed');
      this.counts.resumed++;
      // Power may fail again, at the first writes of the resumed session too.
      disk.log.length = Math.min(disk.log.length, 12);
      await this.#crashAll(disk, promised, choose, false);
    }
  }

  /** How much is in a file, and the first that is not as it was recorded. @param {Uint8Array} bytes @returns {Promise<Content>} */
  async #contentOf(bytes) {
    const { frames, strings } = await readTrace(this.library, bytes);
    return {
      frames: frames.length,
      strings: strings.length,
      wrongFrame: frames.findIndex((frame, index) => frame !== this.frames[index]),
      wrongString: strings.findIndex((text, index) => text !== this.strings[index]),
    };
  }
}

/**
 * @param {string} who
 * @param {Content} found
 * @param {import('./power-disk.mjs').Promised} promised
 */
function compare(who, { frames, strings, wrongFrame, wrongString }, promised) {
  if (BigInt(frames) < promised.frames) fail(`${who}: ${frames} of ${promised.frames} promised frames`);
  if (BigInt(strings) < promised.strings) fail(`${who}: ${strings} of ${promised.strings} promised strings`);
  if (wrongFrame >= 0) fail(`${who}: frame ${wrongFrame} is not the one recorded`);
  if (wrongString >= 0) fail(`${who}: string ${wrongString} is not the one recorded`);
}

/** @param {string} problem @returns {never} */
function fail(problem) {
  throw new Error(problem);
}
