/** Several cores on one memory: the program's results, every trace against RTL and reference, and what is made of the traces. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Trace } from '../sdk/src/reader/index.js';
import { openTraceFile } from '../sdk/src/reader/node.js';
import { findNetworks, transactions } from '../sdk/src/semantics/noc/index.js';
import { BUILDS_MS, limitOfFile } from '../test/support/limits.js';
import { lacks } from '../test/support/needs.js';
import { type AuditResult, auditTrace, compareWithReport, type Instruction } from './lib/audit.mjs';
import { parseHex } from './lib/image.js';
import { isAtomic } from './lib/instruction.js';
import { readListing } from './lib/listing.js';
import { MultiReplay } from './lib/multi-replay.js';
import { auditNoc, compareNocWithReport, type NocAuditResult, type Performed } from './lib/noc-audit.mjs';
import { DEMO, FAST_BUILD, make, type SocReport, TESTS } from './lib/simulator.js';

// The cores are built with Verilator.
limitOfFile(BUILDS_MS);

const ROOT = dirname(DEMO.replace(/\/$/, ''));
const CYCLE = 1000;
const ECALL = 11;
const SIMULATOR = join(DEMO, `obj_dir_soc_${TESTS}/Vsoc`);
const PARALLEL = join(DEMO, 'firmware/parallel');
const image = parseHex(readFileSync(join(PARALLEL, 'parallel.hex'), 'utf8'));

interface Traced {
  readonly folder: string;
  readonly stdout: string;
  readonly report: SocReport;
  readonly audits: readonly AuditResult[];
  readonly instructions: readonly (readonly Instruction[])[];
  readonly noc: NocAuditResult;
}

let out = '';
const runs = new Map<number, Traced>();
const traced = (cores: number): Traced => runs.get(cores)!;

beforeAll(async () => {
  make('soc', ...FAST_BUILD);
  if (!existsSync(join(ROOT, 'sdk/dist/cli/main.js'))) {
    spawnSync('npm', ['run', 'build', '-w', 'sdk'], { cwd: ROOT, stdio: 'inherit' });
  }
  out = mkdtempSync(join(tmpdir(), 'uscope-soc-'));
  for (const cores of [2, 4]) runs.set(cores, await trace(cores));
});

afterAll(() => rmSync(out, { recursive: true, force: true }));

/** Runs the demo and reads every trace it has made. */
async function trace(cores: number): Promise<Traced> {
  const folder = join(out, `cores${cores}`);
  const args = [join(DEMO, 'demo.mjs'), '--build', TESTS, '--cores', String(cores), '--out', folder];
  const demo = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: BUILDS_MS });
  if (demo.status !== 0)
    throw new Error(`the demo failed with status ${demo.status}:\n${demo.stdout}\n${demo.stderr}`);
  const report = JSON.parse(readFileSync(join(folder, 'report.json'), 'utf8')) as SocReport;
  const audits: AuditResult[] = [];
  const instructions: Instruction[][] = [];
  for (let core = 0; core < cores; core++) {
    const found: Instruction[] = [];
    const name = `core${core}`;
    audits.push(
      await reading(join(folder, `${name}.uscope`), (file) =>
        auditTrace(file, (instruction) => found.push(instruction), name),
      ),
    );
    instructions.push(found);
  }
  const noc = await reading(join(folder, 'noc.uscope'), (file) => auditNoc(file));
  return { folder, stdout: demo.stdout, report, audits, instructions, noc };
}

async function reading<T>(path: string, read: (trace: Trace) => Promise<T>): Promise<T> {
  const file = await openTraceFile(path);
  try {
    return await read(file);
  } finally {
    await file.close();
  }
}

