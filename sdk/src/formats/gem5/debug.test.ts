/** Logs with lines of other debug flags, several threads and CPUs, and statistics; made by hand from the documented shapes of lines. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { contextOf } from '../../../../test/support/foreign.js';
import { memorySource, type Trace } from '../../reader/index.js';
import { openTraceFile } from '../../reader/node.js';
import { findCores, type Instruction } from '../../semantics/cpu/index.js';
import { instructions } from '../../semantics/instructions/instructions.js';
import { parseDebugLine } from './debug.js';
import { FORMAT, readStats } from './format.js';
import { Gem5Reader } from './log.js';
import { Windows } from './order.js';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-gem5-debug-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));
const opened: Trace[] = [];
afterEach(async () => {
  for (const trace of opened.splice(0)) await trace.close();
});

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The lines of an instruction: its stages one cycle of 500 ticks apart. */
function block(seq: number, fetch: number, options: { prefix?: string; squashed?: true; pc?: number } = {}) {
  const { prefix = '', squashed, pc = 0x1000 + 4 * seq } = options;
  const tick = (stage: number): number => (squashed && stage > 2 ? 0 : fetch + 500 * stage);
  return [
    `${prefix}O3PipeView:fetch:${fetch}:0x${pc.toString(16)}:0:${seq}:  op ${seq}`,
    ...['decode', 'rename', 'dispatch', 'issue', 'complete'].map(
      (name, index) => `${prefix}O3PipeView:${name}:${tick(index + 1)}`,
    ),
    `${prefix}O3PipeView:retire:${tick(6)}:store:0`,
  ];
}

const destination = (tick: number, seq: number, register: number, cpu = 'system.cpu') =>
  `${tick}: ${cpu}.rename: [tid:0]: Renaming arch reg 1 (IntRegClass) to physical reg ${register} (${register}). [sn:${seq}]`;
const source = (tick: number, seq: number, register: number, cpu = 'system.cpu') =>
  `${tick}: ${cpu}.rename: [tid:0]: Looking up IntRegClass arch reg 1, got phys reg ${register} (IntRegClass) [sn:${seq}]`;

async function convert(lines: readonly string[], options: Record<string, string> = {}) {
  const context = contextOf(options);
  const bytes = bytesOf(`${lines.join('\n')}\n`);
  const foreign = await FORMAT.open?.(memorySource(bytes, 'log'), context.options);
  if (!foreign) throw new Error('cannot be opened');
  const path = join(directory, 'out.uscope');
  rmSync(path, { force: true });
  await foreign.toUscope({ path }, context);
  const trace = await openTraceFile(path);
  opened.push(trace);
  const cores = new Map<string, Instruction[]>();
  for (const core of findCores(trace)) {
    const found: Instruction[] = [];
    for await (const one of instructions(trace, core)) found.push(one);
    cores.set(core.name, found);
  }
  const threads: bigint[] = [];
  await trace.scan(
    {},
    {
      op: ({ storageId, field, value }) => {
        if (trace.schema.storages[storageId].fields[field]?.name === 'thread_id') threads.push(BigInt(value));
      },
    },
  );
  const events: string[] = [];
  for await (const event of trace.events()) {
    if (!/mem_|dependency/.test(event.name)) continue;
    events.push(
      `${event.timePs} ${event.name.split('/').at(-1)} ${event.def.fields.map(({ name }) => event.field(name)).join(' ')}`,
    );
  }
  const rows = new Map(
    context.report.rows.map(({ fate, what, count }) => [`${fate} ${what}`, Number(count)]),
  );
  return { trace, cores, threads, events, rows, foreign, warnings: context.warnings };
}

