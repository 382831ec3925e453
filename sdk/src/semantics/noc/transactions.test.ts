import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { clear, frame, set, TraceBuilder, type TraceSpec } from '../../../../test/support/build-trace.js';
import { MANY_CASES_MS } from '../../../../test/support/limits.js';
import { event, u32 } from '../../../../test/support/pipeline-model.js';
import type { Frame, Item } from '../../format/types.js';
import { memorySource, openTrace, type Trace } from '../../reader/index.js';
import { parseSchema } from '../../schema/index.js';
import {
  findNetwork,
  findNetworks,
  linkCredits,
  type Transaction,
  TransactionsOfBlock,
  transactionBlocks,
  transactions,
  transactionTransferList,
} from './index.js';

const PERIOD = 1000;
const { schema, dut } = parseSchema(`
uscope: 1
dut: {noc.pipeline_stages: "queued,sent", mesh/r1/noc.pipeline_stages: "in,out"}
clocks: {clk: 1000 ps, off: 0 ps}
enums:
  stage: [queued, sent]
  router_stage: [arrive, leave]
  opcode: [write, read]
  reason: [busy, error]
scopes:
  mesh:
    protocol: noc
    clock: clk
    storages:
      transactions: {slots: 8, kind: sparse, fields: {txn_id: u32, opcode: opcode, addr: u64, len: u16, size: u8, src_port: u16, dst_port: u16}}
      link: {slots: 4, kind: buffer, fields: {txn_id: u32}}
    events:
      stage_transition: {txn_id: u32, stage: stage}
      annotate: {txn_id: u32, text: string}
      beat: {txn_id: u32, beat: u16}
      retry: {txn_id: u32, reason: reason}
      timeout: {txn_id: u32}
      link_credit: {link: u16, credits: u8}
      txn_handoff: {from: u32, to: u32}
    scopes:
      r1:
        protocol: noc.router
        storages:
          transactions: {slots: 8, kind: sparse, fields: {txn_id: u32, addr: u64}}
        events:
          stage_transition: {txn_id: u32, stage: router_stage}
          arb_decision: {txn_id: u32, port: u8}
      r2:
        protocol: noc.router
        clock: off
        storages:
          transactions: {slots: 8, kind: sparse, fields: {txn_id: u32, addr: u64}}
  plain: {}
`);

const storage = (path: string): number => {
  const [scope, name] = path.split('/');
  return schema.storages.findIndex((s) => s.name === name && schema.scopes[s.scopeId]!.name === scope);
};
const eventType = (path: string): number => {
  const [scope, name] = path.split('/');
  return schema.events.findIndex((e) => e.name === name && schema.scopes[e.scopeId]!.name === scope);
};
const [MESH, R1, R2] = ['mesh', 'r1', 'r2'].map((scope) => storage(`${scope}/transactions`)) as [
  number,
  number,
  number,
];
const mesh = (name: string, id: number, ...rest: number[]): Item =>
  event(eventType(`mesh/${name}`), ...u32(id), ...rest);
const handoff = (from: number, to: number): Item => mesh('txn_handoff', from, ...u32(to));
const begin = (catalog: number, id: number, addr: number): Item[] =>
  catalog === MESH
    ? [
        set(MESH, id, 0, id),
        set(MESH, id, 1, 1),
        set(MESH, id, 2, addr),
        set(MESH, id, 3, 4),
        set(MESH, id, 4, 3),
      ]
    : [set(catalog, id, 0, id), set(catalog, id, 1, addr)];

function build(
  frames: readonly Frame[],
  every: number,
  spec: Partial<TraceSpec> = {},
  strings: string[] = [],
) {
  const builder = new TraceBuilder({ schema, dut, compression: 'lz4', ...spec });
  for (let at = 0; at < frames.length; at += every) {
    const next = frames[at + every];
    builder.segment({
      frames: frames.slice(at, at + every),
      ...(next ? { end: next.timePs } : {}),
      strings: at === 0 ? strings : [],
    });
  }
  return builder.finalize().bytes;
}

const open = (bytes: Uint8Array): Promise<Trace> => openTrace(memorySource(bytes));

async function collect(
  trace: Trace,
  network: string,
  range = {},
  options = { lookback: 1000, lookahead: 1000 },
): Promise<Transaction[]> {
  const found: Transaction[] = [];
  for await (const one of transactions(trace, findNetwork(trace, network), range, options)) found.push(one);
  return found;
}

