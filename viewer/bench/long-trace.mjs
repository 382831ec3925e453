// @ts-check
/**
 * A long trace, made fast: a core with five stages that runs a loop, waits for memory, and sleeps, in phases. One instruction is squashed
 * in the whole run, so that it can be looked for when the run is fitted to the window. The same cycles give the same trace.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseSchema } from 'uscope/schema';
import { createCpuSummarizer, TraceWriter } from 'uscope/writer';
import { createSegmentIndexer } from '../../sdk/dist/trace-index/recording/segment-indexer.js';

const PERIOD_PS = 1000;
export const SCHEMA = `
uscope: 1
dut:
  dut_name: long
  cpu.protocol_version: "0.1"
  cpu.isa: RV32
  cpu.pipeline_stages: fetch,decode,execute,memory,writeback
clocks: {clk: ${PERIOD_PS}}
enums:
  stage: [fetch, decode, execute, memory, writeback]
  flush_reason: [mispredict, exception]
  stall_reason: [dcache_miss, store_buffer_full]
  dep_type: [raw, structural]
scopes:
  core0:
    protocol: cpu
    clock: clk
    storages:
      entities: {slots: 8, kind: sparse, fields: {entity_id: u32, pc: u64, inst_bits: u32}}
      committed_insns: counter
      dcache_misses: counter
      store_buffer:
        slots: 8
        kind: buffer
        fields: {entity_id: u32}
        properties: {head: {type: u16, role: head}, tail: {type: u16, role: tail}}
    events:
      stage_transition: {entity_id: u32, stage: stage}
      dependency: {src_id: u32, dst_id: u32, dep_type: dep_type}
      flush: {entity_id: u32, reason: flush_reason}
      stall: {reason: stall_reason}
`;
const [ENTITIES, COMMITTED, MISSES, STORE_BUFFER] = [0, 1, 2, 3];
const [STAGE, DEPENDENCY, FLUSH, STALL] = [0, 1, 2, 3];
const [ENTITY_SLOTS, BUFFER_SLOTS, STAGES] = [8, 8, 5];
const MEMORY = 3;

/** Cycles of a phase, and what the core does in it one after the other. */
const PHASE = 250_000;
const PHASES = /** @type {const} */ (['compute', 'memory', 'sleep', 'memory', 'sleep']);
const MISS_CYCLES = 40;
/** A store leaves its buffer every so often: the loop stores a little faster. */
const DRAIN_CYCLES = 7;

/** addi, lw, sw, beq, add, xor: the loop. */
const LOOP = [0x00158593, 0x0005a503, 0x00a5a223, 0xfeb51ce3, 0x00b50533, 0x00a5c633];
const LOOP_LENGTH = 48;
const [LOAD, STORE] = [1, 2];
const FIRST_PC = 0x8000_0000;

const FLUSH_PART = 0.637;

/**
 * Cycle from which on the one flush is: while the core computes.
 * @param {number} cycles of the run
 */
export function flushCycle(cycles) {
  const round = PHASE * PHASES.length;
  return Math.floor((cycles * FLUSH_PART) / round) * round + Math.min(PHASE, cycles) / 2;
}

class Core {
  random = 88_172_645;
  /** Instruction in each stage by its slot, -1: none; and cycles it stays there yet. */
  at = new Int32Array(STAGES).fill(-1);
  left = new Int32Array(STAGES);
  kind = new Uint8Array(ENTITY_SLOTS);
  next = 0;
  busy = 0;
  drain = 0;
  head = 0;
  tail = 0;
  flushed = -1;
  numbers = [0, 0];
  three = [0, 0, 0];
  one = [0];

  /** @param {TraceWriter} writer @param {number} cycles */
  constructor(writer, cycles) {
    this.writer = writer;
    this.flushCycle = flushCycle(cycles);
  }

  /** @param {number} below */
  choose(below) {
    this.random = (Math.imul(this.random, 1_103_515_245) + 12_345) >>> 0;
    return (this.random >>> 8) % below;
  }

  /** @param {number} cycle @param {typeof PHASES[number]} phase @returns {boolean} something happened */
  step(cycle, phase) {
    if (phase === 'sleep' && this.busy === 0 && this.isEmpty()) return false;
    this.writer.beginCycle(cycle * PERIOD_PS);
    this.drainStore();
    let stalls = -1;
    for (let stage = STAGES - 1; stage >= 0; stage--) {
      const slot = this.at[stage];
      if (slot < 0) continue;
      if (this.left[stage] > 1) {
        this.left[stage]--;
        if (stage === MEMORY) stalls = 0;
      } else if (stage === STAGES - 1) this.retire(slot);
      else if (stage === MEMORY && this.kind[slot] === STORE && !this.store(slot)) stalls = 1;
      else if (this.at[stage + 1] < 0) this.enter(slot, stage + 1, phase);
    }
    if (this.at[0] < 0 && phase !== 'sleep') this.fetch();
    if (stalls >= 0) {
      this.one[0] = stalls;
      this.writer.event(STALL, this.one);
    }
    if (cycle >= this.flushCycle && this.flushed < 0 && this.at[1] >= 0) this.flush(this.at[1]);
    return true;
  }

  isEmpty() {
    for (let stage = 0; stage < STAGES; stage++) if (this.at[stage] >= 0) return false;
    return true;
  }