describe('the program of several cores', () => {
  it.each([1, 2, 3, 4])('comes to the same result on %i of the four cores as on the host', (cores) => {
    const { status, stdout, stderr } = spawnSync(SIMULATOR, ['+notrace', `+cores=${cores}`], {
      encoding: 'utf8',
      timeout: BUILDS_MS,
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toContain(`passed: ${cores} cores`);
  });

  it.each([
    ['+cores=5', 'there are 4 cores'],
    ['+cores=0', 'a positive number is needed'],
    ['+cores=two', 'a positive number is needed'],
    ['+trace=core0', 'unknown argument'],
  ])('refuses %s with status 2', (argument, message) => {
    const run = spawnSync(SIMULATOR, ['+notrace', argument], { encoding: 'utf8' });
    expect(run.status).toBe(2);
    expect(run.stderr).toContain(message);
  });

  it('is what was made from the sources next to the image', () => {
    const makefile = readFileSync(join(PARALLEL, 'Makefile'), 'utf8');
    const sources = /^SOURCES := (.+)$/m.exec(makefile)![1]!.split(' ');
    const hash = createHash('sha256');
    for (const name of [...sources, 'parallel.h', 'sync.h', '../link.ld', 'Makefile'])
      hash.update(readFileSync(join(PARALLEL, name)));
    const hex = readFileSync(join(PARALLEL, 'parallel.hex'), 'utf8');
    expect(/^\/\/ sources: (.+)$/m.exec(hex)?.[1]).toBe(hash.digest('hex'));
  });

  it.skipIf(lacks('the RISC-V compiler of the checked-in programs', hasCompiler()))(
    'is what its compiler makes of them',
    () => {
      execFileSync('make', ['-C', PARALLEL, `BUILD=${join(out, 'parallel')}`, 'check'], { stdio: 'pipe' });
    },
  );
});

describe.each([2, 4])('the traces of %i cores', (cores) => {
  it('belong to one run and say which core they are of', async () => {
    const { folder } = traced(cores);
    const names = [...Array.from({ length: cores }, (_, core) => `core${core}`), 'noc'];
    const found = [];
    for (const name of names) {
      found.push(
        await reading(join(folder, `${name}.uscope`), async ({ session, isComplete, warnings, schema }) => ({
          run: Buffer.from(session!.runId).toString('hex'),
          core: session!.coreIndex,
          sound: isComplete && warnings.length === 0 && session!.lost === 0n && session!.rejected === 0n,
          scope: schema.scopes[1]!.name,
        })),
      );
    }
    expect(new Set(found.map(({ run }) => run)).size).toBe(1);
    expect(found.map(({ core }) => core)).toEqual(
      [...names.keys()].map((core) => (core < cores ? core : 0xffff_ffff)),
    );
    expect(found.map(({ scope }) => scope)).toEqual(names);
    expect(found.every(({ sound }) => sound)).toBe(true);
    expect(existsSync(join(folder, `core${cores}.uscope`))).toBe(false);
  });

  it('each count what their core counted, to its last cycle and register', () => {
    const { audits, report } = traced(cores);
    audits.forEach((audit, core) => {
      expect([core, compareWithReport(audit, report.cores[core]!)]).toEqual([core, []]);
      expect(audit.frames).toBe(Number(report.cores[core]!.counters.cycles) + 1);
    });
  });

  it('show an interconnect that keeps its rules and counts what it counted itself', () => {
    const { noc, report } = traced(cores);
    expect(compareNocWithReport(noc, report)).toEqual([]);
    expect(noc.completed).toBe(noc.born);
    expect(noc.born).toBeGreaterThan(1000);
    // What the harts wanted: one request for each line, store and atomic operation.
    report.cores.forEach(({ counters, port }, core) => {
      const { icache_misses, dcache_misses, stores, atomics } = counters;
      expect([core, port.lines]).toEqual([core, String(Number(icache_misses) + Number(dcache_misses))]);
      expect([core, port.atomics]).toEqual([core, atomics]);
      // Core 0 stores into its devices, too.
      if (core > 0) expect([core, port.writes]).toEqual([core, stores]);
    });
  });

  it('follow as many reference machines on one RAM: instructions, registers, stores, atomic operations', () => {
    const { instructions, noc, report } = traced(cores);
    const replay = new MultiReplay(image, cores, CYCLE);
    replay.follow(instructions, noc.performed);
    expect(replay.mismatch).toBeNull();
    replay.replays.forEach(({ machine, steps }, core) => {
      const { counters, registers, pc } = report.cores[core]!;
      expect(steps).toBe(Number(counters.committed_insns) + 1);
      expect([...machine.registers]).toEqual(registers);
      expect(machine.stop).toMatchObject({ pc, cause: ECALL });
      expect(String(machine.counts.atomics)).toBe(counters.atomics);
    });
    expect(replay.replays[0]!.machine.result).toBe(report.expected);
  });

  it('are merged into one sound file with a scope for each', async () => {
    const { folder, audits, noc } = traced(cores);
    const soc = join(folder, 'soc.uscope');
    // The demo has run `uscope verify` on it.
    await reading(soc, async (whole) => {
      const inside = await auditNoc(whole);
      expect(inside.problems).toEqual([]);
      expect(inside.performed.map(place)).toEqual(noc.performed.map(place));
      const state = await whole.stateAt(whole.totalTimePs);
      audits.forEach(({ counters }, core) => {
        for (const [name, value] of Object.entries(counters))
          expect([core, name, state.slotField(`core${core}/${name}`, 0, 'count')]).toEqual([
            core,
            name,
            value,
          ]);
      });
    });
  });

  it('are summed up side by side', () => {
    const { stdout, report } = traced(cores);
    expect(stdout).toContain(`${Number(report.cycles).toLocaleString('en-US')} cycles`);
    for (let core = 0; core < cores; core++) expect(stdout).toMatch(new RegExp(`^ +core${core} `, 'm'));
    expect(stdout).toContain('equal the cores’ own');
    expect(stdout).toContain('`uscope verify` finds no error in it');
    // What it says one may try next works.
    const tries = [...stdout.matchAll(/^ {2}node \S+uscope\.js (.+)$/gm)].map(([, line]) => line!.split(' '));
    expect(tries.length).toBe(5);
    for (const args of tries.filter(([verb]) => verb !== 'stats')) {
      const cli = join(ROOT, 'sdk/bin/uscope.js');
      const run = spawnSync(process.execPath, [cli, ...args], { encoding: 'utf8' });
      expect({ args, status: run.status, stderr: run.stderr }).toEqual({ args, status: 0, stderr: '' });
      expect(run.stdout.trim().split('\n').length).toBeGreaterThan(1);
    }
  });
});

describe('four cores and one memory', () => {
  it('meet each other: lines taken away, reservations lost, locks fought for, queues that are full', () => {
    const { report } = traced(4);
    const sum = (name: string): number =>
      report.cores.reduce((total, { port }) => total + Number(port[name]), 0);
    expect(sum('invalidations')).toBeGreaterThan(500);
    expect(sum('sc_failures')).toBeGreaterThan(10);
    expect(sum('retries')).toBeGreaterThan(10);
    for (const { counters } of report.cores) expect(Number(counters.stalls_atomic)).toBeGreaterThan(100);
  });

  it('are served in turn: nobody is granted twice while another waits, and waiting is bounded', () => {
    const { noc } = traced(4);
    // The audit checks each decision against the queues; what follows is that three others at most come before the oldest.
    const longest = 8;
    for (const { maxWait } of noc.ports) expect(maxWait).toBeLessThanOrEqual(3 * 4 * longest);
  });

  it('answer the command line core by core, merged as alone', () => {
    const { folder, report } = traced(4);
    const soc = join(folder, 'soc.uscope');
    const alone = join(folder, 'core3.uscope');
    const uscope = (...args: string[]): string => {
      const cli = join(ROOT, 'sdk/bin/uscope.js');
      const run = spawnSync(process.execPath, [cli, ...args], { encoding: 'utf8' });
      expect({ args, status: run.status, stderr: run.stderr }).toEqual({ args, status: 0, stderr: '' });
      return run.stdout;
    };
    const retired = (...args: string[]): number[] =>
      JSON.parse(uscope('stats', ...args, '--points', '0', '--json')).cores.map(
        (core: { instructions: { retired: number } }) => core.instructions.retired,
      );
    const expected = report.cores.map(({ counters }) => Number(counters.committed_insns));
    expect(retired(soc)).toEqual(expected);
    expect(retired(soc, '--core', 'core3')).toEqual([expected[3]]);
    expect(retired(alone)).toEqual([expected[3]]);
    const range = ['--core', 'core3', '--cycles', '20000:20020', '--json'];
    const timeline = uscope('timeline', soc, ...range);
    expect(timeline).toBe(uscope('timeline', alone, ...range));
    expect(timeline.trim().split('\n').length).toBeGreaterThan(5);
    const counters = JSON.parse(uscope('counters', soc, '--core', 'core3', '--json')).counters as {
      counter: string;
      end: string;
    }[];
    expect(
      Object.fromEntries(counters.map(({ counter, end }) => [counter.replace('core3/', ''), end])),
    ).toMatchObject(report.cores[3]!.counters);
  });

  it('get done sooner than two', () => {
    expect(Number(traced(4).report.cycles)).toBeLessThan(Number(traced(2).report.cycles));
  });

  it('annotate atomic operations, like all the others, as objdump does', async () => {
    const { folder, instructions } = traced(4);
    const listing = readListing('firmware/parallel/parallel.lst');
    const texts = new Map(instructions[2]!.map((one) => [one.pc, one]));
    await reading(join(folder, 'core2.uscope'), async ({ strings }) => {
      await strings.load([...texts.values()].map(({ text }) => text));
      const atomics = [];
      for (const [pc, { text, inst_bits }] of texts) {
        const address = pc.toString(16).padStart(8, '0');
        const known = listing.get(address);
        if (known?.word === inst_bits) expect(strings.peek(text)).toBe(`${address}: ${known.text}`);
        if (known && isAtomic(inst_bits)) atomics.push(known.text.split('.')[0]);
      }
      expect(new Set(atomics)).toEqual(new Set(['lr', 'sc', 'amoadd', 'amoswap', 'amoxor']));
    });
  });

  it('leave transactions that the noc layer understands, handed over to memory', async () => {
    const { folder, noc } = traced(4);
    await reading(join(folder, 'noc.uscope'), async (file) => {
      const networks = findNetworks(file);
      expect(networks.map(({ name }) => name)).toEqual(['noc', 'noc/memory']);
      let seen = 0;
      for await (const one of transactions(file, networks[0]!)) {
        seen++;
        const to = one.handoffs.filter(({ direction }) => direction === 'to');
        expect(to.length).toBe(1);
        expect(one.arbitrations.length).toBe(1);
        const names = one.stages.map(({ name }) => name);
        expect(names.slice(0, 3)).toEqual(['request', 'queue', 'memory']);
      }
      expect(seen).toBe(noc.born);
    });
  });
});

const threaded = join(DEMO, 'obj_dir_soc_threads2/Vsoc');
describe.skipIf(lacks('make soc THREADS=2', existsSync(threaded)))(
  'a simulator with two threads (make soc THREADS=2)',
  () => {
    it('writes the same traces, item by item, while two cores are traced at once', async () => {
      make('soc', 'THREADS=2');
      const folder = join(out, 'threads2');
      const args = [join(DEMO, 'demo.mjs'), '--cores', '4', '--threads', '2', '--out', folder];
      const demo = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: BUILDS_MS });
      expect({ status: demo.status, stderr: demo.status === 0 ? '' : demo.stderr }).toEqual({
        status: 0,
        stderr: '',
      });
      for (const name of ['core0', 'core1', 'core2', 'core3', 'noc']) {
        const both = [join(traced(4).folder, `${name}.uscope`), join(folder, `${name}.uscope`)];
        const [alone, together] = await Promise.all(both.map((path) => reading(path, digest)));
        expect([name, together]).toEqual([name, alone]);
      }
    });

    /** Of every item, with its time and its texts. */
    async function digest(file: Trace): Promise<string> {
      const hash = createHash('sha256');
      const number = new BigUint64Array(2);
      await file.scan(
        {},
        {
          frame: ({ timePs }) => hash.update(`@${timePs}`),
          op: ({ storageId, action, slot, field, value }) => {
            number[0] =
              (BigInt(storageId) << 48n) | (BigInt(action) << 40n) | (BigInt(slot) << 16n) | BigInt(field);
            number[1] = value;
            hash.update(number);
          },
          event: ({ eventType, payload }) => hash.update(`${eventType}:`).update(payload),
        },
      );
      const strings = [...Array(await file.strings.count()).keys()];
      await file.strings.load(strings);
      for (const index of strings) hash.update(`${file.strings.peek(index)}\n`);
      return hash.digest('hex');
    }
  },
);

