/** Verilator models and the real daemon: what SystemVerilog says through the client is what the files hold. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTraceFile } from '../../sdk/src/reader/node.js';
import { decodeFile } from '../support/decode-file.js';
import { someOf } from '../support/effort.js';
import { BUILDS_MS, limitOfFile } from '../support/limits.js';
import { lacks } from '../support/needs.js';
import { BIN, buildSdk } from '../support/processes.js';

// Each design is built with Verilator.
limitOfFile(BUILDS_MS);

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const HERE = join(ROOT, 'test/dpi');
const LIBRARY = join(ROOT, 'dpi/build/libuscope_dpi');
const PACKAGES = ['uscope_pkg', 'uscope_cpu_pkg', 'uscope_noc_pkg'].map((name) =>
  join(ROOT, 'sv', `${name}.sv`),
);
const hasVerilator = spawnSync('verilator', ['--version']).status === 0;

let directory = '';

/** Verilates test/dpi/NAME.sv, runs it under `uscope run` with NAME.yaml; what it printed, by lines. */
function simulate(name: string, cycles: number, shared = false): string[] {
  verilate(name, shared);
  return simulateAgain(name, [String(cycles)], shared ? `${name}_shared` : name);
}

function verilate(name: string, shared: boolean): void {
  const build = join(directory, shared ? `${name}_shared` : name);
  const link = shared
    ? `-L${join(ROOT, 'dpi/build')} -Wl,-rpath,${join(ROOT, 'dpi/build')} -luscope_dpi`
    : `${LIBRARY}.a -lzmq -lpthread`;
  const sources = [...PACKAGES, join(HERE, `${name}.sv`), join(HERE, 'main.cpp')];
  const options = ['--cc', '--exe', '--build', '-Wall', '-Wno-DECLFILENAME', '--top-module', 'top'];
  const paths = [`+incdir+${join(ROOT, 'sv')}`, '--Mdir', build, '-LDFLAGS', link];
  execFileSync('verilator', [...options, ...paths, ...sources], { stdio: ['ignore', 'ignore', 'pipe'] });
}

/** The same model, built before, with other arguments for it and for `uscope run`. */
function simulateAgain(
  name: string,
  args: readonly string[],
  folder = name,
  more: readonly string[] = [],
): string[] {
  const build = join(directory, folder);
  const schema = join(HERE, `${name}.yaml`);
  const uscope = [
    BIN,
    'run',
    '--out',
    join(build, 'out'),
    '--schema',
    schema,
    '--checkpoint-interval',
    '100ns',
    ...more,
  ];
  const run = spawnSync(process.execPath, [...uscope, '--', join(build, 'Vtop'), ...args], {
    cwd: directory,
    encoding: 'utf8',
  });
  if (run.status !== 0) throw new Error(`${name} ended with ${run.status}:\n${run.stdout}${run.stderr}`);
  return run.stdout.trimEnd().split('\n');
}

const traceOf = (build: string, name: string): string => join(directory, build, 'out', `${name}.uscope`);

