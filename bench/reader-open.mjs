// @ts-check
/** Opening a finalized trace of ten segments and of a million: sparse files, in which all segments but a few are holes. */
import { readFileSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StorageState } from 'uscope';
import {
  encodeFrames,
  encodeHeader,
  encodePreamble,
  encodeSectionTable,
  encodeSegmentHeader,
  Flag,
  SectionType,
} from 'uscope/format';
import { openTraceFile } from 'uscope/reader/node';
import { parseSchema } from 'uscope/schema';
import { median, percentile } from './statistics.mjs';

const SIZES = [10, 1_000_000];
/** Bytes from one segment to the next, and its time in ps. */
const STRIDE = 64 * 1024;
const SPAN_PS = 10_000_000n;
/** Segments that are really there, spread over the file; a question looks at one and the start of the next. */
const SAMPLES = 5;
const AT_MOST_MS = 10;

/**
 * @param {string} directory
 * @param {number} runs
 * @returns {Promise<import('./table.mjs').Row[]>}
 */
export async function measureOpening(directory, runs) {
  /** @type {import('./table.mjs').Row[]} */
  const rows = [];
  for (const segments of SIZES) {
    const path = join(directory, `sparse${segments}.uscope`);
    const present = await writeSparse(path, segments);
    const times = [];
    for (let run = 0; run < runs; run++) times.push(await openAndAsk(path, present[run % present.length]));
    await rm(path);
    const count = segments.toLocaleString('en-US');
    const row = (/** @type {string} */ name, /** @type {number[]} */ values) => ({
      name,
      value: median(values),
      unit: 'ms',
      limit: `99 % of them below ${percentile(values, 0.99).toFixed(2)} ms`,
    });
    rows.push(
      {
        ...row(
          `open a finished file of ${count} segments`,
          times.map(({ opened }) => opened),
        ),
        target: { atMost: AT_MOST_MS },
      },
      row(
        `open it and ask for a first state, ${count} segments`,
        times.map(({ asked }) => asked),
      ),
    );
  }
  return rows;
}

/**
 * Milliseconds until the trace is open, and until it has answered a question about the time of a segment.
 * @param {string} path
 * @param {number} segment
 */
async function openAndAsk(path, segment) {
  const start = performance.now();
  const trace = await openTraceFile(path);
  const opened = performance.now() - start;
  const state = await trace.stateAt(BigInt(segment) * SPAN_PS + 1n);
  const asked = performance.now() - start;
  if (state.slotField('core0/committed_insns', 0, 0) !== 1n) throw new Error('the state is wrong');
  await trace.close();
  return { opened, asked };
}

/**
 * @param {string} path
 * @param {number} segments
 * @returns {Promise<number[]>} those about which may be asked
 */
async function writeSparse(path, segments) {
  const { schema, dut } = parseSchema(readFileSync(new URL('workload.yaml', import.meta.url), 'utf8'));
  const preamble = encodePreamble({ schema, dut, checkpointIntervalPs: SPAN_PS, session: null });
  const first = Math.ceil(preamble.preambleEnd / STRIDE) * STRIDE;
  const offset = (/** @type {number} */ index) => first + index * STRIDE;
  const file = await open(path, 'w');
  const put = (/** @type {Uint8Array} */ bytes, /** @type {number} */ at) =>
    file.write(bytes, 0, bytes.length, at);
  const present = Array.from({ length: SAMPLES }, (_, i) => Math.floor(((segments - 2) * i) / (SAMPLES - 1)));
  const content = segmentContent(schema);
  for (const index of new Set([...present, ...present.map((sample) => sample + 1)])) {
    const start = BigInt(index) * SPAN_PS;
    const previous = index > 0 ? offset(index - 1) : 0;
    await put(content(index > 0, start, BigInt(previous)), offset(index));
  }
  const table = segmentTable(segments, offset);
  const tableAt = offset(segments);
  const section = {
    type: SectionType.SEGMENTS,
    flags: 0,
    offset: BigInt(tableAt),
    size: BigInt(table.length),
  };
  await put(table, tableAt);
  await put(encodeSectionTable([section]), tableAt + table.length);
  await put(preamble.bytes, 48);
  const header = encodeHeader({
    versionMajor: 0,
    versionMinor: 3,
    flags: Flag.COMPLETE | Flag.INTERLEAVED,
    totalTimePs: BigInt(segments) * SPAN_PS - 1n,
    numSegments: segments,
    preambleEnd: preamble.preambleEnd,
    sectionTableOffset: BigInt(tableAt + table.length),
    tailOffset: BigInt(offset(segments - 1)),
  });
  await put(header, 0);
  await file.close();
  return present;
}

/**
 * The bytes of a segment with one frame. The first one counts an instruction; from then on the counter is at 1.
 * @param {import('uscope').Schema} schema
 */
function segmentContent(schema) {
  const storageId = schema.storages.findIndex((storage) => storage.name === 'committed_insns');
  const state = new StorageState(schema);
  const empty = state.encodeCheckpoint();
  state.apply(1, storageId, 0, 0, 1, 0);
  const counted = state.encodeCheckpoint();
  const set = /** @type {const} */ ({ kind: 'op', action: 1, storageId, slot: 0, field: 0, value: 1n });
  return (/** @type {boolean} */ isLater, /** @type {bigint} */ start, /** @type {bigint} */ previous) => {
    const checkpoint = isLater ? counted : empty;
    const deltas = encodeFrames([{ timePs: start, items: isLater ? [] : [set] }], start);
    const header = encodeSegmentHeader({
      flags: 0,
      timeStartPs: start,
      timeEndPs: start + SPAN_PS,
      prevSegmentOffset: previous,
      checkpointSize: checkpoint.length,
      deltasCompressedSize: deltas.length,
      deltasRawSize: deltas.length,
      numFrames: 1,
      numFramesActive: isLater ? 0 : 1,
    });
    return Buffer.concat([header, checkpoint, deltas]);
  };
}

/**
 * docs/reference/format.md#segment-table
 * @param {number} segments
 * @param {(index: number) => number} offset
 */
function segmentTable(segments, offset) {
  const words = new BigUint64Array(3 * segments);
  for (let index = 0; index < segments; index++) {
    words.set([BigInt(offset(index)), BigInt(index) * SPAN_PS, BigInt(index + 1) * SPAN_PS], 3 * index);
  }
  return new Uint8Array(words.buffer);
}