describe('lines of other debug flags', () => {
  it.each([
    [
      '1500: system.cpu.rename: [tid:0]: Renaming arch reg 1 (IntRegClass) to physical reg 152 (152). [sn:10]',
      {
        tick: 1500,
        cpu: 'system.cpu',
        thread: 0,
        seq: 10,
        fact: { kind: 'destination', register: 'integer 152' },
      },
    ],
    [
      '5500: system.cpu1.rename: [tid:3] [sn:11] Looking up condition_code arch reg 1, got phys reg 152 (condition_code)',
      { cpu: 'system.cpu1', thread: 3, seq: 11, fact: { kind: 'source', register: 'condition 152' } },
    ],
    [
      '5500: system.cpu.rename: [tid:0]: Looking up invalid arch reg 1, got phys reg 0 (invalid) [sn:11]',
      { fact: { kind: 'named' } },
    ],
    [
      '4000: system.cpu.memDep0: Completed mem instruction [sn:10].',
      { seq: 10, fact: { kind: 'memory-done' } },
    ],
    [
      '4000: system.cpu.memDep0: Adding to dependency list; inst PC (0x1008=>0x100c).(0=>1) is dependent on [sn:9].',
      { seq: 9, fact: { kind: 'memory-order', on: 9, pc: 0x1008 } },
    ],
    [
      '4000: system.cpu.iew.lsq.thread0: Read called, load idx: 3, store idx: 1, storeHead: 0 addr: 0x80001000',
      {
        cpu: 'system.cpu',
        seq: null,
        fact: { kind: 'address', isStore: false, index: 3, address: 0x8000_1000n },
      },
    ],
    [
      '4000: system.cpu.iew.lsq.thread0: Doing write to store idx 2, addr 0xffffffffffffff00 | storeHead:1 [sn:7]',
      { seq: 7, fact: { kind: 'address', isStore: true, index: 2, address: 0xffff_ffff_ffff_ff00n } },
    ],
    ['900: system.cpu.rob: Squashing instruction [sn:12]', { seq: 12, fact: { kind: 'squash' } }],
    ['900: system.switch_cpus1.iq: Adding [sn:12]', { cpu: 'system.switch_cpus1', fact: { kind: 'named' } }],
    ['900: global: RegFile: Setting int register 125 to 0x4af000', null],
    ['900: system.membus: recvTimingReq', null],
    ['hello [sn:3]', null],
    ['900 system.cpu.rename: [sn:3]', null],
  ])('%s', (line, expected) => {
    if (expected === null) expect(parseDebugLine(line)).toBe(null);
    else expect(parseDebugLine(line)).toMatchObject(expected);
  });

  it('give dependencies, on those in flight alone', async () => {
    const { cores, events, rows } = await convert([
      // 1 writes p40; 2 reads p40 and p7, which nobody wrote; 3 reads p40 long after 1 has retired.
      destination(2000, 1, 40),
      source(2500, 2, 40),
      source(2500, 2, 7),
      ...block(1, 1000),
      ...block(2, 1500),
      source(10_000, 3, 40),
      ...block(3, 9000),
    ]);
    expect(cores.get('core0')?.map(({ pc }) => Number(pc))).toEqual([0x1004, 0x1008, 0x100c]);
    expect(events).toEqual(['2500 dependency 0 1 0']);
    expect(rows.get('kept dependencies')).toBe(1);
    expect(rows.get('approximated dependencies on instructions that had ended')).toBe(1);
    expect(rows.get('kept lines of other debug flags')).toBe(4);
  });

  it('may follow the instruction', async () => {
    const { events } = await convert([
      ...block(1, 1000),
      ...block(2, 1500),
      destination(2000, 1, 40),
      source(2500, 2, 40),
    ]);
    expect(events).toEqual(['2500 dependency 0 1 0']);
  });

  it('a register that another instruction renamed to since is of that one', async () => {
    const { events } = await convert([
      destination(2000, 1, 40),
      destination(2500, 2, 40),
      source(3000, 3, 40),
      ...block(1, 1000),
      ...block(2, 1500),
      ...block(3, 2000),
    ]);
    expect(events).toEqual(['3000 dependency 1 2 0']);
  });

  it('give addresses of loads and stores, by the place in the queue or by the number, and what loads wait for', async () => {
    const lsq = 'system.cpu.iew.lsq.thread0';
    const { events, rows } = await convert([
      `2500: ${lsq}: Inserting store PC (0x1004=>0x1008).(0=>1), idx:5 [sn:1]`,
      `3000: ${lsq}: Inserting load PC (0x1008=>0x100c).(0=>1), idx:9 [sn:2]`,
      '3000: system.cpu.memDep0: Adding to dependency list; inst PC (0x1008=>0x100c).(0=>1) is dependent on [sn:1].',
      `3000: ${lsq}: Doing write to store idx 5, addr 0x8000 | storeHead:4`,
      `3700: ${lsq}: Read called, load idx: 9, store idx: 5, storeHead: 4 addr: 0x8008`,
      '4000: system.cpu.memDep0: Completed mem instruction [sn:2].',
      `3800: ${lsq}: Read called, load idx: 77, store idx: 5, storeHead: 4 addr: 0x8008`,
      ...block(1, 1000),
      ...block(2, 1500),
    ]);
    expect(events).toEqual(['3000 mem_store 0 32768', '3000 dependency 0 1 3', '3700 mem_load 1 32776']);
    expect(rows.get('kept completions of memory accesses')).toBe(1);
    expect(rows.get('dropped other lines')).toBe(1);
  });

  it('give the time of a squash', async () => {
    const told = await convert([
      '2700: system.cpu.iq: Squashing instruction [sn:2]',
      '2900: system.cpu.rob: Squashed [sn:2]',
      ...block(1, 1000),
      ...block(2, 1500, { squashed: true }),
      ...block(3, 1500, { squashed: true }),
    ]);
    const ends = told.cores.get('core0')?.map(({ end, endPs }) => `${end} ${endPs}`);
    expect(ends).toEqual(['retired 4000', 'squashed 2900', 'squashed 2500']);
    expect(told.rows.get('kept times of squashes')).toBe(1);
    expect(told.rows.get('approximated times of squashes')).toBe(1);
  });

  it('threads are those of the lines', async () => {
    const { threads } = await convert([
      '1500: system.cpu.decode: [tid:1]: Processing instruction [sn:2]',
      ...block(1, 1000),
      ...block(2, 1500),
    ]);
    expect(threads).toEqual([0n, 1n]);
  });

  it('what no instruction claims is counted', async () => {
    const { rows } = await convert([destination(2000, 99, 40), 'program output', '', ...block(1, 1000)]);
    expect(rows.get('dropped lines of other debug flags about instructions without a fetch')).toBe(1);
    expect(rows.get('dropped other lines')).toBe(2);
  });
});