describe('the check of the interconnect', () => {
  /** Audits the trace of two cores with one item left out: the nth that `pick` picks. */
  async function without(
    pick: (item: { event?: number; clears?: number }) => boolean,
    nth: number,
  ): Promise<readonly string[]> {
    return reading(join(traced(2).folder, 'noc.uscope'), async (file) => {
      let seen = 0;
      const isIt = (item: { event?: number; clears?: number }): boolean => pick(item) && seen++ === nth;
      const spoiled = {
        names: file.names,
        schema: file.schema,
        clockOf: file.clockOf.bind(file),
        scan: ((range, visitor) =>
          file.scan(range, {
            frame: (cursor) => visitor.frame?.(cursor),
            op: (cursor) => {
              if (!isIt(cursor.action === 2 ? { clears: cursor.storageId } : {})) visitor.op?.(cursor);
            },
            event: (cursor) => {
              if (!isIt({ event: cursor.eventType })) visitor.event?.(cursor);
            },
          })) as Trace['scan'],
      };
      const audit = await auditNoc(spoiled);
      return compareNocWithReport(audit, traced(2).report);
    });
  }

  it('misses nothing when nothing is left out', async () => {
    expect(await without(() => false, 0)).toEqual([]);
  });

  it.each([
    ['arb_decision', /a grant|has not won|transactions: grants/],
    ['stage_transition', /enters|waited|ends in stage/],
    ['retry', /waited at its port/],
    ['link_credit', /credits/],
    ['txn_handoff', /ends before memory|belongs to no/],
    ['memory/beat', /beat/],
  ])('misses an event %s', async (name, complaint) => {
    const type = await reading(join(traced(2).folder, 'noc.uscope'), (file) =>
      Promise.resolve(file.names.event(`noc/${name}`).eventTypeId),
    );
    expect((await without(({ event }) => event === type, 1)).join('\n')).toMatch(complaint);
  });

  it('misses the end of a transaction', async () => {
    const storage = await reading(join(traced(2).folder, 'noc.uscope'), (file) =>
      Promise.resolve(file.names.storage('noc/transactions').storageId),
    );
    expect((await without(({ clears }) => clears === storage, 5)).join('\n')).toMatch(
      /while it lives|never end/,
    );
  });
});

