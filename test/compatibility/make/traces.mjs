// @ts-check
/**
 * Writes the stored trace files of a release: one for each way in which a file can end, and for each form of what it holds. The writer is the built
 * package's.
 */
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createCpuSummarizer,
  openTraceFile,
  parseSchema,
  recoverTrace,
  SessionStatus,
  TraceWriter,
} from 'uscope';
import { RecordBatch } from '../../../sdk/dist/writer/records/record-batch.js';
import { createRing, recoverSpool } from '../../../sdk/dist/writer/ring/index.js';
import { listTrace, writeJson } from '../listing.mjs';

/** @typedef {import('uscope').WriterOptions} WriterOptions */

const HEADER_SIZE = 48;
const INTERVAL_PS = 10_000;
const SCHEMA = new URL('cores.yaml', import.meta.url);

/** @param {number} n */
const id = (n) => new Uint8Array(16).fill(n);

/** @param {string} path @returns {WriterOptions} */
function optionsFor(path) {
  return {
    path,
    ...parseSchema(readFileSync(SCHEMA, 'utf8'), { file: 'cores.yaml', variables: { core: '0' } }),
    checkpointIntervalPs: INTERVAL_PS,
    sessionId: id(0x51),
    runId: id(0x52),
    coreIndex: 0,
    maxDelayMs: 0,
  };
}

/**
 * Cycles of a small pipeline: every action, every kind of storage, strings, values that need the wide form and frames that do not.
 * @param {TraceWriter} trace @param {number} first @param {number} end
 */
function record(trace, first, end) {
  for (let cycle = first; cycle < end; cycle++) {
    trace.beginCycle(cycle * 1000);
    const slot = cycle % 12;
    if (cycle % 3 === 0) recordBirth(trace, cycle, slot);
    if (cycle % 3 === 1) recordSmall(trace, cycle);
    if (cycle % 7 === 6) {
      trace.event('core0/flush', { entity_id: cycle, reason: 'exception' });
      trace.slotClear('core0/entities', slot);
      trace.slotClear('core0/rob', cycle % 9);
    }
    trace.endCycle();
    if (cycle % 8 === 5) recordNoc(trace, cycle);
  }
}

/** @param {TraceWriter} trace @param {number} cycle @param {number} slot */
function recordBirth(trace, cycle, slot) {
  trace.slotSet('core0/entities', slot, 'entity_id', cycle);
  trace.slotSet('core0/entities', slot, 'pc', 0xffff_ffff_8000_0000n + BigInt(cycle) * 4n);
  trace.slotSet('core0/entities', slot, 'offset', -cycle);
  trace.event('core0/stage_transition', { entity_id: cycle, stage: 'fetch' });
  trace.event('core0/annotate', { entity_id: cycle, text: `addi x${cycle % 5}, x0, ${cycle % 4} é` });
  trace.propSet('core0/rob', 'allocate_ptr', cycle % 9);
  trace.propSet('core0/rob', 'label', trace.string(`row ${cycle % 6}`));
}

/** Everything here fits the compact form. @param {TraceWriter} trace @param {number} cycle */
function recordSmall(trace, cycle) {
  trace.slotSet('core0/rob', cycle % 9, 'entity_id', cycle);
  trace.slotSet('core0/rob', cycle % 9, 'done', true);
  trace.slotSet('core0/queue', cycle % 3, 'entity_id', cycle);
  if (cycle % 6 === 4) trace.slotClear('core0/queue', cycle % 3);
  trace.slotSet('core0/regs', cycle % 4, 'value', cycle * 257);
  trace.slotAdd('core0/committed_insns', 0, 'count', 1);
  trace.event('core0/tick');
}

/** A frame of the other clock, in between. @param {TraceWriter} trace @param {number} cycle */
function recordNoc(trace, cycle) {
  trace.beginCycle(cycle * 1000 + 400);
  trace.slotSet('noc0/transactions', cycle % 4, 'id', cycle);
  trace.event('noc0/beat', { id: cycle, data: 0x0123_4567_89ab_cdefn, last: true });
  trace.endCycle();
  trace.beginCycle(cycle * 1000 + 400); // the same time again, and no item
  trace.endCycle();
}