  fetch() {
    const slot = this.next % ENTITY_SLOTS;
    const place = this.next % LOOP_LENGTH;
    this.kind[slot] = place % LOOP.length;
    this.writer.slotSet(ENTITIES, slot, 0, slot);
    this.writer.slotSet(ENTITIES, slot, 1, FIRST_PC + place * 4);
    this.writer.slotSet(ENTITIES, slot, 2, LOOP[place % LOOP.length]);
    this.next++;
    this.enter(slot, 0, 'compute');
  }

  /** @param {number} slot @param {number} stage @param {typeof PHASES[number]} phase */
  enter(slot, stage, phase) {
    if (stage > 0) this.at[stage - 1] = -1;
    this.at[stage] = slot;
    this.left[stage] = 1;
    this.numbers[0] = slot;
    this.numbers[1] = stage;
    this.writer.event(STAGE, this.numbers);
    const isSlow = stage === MEMORY && this.kind[slot] === LOAD && phase === 'memory';
    if (isSlow && this.choose(3) > 0) this.miss(slot);
  }

  /** @param {number} slot */
  miss(slot) {
    this.left[MEMORY] = MISS_CYCLES + this.choose(8);
    this.writer.slotAdd(MISSES, 0, 0, 1);
    const younger = this.at[MEMORY - 1];
    if (younger < 0) return;
    this.three[0] = slot;
    this.three[1] = younger;
    this.three[2] = 0;
    this.writer.event(DEPENDENCY, this.three);
  }

  /** @param {number} slot @returns {boolean} there was room */
  store(slot) {
    if (this.busy === BUFFER_SLOTS) return false;
    this.writer.slotSet(STORE_BUFFER, this.tail, 0, slot);
    this.tail = (this.tail + 1) % BUFFER_SLOTS;
    this.busy++;
    this.writer.propSet(STORE_BUFFER, 1, this.tail);
    this.enter(slot, MEMORY + 1, 'compute');
    return true;
  }

  drainStore() {
    if (this.busy === 0 || ++this.drain < DRAIN_CYCLES) return;
    this.drain = 0;
    this.writer.slotClear(STORE_BUFFER, this.head);
    this.head = (this.head + 1) % BUFFER_SLOTS;
    this.busy--;
    this.writer.propSet(STORE_BUFFER, 0, this.head);
  }

  /** @param {number} slot */
  retire(slot) {
    this.at[STAGES - 1] = -1;
    this.writer.slotClear(ENTITIES, slot);
    this.writer.slotAdd(COMMITTED, 0, 0, 1);
  }

  /** @param {number} slot */
  flush(slot) {
    this.numbers[0] = slot;
    this.numbers[1] = 0;
    this.writer.event(FLUSH, this.numbers);
    this.writer.slotClear(ENTITIES, slot);
    this.at[1] = -1;
    this.flushed = slot;
  }
}

/**
 * @param {string} path
 * @param {number} cycles
 * @param {(part: number) => void} [onProgress]
 * @param {{ isIndexed?: boolean }} [options] without an index there is no summary either, as in traces of other writers
 */
export async function writeLongTrace(path, cycles, onProgress, { isIndexed = true } = {}) {
  const { schema, dut } = parseSchema(SCHEMA);
  const writer = await TraceWriter.create({
    path,
    schema,
    dut,
    ...(isIndexed ? { summarizer: createCpuSummarizer, index: createSegmentIndexer } : {}),
  });
  const core = new Core(writer, cycles);
  for (let cycle = 0; cycle < cycles; cycle++) {
    const phase = PHASES[Math.floor(cycle / PHASE) % PHASES.length];
    const isLast = cycle === cycles - 1;
    if (!core.step(cycle, phase)) {
      // The last cycle has a frame: the trace ends there.
      if (!isLast) continue;
      writer.beginCycle(cycle * PERIOD_PS);
    }
    if (!writer.endCycle()) {
      onProgress?.(cycle / cycles);
      await writer.ready();
    }
  }
  return writer.close();
}

/**
 * What decides the bytes of the trace: this file, and how an index is laid out. A trace with the index of an earlier layout would be read
 * without one, and measured as if every page needed a walk of the whole file.
 */
function digestOfMakers() {
  const index = new URL('../../sdk/dist/trace-index/', import.meta.url);
  const names = readdirSync(index, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.js'))
    .sort();
  const digest = createHash('sha256').update(readFileSync(new URL(import.meta.url)));
  for (const name of names) digest.update(readFileSync(new URL(name, index)));
  return digest.digest('hex').slice(0, 8);
}

/**
 * Made once and kept in the temporary directory; what decides its bytes is in its name.
 * @param {number} cycles
 * @param {(part: number) => void} [onProgress]
 * @returns {Promise<{path: string, bytes: number, seconds: number}>} seconds: 0 if it was there
 */
export async function longTrace(cycles, onProgress) {
  const directory = join(tmpdir(), 'uscope-viewer-bench');
  mkdirSync(directory, { recursive: true });
  const path = join(directory, `long-${cycles}-${digestOfMakers()}.uscope`);
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size !== undefined) return { path, bytes: size, seconds: 0 };
  const started = performance.now();
  const temporary = `${path}.${process.pid}`;
  try {
    await writeLongTrace(temporary, cycles, onProgress);
    renameSync(temporary, path);
  } finally {
    rmSync(temporary, { force: true });
  }
  return { path, bytes: statSync(path).size, seconds: (performance.now() - started) / 1000 };
}