describe.skipIf(lacks('Verilator', hasVerilator))('SystemVerilog through DPI', () => {
  beforeAll(() => {
    buildSdk();
    execFileSync('make', ['-s', '-C', join(ROOT, 'dpi')], { stdio: ['ignore', 'ignore', 'pipe'] });
    directory = mkdtempSync(join(tmpdir(), 'uscope-dpi-'));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const builds = [['checkpoint', false] as const, ['checkpoint_shared', true] as const];
  it.each(someOf(1, builds))(
    '%s: the checkpoints hold what the RTL held, of three instances in three scopes',
    async (build, shared) => {
      const lines = simulate('checkpoint', 1000, shared);
      const starting = (word: string): string[] =>
        lines.filter((line) => line.startsWith(word)).map((line) => line.slice(word.length));
      const held = starting('held');
      expect(starting('asked').sort()).toEqual([...held].sort());
      expect(starting('rejected').map((line) => line.trim())).toEqual(['0', '0', '0']);
      expect(held.length).toBe(3 * 9);
      for (const core of [0, 1, 2]) {
        const path = traceOf(build, `core${core}`);
        const trace = await openTraceFile(path);
        const mine = held.map((line) => line.trim().split(' ').map(Number)).filter(([id]) => id === core);
        for (const [, time, ...values] of mine) {
          const state = await trace.stateAt(time + 500);
          const regs = Array.from({ length: 8 }, (_, slot) =>
            Number(state.slotField('core/regs', slot, 'value')),
          );
          const queue = Array.from({ length: 4 }, (_, slot) =>
            Number(state.slotField('core/queue', slot, 'value')),
          );
          expect([...regs, ...queue]).toEqual(values);
        }
        await trace.close();
        // Cut where the interval was crossed, and nowhere else.
        expect(decodeFile(path).segments.map(({ header }) => Number(header.timeStartPs))).toEqual(
          Array.from({ length: 10 }, (_, n) => n * 100_000),
        );
      }
    },
  );

  it('the cpu helper keeps the rules of the protocol, per core, across resets', async () => {
    const lines = simulate('cores', 3000);
    for (const core of [0, 1]) {
      const said = /born (\d+) retired (\d+) squashed (\d+) stalls (\d+) in_flight (\d+) rejected 0$/.exec(
        lines.filter((line) => line.startsWith(`core ${core} born`))[0] ?? '',
      );
      const [born, retired, squashed, stalls, inFlight] = (said ?? []).slice(1).map(Number);
      const seen = await lives(traceOf('cores', `core${core}`), `core${core}`);
      expect(seen.problems).toEqual([]);
      expect(seen.counts).toEqual({ born, retired, squashed, stalls, inFlight });
      expect(seen.committed).toBe(BigInt(retired));
      expect(seen.reasons).toEqual(new Set([0, 3])); // mispredict and pipeline_clear
    }
  });

  it('a test bench disables, enables and triggers, with a flight recorder', async () => {
    const lines = simulateAgain('cores', ['3000', '+control'], 'cores', ['--last', '2000cycles']);
    const skipped = lines.flatMap((line) => /^core 0 skipped (\d+)$/.exec(line)?.[1] ?? []).map(Number);
    expect(skipped[0]).toBeGreaterThan(100);
    const trace = await openTraceFile(traceOf('cores', 'core0'));
    const control = trace.names.event('uscope/control').eventTypeId;
    const marks: string[][] = [];
    for await (const event of trace.events(undefined, undefined, [control])) {
      const text = async (name: string): Promise<string> =>
        (await trace.strings.get(event.field(name)!)) ?? '';
      marks.push([`${event.timePs}`, `${event.field('action')}`, await text('subject'), await text('text')]);
    }
    const times = marks.map(([time]) => BigInt(time));
    expect(marks.map(([, ...rest]) => rest)).toEqual([
      ['2', 'core0', ''],
      ['3', 'core0', ''],
      ['4', '', 'half way'],
    ]);
    const inside = trace.names.storage('core0/entities').storageId;
    let recorded = 0;
    await trace.scan(
      { from: times[0], to: times[1] },
      {
        op: ({ storageId }) => {
          recorded += Number(storageId === inside);
        },
      },
    );
    expect(recorded).toBe(0);
    expect((await trace.stateAt(times[1] - 1n)).raw.occupancy(inside)).toBe(0);
    await trace.close();
    const triggered = await openTraceFile(traceOf('cores', 'core0.trigger-1'));
    expect(triggered.dutProperty('uscope.trigger')).toBe('half way');
    expect(triggered.totalTimePs).toBe(times[2]);
    await triggered.close();
    for (const name of ['core0', 'core0.trigger-1']) {
      const found = spawnSync(process.execPath, [BIN, 'verify', traceOf('cores', name)], {
        encoding: 'utf8',
      });
      expect(found.status, found.stdout).toBe(0);
    }
  });

  it('the noc helper: every call arrives', async () => {
    expect(simulate('network', 400).filter((line) => !line.startsWith('-'))).toEqual([
      'rejected 0 in_flight 0',
    ]);
    const trace = await openTraceFile(traceOf('network', 'noc'));
    const names = trace.schema.events.map(({ name }) => name);
    expect(names).toContain('control'); // the daemon's own, which nobody emits here
    const counts = Object.fromEntries(names.map((name) => [name, 0]));
    await trace.scan({}, { event: (cursor) => void counts[names[cursor.eventType]]++ });
    expect(counts).toEqual(Object.fromEntries(names.map((name) => [name, name === 'control' ? 0 : 100])));
    await trace.close();
  });
});

/** Reads a core's trace against the rules of the cpu protocol. */
async function lives(path: string, scope: string) {
  const trace = await openTraceFile(path);
  const id = (name: string): number => trace.names.storage(`${scope}/${name}`).storageId;
  const type = (name: string): number => trace.names.event(`${scope}/${name}`).eventTypeId;
  const [entities, rob, committedId] = [id('entities'), id('rob'), id('committed_insns')];
  const [stage, flush, stall, dependency] = ['stage_transition', 'flush', 'stall', 'dependency'].map(type);
  const live = new Map<number, { stages: number; flushed: boolean }>();
  const held = new Map<number, number>();
  const counts = { born: 0, retired: 0, squashed: 0, stalls: 0, inFlight: 0 };
  const reasons = new Set<number>();
  const problems: string[] = [];
  let ended = new Set<number>();
  let committed = 0n;
  const check = (good: boolean, text: string): void => void (good || problems.push(text));
  await trace.scan(
    {},
    {
      frame: () => {
        ended = new Set();
      },
      op: ({ storageId, action, slot, field, lo, value }) => {
        if (storageId === committedId) committed += value;
        else if (storageId === rob && field === 0 && action !== 4) {
          if (action === 2) check(held.delete(slot), `rob slot ${slot} is cleared while empty`);
          else {
            check(live.has(lo) && !held.has(slot), `rob slot ${slot} takes ${lo}`);
            held.set(slot, lo);
          }
        } else if (storageId === entities && action === 2) {
          const entity = live.get(slot);
          check(entity !== undefined, `entity ${slot} ends without having lived`);
          check(entity?.flushed === true || entity?.stages === 3, `entity ${slot} retires half way`);
          check(![...held.values()].includes(slot), `entity ${slot} ends inside the rob`);
          if (entity?.flushed) counts.squashed++;
          else counts.retired++;
          live.delete(slot);
          ended.add(slot);
        } else if (storageId === entities && field === 0) {
          check(!live.has(slot) && !ended.has(slot) && lo === slot, `entity ${slot} is born as ${lo}`);
          live.set(slot, { stages: 0, flushed: false });
          counts.born++;
        }
      },
      event: ({ eventType, payload }) => {
        const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
        if (eventType === stall) {
          counts.stalls++;
          return;
        }
        const entity = live.get(view.getUint32(0, true));
        check(entity !== undefined && !entity.flushed, `event ${eventType} names what does not live`);
        if (eventType === dependency) check(live.has(view.getUint32(4, true)), 'a consumer does not live');
        if (!entity) return;
        if (eventType === stage) check(payload[4] === entity.stages++, 'stages out of order');
        if (eventType === flush) {
          entity.flushed = true;
          reasons.add(payload[4]);
        }
      },
    },
  );
  await trace.close();
  counts.inFlight = live.size;
  return { counts, problems: problems.slice(0, 10), reasons, committed };
}
