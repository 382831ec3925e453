/** The trace of a core against the log of its pins: each instruction, register, access to memory, trap. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './commands.mjs';
import { comparePipeline } from './compare-pipeline.mjs';

const SHOWN = 5;

/**
 * @param cyclesFile the log of the stages and buffers, where the trace has them
 * @param onlyFirst the trace ends before the log does
 */
export async function compare(traceFile, logFile, { cyclesFile = null, onlyFirst = false } = {}) {
  const { openTraceFile } = await import(join(root, 'sdk/dist/reader/node.js'));
  const trace = await openTraceFile(traceFile);
  const recorded = await fromTrace(trace);
  const last = await trace.stateAt(trace.totalTimePs);
  const violations = cyclesFile ? 0 : Number(last.slotField('core0/violations', 0, 'count'));
  const pipeline = cyclesFile ? await comparePipeline(trace, readFileSync(cyclesFile, 'utf8')) : null;
  await trace.close();
  const log = fromLog(readFileSync(logFile, 'utf8'));
  const logged = onlyFirst ? log.slice(0, recorded.length) : log;
  if (pipeline) addBranches(pipeline, logged);
  const differences = [];
  const length = Math.max(recorded.length, logged.length);
  let different = 0;
  for (let i = 0; i < length; i++) {
    const [a, b] = [recorded[i], logged[i]].map((one) => JSON.stringify(one ?? null));
    if (a === b) continue;
    different++;
    if (differences.length < SHOWN) differences.push({ trace: a, log: b });
  }
  const count = (pick) => logged.filter(pick).length;
  return {
    instructions: logged.length,
    registers: count((one) => one.rd !== 0),
    traps: count((one) => one.trap),
    interrupts: count((one) => one.interrupt),
    differences: different + (pipeline?.differences ?? 0),
    cycleFacts: pipeline?.compared ?? null,
    violations,
    shown: [...differences, ...(pipeline?.shown ?? [])],
    bytesPerInstruction: statSync(traceFile).size / Math.max(1, logged.length),
    logBytes: statSync(logFile).size,
  };
}

/** Which branches were taken, against where the program went on. */
function addBranches(pipeline, logged) {
  const expected = logged.filter(({ bits, trap }) => !trap && isBranch(bits));
  // What left execute last may not have been shown yet.
  const open = pipeline.branches.length - expected.length;
  if (open < 0 || open > 2) pipeline.differences++;
  expected.forEach(({ pc, bits, next }, i) => {
    const taken = next !== pc + ((bits & 3) === 3 ? 4 : 2);
    const found = pipeline.branches[i];
    if (found?.pc === pc && found.taken === taken) return;
    pipeline.differences++;
    if (pipeline.shown.length < SHOWN)
      pipeline.shown.push({ branch: i, trace: found ?? null, log: { pc, taken } });
  });
  pipeline.compared += expected.length;
}

function isBranch(bits) {
  return (bits & 3) === 3 ? (bits & 0x7f) === 0x63 : (bits & 3) === 1 && (bits & 0xc000) === 0xc000;
}

/** Bytes that a mask leaves out are 0 in a trace. */
const masked = (data, mask) => {
  let value = 0;
  for (let i = 0; i < 4; i++) if ((mask >>> i) & 1) value |= data & (0xff << (8 * i));
  return value >>> 0;
};

/** Ibex sets its read mask on everything that is not a store. */
function isLoad(bits) {
  if ((bits & 3) === 3) return (bits & 0x7f) === 0x03 || (bits & 0x7f) === 0x07 || (bits & 0x7f) === 0x2f;
  return (bits & 1) === 0 && (bits & 0x8000) === 0 && (bits & 0x6000) !== 0;
}

/** What a trap or a write to x0 leaves out of the trace is left out of the log, too. */
function instruction(pc, bits, trap) {
  return { pc, bits, trap, interrupt: false, rd: 0, value: 0, reads: null, writes: null };
}

function fromLog(text) {
  let trapped = false;
  return text
    .split('\n')
    .filter((line) => line)
    .map((line) => {
      const [, pc, bits, trap, intr, rd, value, next, addr, rmask, wmask, rdata, wdata] = line.split(' ');
      const hex = (digits) => Number.parseInt(digits, 16);
      const one = instruction(hex(pc), hex(bits), trap === '1');
      Object.defineProperty(one, 'next', { value: hex(next) }); // not in the trace of each instruction
      one.interrupt = intr === '1' && !trapped;
      trapped = one.trap;
      if (one.trap) return one;
      one.rd = Number(rd);
      if (one.rd !== 0) one.value = hex(value);
      const [read, written] = [hex(rmask), hex(wmask)];
      if (read && isLoad(one.bits)) one.reads = [hex(addr), read, masked(hex(rdata), read)];
      if (written) one.writes = [hex(addr), written, masked(hex(wdata), written)];
      return one;
    });
}

async function fromTrace(trace) {
  const entities = trace.names.storage('core0/entities');
  const field = (name) => entities.fields.findIndex((one) => one.name === name);
  const [ID, PC, BITS] = ['entity_id', 'pc', 'inst_bits'].map(field);
  const events = new Map(
    ['stage_transition', 'trap', 'interrupt', 'reg_write', 'mem_read', 'mem_write'].map((name) => [
      trace.names.event(`core0/${name}`).eventTypeId,
      name,
    ]),
  );
  const all = [];
  // The last stage: what does not come there was squashed.
  const retire = trace.dutProperty('cpu.pipeline_stages').split(',').length - 1;
  const alive = new Map(); // by slot
  const byId = new Map();
  await trace.scan(
    {},
    {
      op({ storageId, action, slot, field: index, lo }) {
        if (storageId !== entities.storageId || action !== 1) return;
        if (index === ID) {
          const born = instruction(0, 0, false);
          alive.set(slot, born);
          byId.set(lo, born);
        } else if (index === PC) alive.get(slot).pc = lo;
        else if (index === BITS) alive.get(slot).bits = lo;
      },
      event({ eventType, payload }) {
        const name = events.get(eventType);
        if (!name) return;
        const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
        const one = byId.get(view.getUint32(0, true));
        if (name === 'stage_transition') {
          if (view.getUint8(4) === retire) all.push(one);
        } else if (name === 'trap') one.trap = true;
        else if (name === 'interrupt') one.interrupt = true;
        else if (name === 'reg_write')
          Object.assign(one, { rd: view.getUint8(4), value: Number(view.getBigUint64(5, true)) });
        else {
          const access = [
            Number(view.getBigUint64(4, true)),
            view.getUint8(12),
            Number(view.getBigUint64(13, true)),
          ];
          one[name === 'mem_read' ? 'reads' : 'writes'] = access;
        }
      },
    },
  );
  return all;
}
