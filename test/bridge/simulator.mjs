// @ts-check
/**
 * Replaces a simulator: its arguments say what it traces through the bridge and how it ends.
 *
 *     node simulator.mjs MODE [FRAMES [GATE]]
 *
 *   whole     FRAMES frames, then close
 *   copied    the same, and asks for a copy in FTR
 *   cores     the same on two traces at once, and a third of a name that is taken
 *   slow      the same, 100 frames every 20 ms; where GATE is given, the last ones when there is such a file
 *   unclosed  FRAMES frames, all durable, then an end without close
 *   rejects   closes with three rejected items
 *   status    ends with status FRAMES, without a trace
 *   killed    is killed by its own SIGTERM
 *   patient   frames until SIGINT or SIGTERM, then close and status 5
 *   stubborn  frames whatever signal comes
 *   hangs     FRAMES frames, says when they are durable, then nothing, whatever signal comes
 *   refused   opens a trace without a schema and ends well all the same
 */
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { BridgeClient } from '../support/bridge-client/from-source.mjs';

const SCHEMA = `uscope: 1
clocks: {clk: 1000 ps}
storages:
  regs: {slots: 16, kind: dense, fields: {value: u64}}
`;
const BATCH = 100;

const [mode, count = '1000', gate] = process.argv.slice(2);
const frames = Number(count);

/** Who should have made the file may be gone. @param {string} file */
async function opened(file) {
  const end = performance.now() + 120_000;
  while (!existsSync(file)) {
    if (performance.now() > end) throw new Error(`${file} did not come`);
    await delay(20);
  }
}

/** Frames `first` up to `first + BATCH`, each with one SET of its ordinal. @param {number} first */
function batch(first) {
  const bytes = new Uint8Array(BATCH * 48);
  const view = new DataView(bytes.buffer);
  for (let i = 0; i < BATCH; i++) {
    const at = i * 48;
    const ordinal = BigInt(first + i);
    view.setUint8(at, 0x10);
    view.setBigUint64(at + 8, ordinal * 1000n, true);
    view.setUint8(at + 16, 0x01);
    view.setUint8(at + 17, 1);
    view.setUint16(at + 20, (first + i) % 16, true);
    view.setBigUint64(at + 24, ordinal, true);
    view.setUint8(at + 32, 0x11);
    view.setUint32(at + 36, 1, true);
    view.setBigUint64(at + 40, ordinal, true);
  }
  return bytes;
}

console.log(`endpoint ${process.env.USCOPE_ENDPOINT} run ${process.env.USCOPE_RUN_ID}`);
if (mode === 'status') process.exit(frames);
if (mode === 'killed') {
  process.kill(process.pid, 'SIGTERM');
  await delay(10_000);
}

let stop = false;
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    console.log(`got ${signal}`);
    stop = mode === 'patient';
  });
}

const timeoutMs = Number(process.env.USCOPE_TIMEOUT_MS ?? 30_000);
const client = await BridgeClient.connect(process.env.USCOPE_ENDPOINT ?? '', { timeoutMs });
if (mode === 'refused') {
  await client.open({ name: 'core0' }).catch(({ code }) => console.log(code));
  process.exit(0);
}
if (mode === 'cores') {
  const traces = [];
  for (const core of [0, 1])
    traces.push(await client.open({ name: `soc/core${core}`, core, schema: SCHEMA }));
  await client
    .open({ name: 'soc/core1', core: 2, schema: SCHEMA })
    .catch(({ message }) => console.log(message));
  for (let first = 0; first < frames; first += BATCH) {
    for (const trace of traces) await trace.send(batch(first));
  }
  await Promise.all(traces.map((trace) => trace.close()));
  client.close();
  process.exit(0);
}
/** @type {[string, string][] | undefined} */
const dut = mode === 'copied' ? [['uscope.copy', 'ftr']] : undefined;
const trace = await client.open({ name: 'core0', schema: SCHEMA, dut });
const endless = mode === 'patient' || mode === 'stubborn';
for (let first = 0; (endless || first < frames) && !stop; first += BATCH) {
  if (gate && first + BATCH >= frames) await opened(gate);
  await trace.send(batch(first));
  if (first === 0) console.log('tracing');
  if (endless || mode === 'slow') await delay(20);
}
if (mode === 'unclosed' || mode === 'hangs') {
  await trace.flushed();
  console.log('durable');
  if (mode === 'hangs') await delay(1_000_000);
  process.exit(0);
}
await trace.close(mode === 'rejects' ? 3n : 0n, mode === 'rejects' ? [['OP_SLOT', 3n]] : []);
client.close();
process.exit(mode === 'patient' ? 5 : 0);