describe('the reference machines', () => {
  /** Follows the run of two cores with one thing changed. */
  function spoil(
    changeInstructions: (all: Instruction[][]) => void,
    changePerformed: (all: Performed[]) => Performed[] = (all) => all,
  ): string | undefined {
    const { instructions, noc } = traced(2);
    const all = instructions.map((own) => [...own]);
    changeInstructions(all);
    const replay = new MultiReplay(image, 2, CYCLE);
    replay.follow(all, changePerformed([...noc.performed]));
    return replay.mismatch?.what;
  }
  const nothing = (): void => {};

  it('see what does not belong to the run', () => {
    expect(spoil(nothing)).toBeUndefined();
    const isStore = ({ opcode }: Performed): boolean => opcode === 'write';
    expect(spoil(nothing, (all) => all.filter((one) => one !== all.filter(isStore)[100]))).toBe(
      'store performed',
    );
    expect(spoil(nothing, (all) => [...all, { ...all.at(-1)!, opcode: 'amo' }])).toBe(
      'atomic operations of no instruction',
    );
    const changed = (
      pick: (instruction: Instruction) => boolean,
      change: Partial<Instruction>,
    ): string | undefined =>
      spoil((all) => {
        const at = all[1]!.findIndex(
          (instruction, index) => index > 5000 && instruction.isRetired && pick(instruction),
        );
        all[1]![at] = { ...all[1]![at]!, ...change };
      });
    expect(changed(({ inst_bits }) => isAtomic(inst_bits), { write: { rd: 0, value: 0 } })).toMatch(
      /written$/,
    );
    expect(
      changed(({ inst_bits }) => isAtomic(inst_bits), { enteredAt: [0, 1, 2, 3, 4].map((n) => n * CYCLE) }),
    ).toBe('cycle of the atomic operation');
  });

  it('see that a store reached memory later than the trace says', () => {
    // The store by which one core lets another go: taken as performed only at the end, the other reads an old value.
    const { noc } = traced(2);
    const from = noc.performed.findIndex(({ opcode, port }) => opcode === 'write' && port === 0);
    const late = noc.performed.at(-1)!.cycle;
    const delayed = (all: Performed[]): Performed[] => [
      ...all.filter(({ opcode, port }, index) => index < from || opcode !== 'write' || port !== 0),
      ...all
        .filter(({ opcode, port }, index) => index >= from && opcode === 'write' && port === 0)
        .map((one) => ({ ...one, cycle: late })),
    ];
    expect(spoil(nothing, delayed)).toBeDefined();
  });
});

const place = ({ cycle, port, opcode, addr }: Performed): string => `${cycle} ${port} ${opcode} ${addr}`;

function hasCompiler(): boolean {
  const hex = readFileSync(join(PARALLEL, 'parallel.hex'), 'utf8');
  const version = /^\/\/ compiler: (.+)$/m.exec(hex)?.[1];
  const run = spawnSync('riscv64-unknown-elf-gcc', ['-dumpversion'], { encoding: 'utf8' });
  return run.status === 0 && run.stdout.trim() === version;
}