describe('several CPUs', () => {
  it('are told apart by what their lines begin with', async () => {
    const { cores, foreign } = await convert([
      ...block(1, 1000, { prefix: 'system.cpu10: ' }),
      ...block(1, 1000, { prefix: 'system.cpu2: ', pc: 0x2000 }),
      ...block(2, 1500, { prefix: '777: system.cpu10: ' }),
    ]);
    expect([...cores].map(([name, found]) => [name, found.map(({ pc }) => Number(pc))])).toEqual([
      ['core0', [0x2000]],
      ['core1', [0x1004, 0x1008]],
    ]);
    const [section] = await foreign.info(contextOf());
    expect(Object.fromEntries(section?.rows ?? [])).toMatchObject({ CPUs: 'system.cpu2 system.cpu10' });
  });

  it('or by the number and the tick of the renaming', async () => {
    const { cores, rows, events } = await convert(
      [
        destination(2000, 1, 40, 'system.cpu0'),
        destination(2500, 1, 40, 'system.cpu1'),
        source(3000, 2, 40, 'system.cpu1'),
        source(9000, 5, 40, 'system.cpu0'),
        ...block(1, 1500, { pc: 0x2000 }),
        ...block(1, 1000),
        ...block(2, 2000),
        ...block(4, 2500),
      ],
      { core: 'hart' },
    );
    expect([...cores].map(([name, found]) => [name, found.map(({ pc }) => Number(pc))])).toEqual([
      ['hart0', [0x1004, 0x1010]],
      ['hart1', [0x2000, 0x1008]],
    ]);
    expect(events).toEqual(['3000 dependency 0 1 0']);
    expect(rows.get('approximated instructions of an unknown CPU')).toBe(1);
  });

  it('a line of another one inside an instruction is refused', async () => {
    const lines = block(1, 1000, { prefix: 'system.cpu0: ' });
    lines[3] = lines[3].replace('cpu0', 'cpu1');
    await expect(convert(lines)).rejects.toMatchObject({ code: 'CONVERT_FORMAT' });
  });
});

describe('the lines of O3PipeView', () => {
  const read = async (text: string) => {
    const reader = new Gem5Reader(memorySource(bytesOf(text), 'log'));
    const found = [];
    for await (const batch of reader.batches()) found.push(...batch);
    return { found, unknown: reader.unknown.count };
  };

  it.each([
    ['retire:5000', { ticks: [1000, 1500, 2000, 2500, 3000, 3500, 5000], storeTick: 0 }],
    ['retire:5000:store:6000\r', { storeTick: 6000 }],
    ['retire: 5000 ', { isWhole: true }],
    ['retire:5000:store:', null],
    ['retire:5000:stare:6', null],
    ['retires:5000', null],
    ['walk:5000', null],
    ['retire:', null],
    ['retire:1234567890123456', null],
    ['', null],
  ])('the last line of an instruction is %j', async (line, expected) => {
    const lines = [...block(1, 1000).slice(0, -1), `O3PipeView:${line}`, ...block(2, 9000)];
    const { found, unknown } = await read(`${lines.join('\n')}\n`);
    expect(unknown).toBe(expected ? 0 : 1);
    expect(found).toMatchObject([expected ?? { isWhole: false }, { seq: 2n, isWhole: true }]);
  });

  it.each([
    ['10:0xABCdef:3:12:   a : b   ', { pc: 0xabcdefn, microPc: 3, seq: 12n, disassembly: 'a : b' }],
    ['10:0xfedcba9876543210:0:1: nop', { pc: 0xfedcba9876543210n }],
    ['10:0x4:0:18446744073709551615: nop', { seq: 18446744073709551615n }],
    ['10:0x4:0:18446744073709551616: nop', null],
    ['10: 0x4 : 0 : 1 : nop', { pc: 4n, seq: 1n, disassembly: 'nop' }],
    ['10:0x4:0:1:', { disassembly: '' }],
    ['10:0x4:0:1: \u00fc', { disassembly: '\u00fc' }],
    ['10:0x:0:1: nop', null],
    ['10:4:0:1: nop', null],
    ['10:', null],
    ['10:0x4:0:1', null],
    ['10:0x0123456789abcdef0:0:1: nop', null],
  ])('a fetch is %j', async (line, expected) => {
    const whole = ['decode:20', 'rename:30', 'dispatch:40', 'issue:50', 'complete:60', 'retire:70'];
    const lines = [...block(7, 5), `O3PipeView:fetch:${line}`, ...whole.map((one) => `O3PipeView:${one}`)];
    const { found, unknown } = await read(`${lines.join('\n')}\n`);
    // Without its fetch none of the others says whose it is.
    expect(unknown).toBe(expected ? 0 : 7);
    expect(found).toMatchObject([{ seq: 7n }, ...(expected ? [{ ...expected, isWhole: true }] : [])]);
  });
});