/** @param {string} path @param {Partial<WriterOptions>} [more] */
const create = (path, more = {}) =>
  TraceWriter.create({ summarizer: createCpuSummarizer, ...optionsFor(path), ...more });

/** Writes all files of a release into `folder`. @param {string} folder */
export async function makeTraces(folder) {
  mkdirSync(folder, { recursive: true });
  const scratch = mkdtempSync(join(tmpdir(), 'uscope-compatibility-'));
  /** @param {string} name */
  const at = (name) => join(folder, `${name}.uscope`);
  try {
    for (const compression of /** @type {const} */ (['lz4', 'zstd', 'none'])) {
      const trace = await create(at(`closed-${compression}`), { compression });
      record(trace, 0, 60);
      await trace.close();
    }
    await (await create(at('empty'))).close();
    await makeSnapshots(at('snapshots'));
    await makeKilled(scratch, at);
    await makeRing(scratch, folder, at);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Checkpoints that the model supplies and that differ from replay. @param {string} path */
async function makeSnapshots(path) {
  const trace = await create(path);
  const regs = new Uint8Array(4 * 5);
  trace.onCheckpoint((snapshot) => {
    regs.fill(Number(snapshot.timePs / 1000n));
    snapshot.storage('core0/regs', regs);
  });
  record(trace, 0, 40);
  await trace.close();
}

/** A writer that was killed: between two commits, and while it wrote a segment. @param {string} scratch @param {(name: string) => string} at */
async function makeKilled(scratch, at) {
  const path = join(scratch, 'live.uscope');
  const trace = await create(path);
  record(trace, 0, 25);
  await trace.flush();
  copyFileSync(path, at('killed'));
  record(trace, 25, 37);
  await trace.flush();
  const later = readFileSync(path);
  const torn = Buffer.concat([
    readFileSync(at('killed')).subarray(0, HEADER_SIZE),
    later.subarray(HEADER_SIZE, later.length - 40),
  ]);
  writeFileSync(at('torn'), torn);
  await trace.close();
  await recoverTrace({ input: at('torn'), output: at('recovered') });
}

/** A flight recorder: its file, a trigger's file, and the spool of one that was killed. @param {string} scratch @param {string} folder @param {(name: string) => string} at */
async function makeRing(scratch, folder, at) {
  const path = join(scratch, 'recorder.uscope');
  const ring = await createRing(
    { ...optionsFor(path), summarizer: createCpuSummarizer },
    { span: { ps: 25_000n } },
  );
  /** @param {number} first @param {number} end */
  const push = async (first, end) => {
    for (let cycle = first; cycle < end; cycle++) {
      const batch = recorderFrame(cycle);
      ring.push(batch.words, 0, batch.length);
      await ring.flush();
    }
  };
  await push(0, 50);
  mkdirSync(join(folder, 'killed.ring'));
  for (const name of readdirSync(join(scratch, 'recorder.ring')))
    copyFileSync(join(scratch, 'recorder.ring', name), join(folder, 'killed.ring', name));
  const assembled = join(scratch, 'assembled.uscope');
  await recoverSpool(join(folder, 'killed.ring'), assembled, createCpuSummarizer);
  const trace = await openTraceFile(assembled);
  writeJson(join(folder, 'killed.ring.json'), await listTrace(trace));
  await trace.close();
  await push(50, 60);
  await ring.close({ status: SessionStatus.CLOSED });
  copyFileSync(path, at('recorder'));
}

/** @param {number} cycle */
function recorderFrame(cycle) {
  const batch = new RecordBatch();
  batch.string(cycle, new TextEncoder().encode(`text ${cycle}`));
  batch.begin(BigInt(cycle) * 2000n);
  batch.op(3, 4, 0, 0, 1, 0); // ADD 1 to core0/committed_insns
  const { view, offset } = batch.event(1, 8); // core0/annotate
  view.setUint32(offset, cycle, true);
  view.setUint32(offset + 4, Math.max(0, cycle - (cycle % 4) * 9), true);
  batch.end(2, cycle);
  return batch;
}
