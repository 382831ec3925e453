/**
 * A store buffer of four entries before a slow memory, modelled in TypeScript and traced by the writer as a library: no daemon, no
 * simulator. Every cycle of the model is one frame of the trace; afterwards the trace is read back and must agree with the model.
 */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openTraceFile } from 'uscope/reader/node';
import { SchemaBuilder } from 'uscope/schema';
import { TraceWriter } from 'uscope/writer';

const CYCLES = 100_000;
const PERIOD_PS = 500;
const ENTRIES = 4;
const MEMORY_CYCLES = 3;

function describeModel() {
  const builder = new SchemaBuilder().dut('dut_name', 'store buffer').clock('clk', PERIOD_PS);
  builder.enum('stall_reason', ['buffer_full']);
  builder
    .scope('core0', { clock: 'clk' })
    .storage('store_buffer', {
      slots: ENTRIES,
      kind: 'buffer',
      fields: { addr: 'u64', since_cycle: 'u32' },
      properties: { head: { type: 'u8', role: 'head' }, tail: { type: 'u8', role: 'tail' } },
    })
    .counter('stores')
    .counter('stalled_cycles')
    .event('stall', { reason: 'stall_reason' })
    .event('written', { addr: 'u64', waited: 'u32' });
  return builder.build();
}

/** The model: what it does in a cycle is traced where it happens. */
class StoreBuffer {
  stores = 0;
  stalledCycles = 0;
  private readonly entries: { addr: number; since: number }[] = [];
  private head = 0;
  private memoryBusy = 0;
  private random = 1;

  constructor(private readonly trace: TraceWriter) {}

  cycle(now: number): void {
    this.trace.beginCycle(now * PERIOD_PS);
    this.drain(now);
    if (this.next() % 10 < 3) this.store(now, 0x8000_0000 + (this.next() % 4096) * 8);
    this.trace.endCycle();
  }

  private drain(now: number): void {
    const oldest = this.entries[0];
    if (this.memoryBusy > 0) this.memoryBusy--;
    if (this.memoryBusy > 0 || !oldest) return;
    this.memoryBusy = MEMORY_CYCLES;
    this.entries.shift();
    this.trace.slotClear('core0/store_buffer', this.head);
    this.trace.event('core0/written', { addr: oldest.addr, waited: now - oldest.since });
    this.head = (this.head + 1) % ENTRIES;
    this.trace.propSet('core0/store_buffer', 'head', this.head);
  }

  private store(now: number, addr: number): void {
    if (this.entries.length === ENTRIES) {
      this.stalledCycles++;
      this.trace.slotAdd('core0/stalled_cycles', 0, 'count', 1);
      this.trace.event('core0/stall', { reason: 'buffer_full' });
      return;
    }
    const slot = (this.head + this.entries.length) % ENTRIES;
    this.entries.push({ addr, since: now });
    this.stores++;
    this.trace.slotSet('core0/store_buffer', slot, 'addr', addr);
    this.trace.slotSet('core0/store_buffer', slot, 'since_cycle', now);
    this.trace.propSet('core0/store_buffer', 'tail', (slot + 1) % ENTRIES);
    this.trace.slotAdd('core0/stores', 0, 'count', 1);
  }

  /** The same sequence in every run. */
  private next(): number {
    this.random = (Math.imul(this.random, 1_103_515_245) + 12_345) >>> 0;
    return this.random >>> 16;
  }
}

async function simulate(path: string): Promise<StoreBuffer> {
  const trace = await TraceWriter.create({ path, ...describeModel() });
  const model = new StoreBuffer(trace);
  for (let now = 0; now < CYCLES; now++) {
    model.cycle(now);
    if (now % 1000 === 0) await trace.ready();
  }
  const stats = await trace.close();
  console.log(`${stats.path}: ${stats.frames} cycles, ${stats.items} items, ${stats.bytes} bytes`);
  return model;
}

async function readBack(path: string, model: StoreBuffer): Promise<void> {
  const trace = await openTraceFile(path);
  let longest = 0n;
  for await (const event of trace.events(0n, undefined, ['core0/written'])) {
    const { waited } = event.fields();
    if (waited !== undefined && waited > longest) longest = waited;
  }
  const end = await trace.stateAt(trace.totalTimePs);
  const stores = end.slotField('core0/stores', 0, 'count');
  const stalled = end.slotField('core0/stalled_cycles', 0, 'count');
  await trace.close();
  console.log(`stores ${stores}, stalled cycles ${stalled}, longest wait in the buffer ${longest} cycles`);
  if (stores !== BigInt(model.stores) || stalled !== BigInt(model.stalledCycles)) {
    throw new Error(`the model counted ${model.stores} stores and ${model.stalledCycles} stalled cycles`);
  }
}

const path = process.argv[2] ?? fileURLToPath(new URL('store_buffer.uscope', import.meta.url));
mkdirSync(dirname(path), { recursive: true });
await readBack(path, await simulate(path));