describe('windows', () => {
  it('never say that fewer are in flight than are, and stay few', () => {
    const windows = new Windows();
    let [now, most] = [0, 0];
    const ends: number[] = [];
    for (let n = 0; n < 4000; n++) {
      const end = n + 5 + ((n * 7919) % 90);
      windows.add(n, end);
      ends.push(end);
    }
    for (let tick = 0; tick < 4000; tick++) {
      now = ends.filter((end, start) => start <= tick && end >= tick).length;
      most = Math.max(most, now);
    }
    expect(windows.mostInFlight).toBeGreaterThanOrEqual(most);
    expect(windows.mostInFlight).toBeLessThan(most + 3 * windows.size);
    expect(windows.leastFrom[1]).toBe(windows.size);
  });
});

const STATS = `
---------- Begin Simulation Statistics ----------
finalTick                                      3000                       # Number of ticks (Tick)
simSeconds                                 0.000003                       # Number of seconds simulated (Second)
system.cpu.numCycles                             12                       # Number of cpu cycles simulated (Cycle)
system.cpu.commit.type::total                     5      50.00%     50.00% # words
system.cpu.ipc                                  nan                       # words
---------- End Simulation Statistics   ----------

---------- Begin Simulation Statistics ----------
finalTick                                      9000
system.cpu.numCycles                              4
system.cpu.commit.type::total                     9
---------- End Simulation Statistics   ----------
`;

describe('stats.txt', () => {
  const read = (text: string) => readStats(memorySource(bytesOf(text), 'stats.txt'));

  it('becomes counters at the ticks of its dumps', async () => {
    const stats = join(directory, 'stats.txt');
    writeFileSync(stats, STATS);
    const { trace, rows } = await convert([...block(1, 1000), ...block(2, 5000)], { stats });
    const counters = trace.schema.storages.filter(({ name }) => /cpu/.test(name)).map(({ name }) => name);
    expect(counters).toEqual(['system.cpu.numCycles', 'system.cpu.commit.type.total']);
    const at = async (timePs: bigint) => {
      const state = await trace.stateAt(timePs);
      return counters.map((name) => Number(state.slotField(`stats/${name}`, 0, 'count')));
    };
    expect([await at(2999n), await at(3000n), await at(8999n), await at(9000n)]).toEqual([
      [0, 0],
      [12, 5],
      [12, 5],
      [4, 9],
    ]);
    expect(rows.get('kept values of stats.txt')).toBe(6);
    expect(rows.get('dropped values of stats.txt that are not whole numbers')).toBe(2);
  });

  it.each([
    ['hello\n', 'CONVERT_UNKNOWN'],
    [STATS.slice(0, 200), 'CONVERT_TRUNCATED'],
    [STATS.replace('finalTick                                      9000', ''), 'CONVERT_FORMAT'],
    [STATS.replace('9000', '2000'), 'CONVERT_FORMAT'],
    [STATS.replace(/-+ End.*-+/, ''), 'CONVERT_FORMAT'],
  ])('%#: %s', async (text, code) => {
    await expect(read(text)).rejects.toMatchObject({ code, place: { file: 'stats.txt' } });
  });

  it('lines of another form are counted', async () => {
    expect((await read(STATS.replace('system.cpu.numCycles ', 'system.cpu numCycles '))).otherLines).toBe(1);
  });
});