const story: Frame[] = [
  frame(0, ...begin(MESH, 2, 0x1000), mesh('stage_transition', 2, 0), mesh('annotate', 2, ...u32(0))),
  frame(1000, event(eventType('mesh/link_credit'), 7, 0, 3)),
  frame(2000, mesh('stage_transition', 2, 1), mesh('beat', 2, 0, 0), mesh('beat', 2, 1, 0)),
  frame(3000, mesh('retry', 2, 1), mesh('timeout', 2)),
  frame(4000, ...begin(R1, 5, 0x1000), handoff(2, 5), event(eventType('r1/arb_decision'), ...u32(5), 9)),
  frame(5000, event(eventType('r1/stage_transition'), ...u32(5), 1), clear(MESH, 2)),
  frame(6000, ...begin(R2, 5, 0x1000), handoff(5, 5)),
  frame(7000, clear(R1, 5)),
  frame(9000, clear(R2, 5)),
];

describe('a network that is disabled', () => {
  it('has lost there what was in flight, whichever takes the slot next', async () => {
    const builder = new TraceBuilder({ schema, dut })
      .segment({ frames: [frame(0, ...begin(MESH, 2, 0x1000), ...begin(R1, 3, 0x1000))], end: 4000n })
      .segment({ frames: [frame(4000)], emptied: [MESH], end: 9000n })
      .segment({
        frames: [frame(9000, ...begin(MESH, 2, 0x2000)), frame(10_000, clear(MESH, 2), clear(R1, 3))],
      });
    const trace = await open(builder.finalize().bytes);
    const ends = async (network: string) =>
      (await collect(trace, network)).map(({ id, addr, end, endPs, isAbridged }) => [
        id,
        addr,
        end,
        endPs,
        isAbridged,
      ]);
    expect(await ends('mesh')).toEqual([
      [2, 0x1000n, 'lost', 4000n, true],
      [2, 0x2000n, 'completed', 10_000n, false],
    ]);
    expect(await ends('mesh/r1')).toEqual([[3, 0x1000n, 'completed', 10_000n, false]]);
  });
});

describe('networks of a trace', () => {
  it('are the scopes with the protocol noc or one below it', async () => {
    const trace = await open(build(story, 3, {}, ['hello']));
    expect(findNetworks(trace).map(({ name, protocol }) => [name, protocol])).toEqual([
      ['mesh', 'noc'],
      ['mesh/r1', 'noc.router'],
      ['mesh/r2', 'noc.router'],
    ]);
    const router = findNetwork(trace, 'r1');
    expect(router.stages).toEqual(['in', 'out']);
    expect(router.handoff?.def.name).toBe('txn_handoff');
    expect(findNetwork(trace).buffers.map(({ name }) => name)).toEqual(['link']);
    expect(() => findNetwork(trace, 'r9')).toThrow(/READER_NAME.*mesh, mesh\/r1, mesh\/r2/);
  });

  it('may be absent', async () => {
    const bare = { ...schema, scopes: schema.scopes.map((scope) => ({ ...scope, protocol: null })) };
    const trace = await open(new TraceBuilder({ schema: bare }).bytes);
    expect(() => findNetwork(trace)).toThrow(/READER_NAME.*"noc"/);
  });
});

