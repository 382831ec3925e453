/** The trace of a core against the log of its pins: each instruction, register, access to memory, trap. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './commands.mjs';

const SHOWN = 5;

export async function compare(traceFile, logFile) {
  const { openTraceFile } = await import(join(root, 'sdk/dist/reader/node.js'));
  const trace = await openTraceFile(traceFile);
  const recorded = await fromTrace(trace);
  const last = await trace.stateAt(trace.totalTimePs);
  const violations = Number(last.slotField('core0/violations', 0, 'count'));
  await trace.close();
  const logged = fromLog(readFileSync(logFile, 'utf8'));
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
    differences: different,
    violations,
    shown: differences,
    bytesPerInstruction: statSync(traceFile).size / Math.max(1, logged.length),
    logBytes: statSync(logFile).size,
  };
}

/** Bytes that a mask leaves out are 0 in a trace. */
const masked = (data, mask) => {
  let value = 0;
  for (let i = 0; i < 4; i++) if ((mask >>> i) & 1) value |= data & (0xff << (8 * i));
  return value >>> 0;
};

/** Ibex sets its read mask on everything that is no store. */
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
      const [, pc, bits, trap, intr, rd, value, , addr, rmask, wmask, rdata, wdata] = line.split(' ');
      const hex = (digits) => Number.parseInt(digits, 16);
      const one = instruction(hex(pc), hex(bits), trap === '1');
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
    ['trap', 'interrupt', 'reg_write', 'mem_read', 'mem_write'].map((name) => [
      trace.names.event(`core0/${name}`).eventTypeId,
      name,
    ]),
  );
  const all = [];
  const alive = new Map();
  await trace.scan(
    {},
    {
      op({ storageId, action, slot, field: index, lo }) {
        if (storageId !== entities.storageId || action !== 1) return;
        if (index === ID) {
          const born = instruction(0, 0, false);
          alive.set(slot, born);
          all.push(born);
        } else if (index === PC) alive.get(slot).pc = lo;
        else if (index === BITS) alive.get(slot).bits = lo;
      },
      event({ eventType, payload }) {
        const name = events.get(eventType);
        if (!name) return;
        const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
        const one = alive.get(view.getUint32(0, true));
        if (name === 'trap') one.trap = true;
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