describe('a transaction', () => {
  it('has everything that happened to it, and where it continued', async () => {
    const trace = await open(build(story, 3, {}, ['hello']));
    const [one, ...others] = await collect(trace, 'mesh');
    expect(others).toEqual([]);
    expect(one).toEqual({
      network: 'mesh',
      id: 2,
      opcode: 'read',
      addr: 0x1000n,
      len: 4,
      size: 3,
      srcPort: null,
      dstPort: null,
      birthPs: 0n,
      stages: [
        { stage: 0, name: 'queued', timePs: 0n },
        { stage: 1, name: 'sent', timePs: 2000n },
      ],
      beats: [
        { timePs: 2000n, beat: 0n },
        { timePs: 2000n, beat: 1n },
      ],
      retries: [{ timePs: 3000n, reason: 'error' }],
      timeouts: [3000n],
      arbitrations: [],
      annotations: [{ timePs: 0n, text: 'hello' }],
      handoffs: [{ timePs: 4000n, direction: 'to', network: 'mesh/r1', id: 5, birthPs: 4000n }],
      end: 'completed',
      endPs: 5000n,
      isAbridged: false,
    });
    const [routed] = await collect(trace, 'r1');
    expect(routed).toMatchObject({
      stages: [{ name: 'out', timePs: 5000n }],
      arbitrations: [{ timePs: 4000n, port: 9n }],
      handoffs: [
        { direction: 'from', network: 'mesh', id: 2, birthPs: 0n },
        { direction: 'to', network: 'mesh/r2', id: 5, birthPs: 6000n },
      ],
    });
    const [last] = await collect(trace, 'r2');
    expect(last?.handoffs).toEqual([
      { timePs: 6000n, direction: 'from', network: 'mesh/r1', id: 5, birthPs: 4000n },
    ]);
  });

  it('in flight at the start of a range has its history', async () => {
    const trace = await open(build(story, 2));
    const [one] = await collect(trace, 'mesh', { from: 3, to: 4, unit: 'cycles' });
    expect(one).toMatchObject({ birthPs: 0n, endPs: 5000n, end: 'completed' });
    expect(one!.stages).toHaveLength(2);
    const [short] = await collect(trace, 'mesh', { from: 3000, to: 4000 }, { lookback: 0, lookahead: 0 });
    expect(short).toMatchObject({
      birthPs: null,
      endPs: null,
      end: 'unknown',
      addr: 0x1000n,
      timeouts: [3000n],
    });
    expect(await collect(trace, 'mesh', { from: 5001 })).toEqual([]);
  });

  it('has no cycles where the clock has no period', async () => {
    const trace = await open(build(story, 3));
    await expect(collect(trace, 'r2', { from: 1, unit: 'cycles' })).rejects.toThrow(
      /READER_NO_CYCLES.*"off"/,
    );
  });

  it('whose partner could be in either of two networks names none', async () => {
    const twins = [
      frame(0, ...begin(MESH, 1, 16)),
      frame(1000, ...begin(R1, 3, 16), ...begin(R2, 3, 16), handoff(1, 3)),
    ];
    const [one] = await collect(await open(build(twins, 2)), 'mesh');
    expect(one?.handoffs).toEqual([{ timePs: 1000n, direction: 'to', network: null, id: 3, birthPs: null }]);
  });

  it('of a slot given away without a clear is lost', async () => {
    const bytes = build([frame(0, set(MESH, 1, 0, 1)), frame(1000, set(MESH, 1, 0, 77))], 1);
    const found = await collect(await open(bytes), 'mesh');
    expect(found.map(({ id, end, endPs }) => [id, end, endPs])).toEqual([
      [1, 'lost', 1000n],
      [77, 'in_flight', null],
    ]);
  });
});

describe('blocks of transactions', () => {
  it('move to another thread in one piece, and say there what they said here', async () => {
    const trace = await open(build(story, 3, {}, ['hello']));
    const networks = findNetworks(trace);
    const moved: Transaction[] = [];
    for await (const block of transactionBlocks(trace, findNetwork(trace, 'mesh'))) {
      const there = structuredClone(block, { transfer: transactionTransferList(block) });
      expect(block.birth.byteLength).toBe(0);
      const rows = new TransactionsOfBlock(trace, networks, there);
      await rows.load();
      for (let row = 0; row < there.count; row++) moved.push(rows.at(row));
    }
    expect(moved).toEqual(await collect(trace, 'mesh'));
  });

  it('end with the reason of a signal', async () => {
    const trace = await open(build(story, 1));
    const controller = new AbortController();
    controller.abort(new Error('enough'));
    const blocks = transactionBlocks(trace, findNetwork(trace), {}, { signal: controller.signal });
    await expect(blocks.next()).rejects.toThrow('enough');
  });
});

describe('link credits', () => {
  it('come in order, with link and credits', async () => {
    const trace = await open(build(story, 3));
    const found = [];
    for await (const credit of linkCredits(trace, findNetwork(trace))) found.push(credit);
    expect(found).toEqual([{ timePs: 1000n, link: 7n, credits: 3n }]);
  });
});

/** One transaction as the model knows it. Cycles. */
interface Known {
  readonly network: string;
  readonly id: number;
  readonly birth: number;
  readonly addr: number;
  beats: number[];
  stages: { name: string; cycle: number }[];
  to: Known | null;
  from: Known | null;
  end: number | null;
}

/** Random traffic: requests in the mesh are handed to routers, each under its own address. */
function runTraffic(choose: (below: number) => number, cycles: number) {
  const all: Known[] = [];
  const frames: Frame[] = [];
  const catalogs: Record<string, number> = { mesh: MESH, 'mesh/r1': R1, 'mesh/r2': R2 };
  const live: Known[] = [];
  for (let cycle = 0; cycle < cycles; cycle++) {
    const items: Item[] = [];
    const busy = (network: string) => live.filter((one) => one.network === network).map(({ id }) => id);
    const start = (network: string, addr: number, used: readonly number[]): Known | null => {
      const free = [0, 1, 2, 3, 4, 5, 6, 7].filter((id) => !used.includes(id));
      if (free.length === 0) return null;
      const id = free[choose(free.length)]!;
      const one = { network, id, birth: cycle, addr, beats: [], stages: [], to: null, from: null, end: null };
      items.push(...begin(catalogs[network]!, id, addr));
      all.push(one);
      live.push(one);
      return one;
    };
    for (const one of [...live]) {
      if (one.birth === cycle || live.indexOf(one) < 0) continue;
      const dice = choose(8);
      if (dice === 0 && (one.network !== 'mesh' || one.to)) {
        one.end = cycle;
        items.push(clear(catalogs[one.network]!, one.id));
        live.splice(live.indexOf(one), 1);
      } else if (dice === 1 && one.network === 'mesh') {
        one.beats.push(cycle);
        items.push(mesh('beat', one.id, 1, 0));
      } else if (dice === 2 && one.network === 'mesh') {
        one.stages.push({ name: 'sent', cycle });
        items.push(mesh('stage_transition', one.id, 1));
      } else if (dice === 3 && one.network === 'mesh' && !one.to) {
        const network = choose(2) ? 'mesh/r1' : 'mesh/r2';
        const partner = start(network, one.addr, busy(network));
        if (!partner) continue;
        one.to = partner;
        partner.from = one;
        items.push(handoff(one.id, partner.id));
      }
    }
    if (choose(2)) start('mesh', 0x1000 + all.length, busy('mesh'));
    if (items.length > 0) frames.push(frame(cycle * PERIOD, ...items));
  }
  return { all, frames };
}

describe('against a model of random traffic', () => {
  const ref = (one: Known | null) => one && { network: one.network, id: one.id, birth: one.birth };
  const expected = (one: Known) => ({
    network: one.network,
    id: one.id,
    birth: one.birth,
    addr: one.addr,
    beats: one.beats,
    stages: one.stages,
    to: ref(one.to),
    from: ref(one.from),
    end: one.end,
  });
  const cycle = (time: bigint) => Number(time) / PERIOD;
  const found = (one: Transaction) => {
    const partner = (direction: string) => {
      const handed = one.handoffs.find((h) => h.direction === direction);
      return handed ? { network: handed.network, id: handed.id, birth: cycle(handed.birthPs!) } : null;
    };
    return {
      network: one.network,
      id: one.id,
      birth: cycle(one.birthPs!),
      addr: Number(one.addr),
      beats: one.beats.map(({ timePs }) => cycle(timePs)),
      stages: one.stages.map(({ name, timePs }) => ({ name, cycle: cycle(timePs) })),
      to: partner('to'),
      from: partner('from'),
      end: one.endPs === null ? null : cycle(one.endPs),
    };
  };

  it('gives the exact life of every transaction, whatever the range, the segments and the writer', {
    timeout: MANY_CASES_MS,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.infiniteStream(fc.nat(1_000_000)),
        fc.integer({ min: 1, max: 60 }),
        fc.integer({ min: 1, max: 12 }),
        fc.boolean(),
        fc.nat(60),
        fc.nat(60),
        async (dice, cycles, every, isForeign, a, b) => {
          const choose = (below: number): number => Number(dice.next().value) % below;
          const { all, frames } = runTraffic(choose, cycles);
          const spec = isForeign ? { session: null, checkpointsAfter: true, interleaved: false } : {};
          const trace = await open(build(frames, every, spec));
          const [from, to] = [Math.min(a, b), Math.max(a, b)];
          for (const network of ['mesh', 'mesh/r1']) {
            const own = all.filter((one) => one.network === network);
            expect((await collect(trace, network)).map(found)).toEqual(own.map(expected));
            const inRange = own.filter((one) => one.birth < to && (one.end === null || one.end >= from));
            const part = await collect(trace, network, { from, to, unit: 'cycles' });
            expect(part.map(({ id, birthPs }) => [id, cycle(birthPs!)])).toEqual(
              from === to ? [] : inRange.map(({ id, birth }) => [id, birth]),
            );
          }
        },
      ),
      { numRuns: 100 },
    );
  });
});
