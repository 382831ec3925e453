import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { startRangeServer } from '../../../test/support/range-server.js';
import { analyze, build, generator, type Recorded, record } from '../../../test/support/recorded-run.js';
import { runUscope } from '../../../test/support/run-cli.js';
import { memorySource, openTrace } from '../reader/index.js';
import { parseSchema } from '../schema/index.js';
import { type CoreReport, findCore, InstructionEnd } from '../semantics/cpu/index.js';
import { instructions } from '../semantics/instructions/instructions.js';
import { TraceWriter } from '../writer/index.js';
import { loadEngine, SqlSession } from './index.js';
import { StagedRun } from './publish.js';

// Traces are exported, and DuckDB is asked.
limitOfFile(MANY_CASES_MS);

const directory = mkdtempSync(join(tmpdir(), 'uscope-dataset-'));
const dataset = join(directory, 'dataset');
let recorded: Recorded;
let bytes: Uint8Array;
let report: CoreReport;

afterAll(() => rmSync(directory, { recursive: true, force: true }));

function writeRun(run: string, content: Uint8Array): string {
  const path = join(directory, run, 'core0.uscope');
  mkdirSync(join(directory, run), { recursive: true });
  writeFileSync(path, content);
  return path;
}

const exported = (...args: string[]) => runUscope(['export', ...args, '-o', dataset]);

async function rowsOf(question: string, source = dataset): Promise<Record<string, unknown>[]> {
  const { status, out, err } = await runUscope(['sql', source, question, '--json']);
  expect(err).toBe('');
  expect(status).toBe(0);
  return JSON.parse(out) as Record<string, unknown>[];
}

/** Every file of a dataset with its bytes. */
function contentOf(root: string): Map<string, string> {
  const names = readdirSync(root, { recursive: true, withFileTypes: true });
  return new Map(
    names
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        return [path.slice(root.length), readFileSync(path).toString('base64')];
      }),
  );
}

beforeAll(async () => {
  recorded = record(generator(1), 400);
  bytes = build(recorded.frames, 40);
  report = await analyze(bytes, {});
  writeRun('runA', bytes);
  const { status, out } = await exported(join(directory, 'runA'), '--tag', 'commit=abc');
  expect(status).toBe(0);
  expect(out).toBe(`runA: 1 core, ${report.instructions.fetched} instructions\n`);
});

describe('an exported trace', () => {
  it('has the instructions that the reader counts, in order of birth', async () => {
    const [row] = await rowsOf(`select count(*) as n, count(*) filter (outcome = 'retired') as retired,
      count(*) filter (outcome = 'squashed') as squashed, sum((seq < before)::int) as unordered
      from (select *, lag(seq) over () as before from instructions)`);
    const { fetched, retired, squashed } = report.instructions;
    expect(fetched).toBeGreaterThan(50);
    expect(row).toEqual({ n: fetched, retired, squashed, unordered: 0 });
  });

  it('has the stages of each instruction as the reader has them', async () => {
    const trace = await openTrace(memorySource(bytes));
    const core = findCore(trace);
    const expected: unknown[] = [];
    for await (const { seq, stages, end, endPs } of instructions(trace, core)) {
      const cycle = (timePs: bigint): number => Number(timePs / core.periodPs);
      const row: Record<string, number | null> = { seq: Number(seq) };
      for (const [index, name] of core.stages.entries()) {
        const first = stages.find(({ stage }) => stage === index);
        let spent: number | null = first ? 0 : null;
        stages.forEach(({ stage, timePs }, at) => {
          const left = stages[at + 1]?.timePs ?? endPs;
          if (stage === index)
            spent = left === null || spent === null ? null : spent + cycle(left) - cycle(timePs);
        });
        row[`${name}_cycle`] = first ? cycle(first.timePs) : null;
        row[`${name}_cycles`] = spent;
      }
      expected.push({ ...row, ended: end !== InstructionEnd.IN_FLIGHT });
    }
    expect(expected.length).toBe(report.instructions.fetched);
    const columns = core.stages.map((name) => `${name}_cycle, ${name}_cycles`).join(', ');
    expect(
      await rowsOf(
        `select seq, ${columns}, outcome <> 'in_flight' as ended from instructions where run = 'runA' order by seq`,
      ),
    ).toEqual(expected);
    await trace.close();
  });

  it('has tags as columns, and counters whose changes add up to those of the reader', async () => {
    expect(await rowsOf('select run, core, "commit" from traces')).toEqual([
      { run: 'runA', core: 'core0', commit: 'abc' },
    ]);
    const [row] = await rowsOf('select sum(delta)::bigint as total from counters');
    expect(row?.total).toBe(recorded.added.reduce((sum, value) => sum + value, 0));
  });

  it('is left alone when nothing has changed, and another run of the name is refused', async () => {
    const before = contentOf(dataset);
    const again = await exported(join(directory, 'runA'), '--tag', 'commit=abc');
    expect(again.out).toBe('runA: unchanged\n');
    const other = writeRun('other/runA', build(record(generator(2), 60).frames, 20));
    const refused = await exported(other);
    expect(refused.status).toBe(1);
    expect(refused.err).toContain('DATASET_RUN');
    expect(contentOf(dataset)).toEqual(before);
  });
});

describe('the ready-made questions', () => {
  it('give what the reader computes', async () => {
    const [ipc] = await rowsOf('from ipc()');
    expect(ipc?.retired).toBe(report.instructions.retired);
    expect(ipc?.cycles).toBe(report.clockCycles);
    const windows = await rowsOf('select sum(retired)::bigint as n from ipc_by_window(100)');
    expect(windows[0]?.n).toBe(report.instructions.retired);
    const shares = await rowsOf('select reason, cycles, events from stall_share()');
    expect(new Set(shares.map((row) => `${row.reason} ${row.cycles} ${row.events}`))).toEqual(
      new Set(report.stalls.reasons.map(({ reason, cycles, events }) => `${reason} ${cycles} ${events}`)),
    );
    const hot = await rowsOf('select sum(retired)::bigint as n from hot_pcs(1000000)');
    expect(hot[0]?.n).toBe(report.instructions.retired);
    const flushes = await rowsOf(
      'select reason, sum(flushes)::bigint as n from flushes_by_pc(1000000) group by reason',
    );
    for (const { reason, n } of flushes as { reason: string; n: number }[])
      expect(n, reason).toBeGreaterThan(0);
    const [slowest] = await rowsOf('from slowest_instructions(1)');
    const [latency] = await rowsOf('select max(greatest) as n from latency()');
    expect(slowest?.cycles).toBe(latency?.n);
    const totals = await rowsOf('from counter_totals()');
    expect(totals[0]?.total).toBe(recorded.added.reduce((sum, value) => sum + value, 0));
    const [compared] = await rowsOf("from compare('runA', 'runA')");
    expect(compared).toMatchObject({ runs_a: 0, runs_b: 0, runs_both: 1, difference: null });
  });
});

describe('a question', () => {
  const target = (name: string): string => `'${join(dataset, name)}'`;
  const part = (): string => target('traces/run=runA/core=core0/part-0.parquet');

  it.each([
    ['copy', () => `copy traces to ${part()}`],
    ['explain analyze', () => `explain analyze copy traces to ${part()}`],
    ['explain with options', () => `explain (analyze, format json) copy traces to ${part()}`],
    ['explain with a comment', () => `explain /* ( */ analyze copy traces to ${part()}`],
    ['attach', () => `attach ${target('new.db')}`],
    ['export', () => `export database ${target('all')}`],
    ['create', () => 'create table t as select 1'],
    ['drop', () => 'drop view traces'],
    ['set', () => 'set lock_configuration = false'],
    ['reset', () => 'reset allowed_directories'],
    ['pragma', () => 'pragma enable_external_access = true'],
    ['install', () => 'install httpfs'],
    ['load', () => 'load httpfs'],
    ['call', () => 'call pragma_version()'],
    ['prepare', () => `prepare p as copy traces to ${part()}`],
    ['vacuum', () => 'vacuum'],
    [
      'a profile',
      () => `from enable_profiling(format := 'json', save_location := ${target('uscope-dataset.json')})`,
    ],
    ['a log', () => `from enable_logging(storage := 'file', storage_path := ${target('log')})`],
    ['a log, inside', () => 'select 1 where exists (from "ENABLE_LOGGING"())'],
    ['a log, by its full name', () => 'from system.main.enable_logging()'],
    ['a log, explained', () => 'explain analyze from enable_logging()'],
    ['a log, of a description', () => 'describe from enable_logging()'],
    ['a string that is SQL', () => "from query('from enable_logging()')"],
    [
      'a tree that is SQL',
      () => "from json_execute_serialized_sql(json_serialize_sql('from enable_logging()'))",
    ],
    ['a pragma that is SQL', () => `pragma json_execute_serialized_sql('{"error":false,"statements":[]}')`],
    ['a table by its name', () => "from query_table('traces')"],
    ['secrets', () => 'from duckdb_secrets()'],
    ['import', () => `import database '${dataset}'`],
    ['a comment and a copy', () => `/* select */ copy traces to ${part()}`],
    ['begin', () => 'begin transaction'],
    ['execute', () => 'execute p'],
    ['update', () => "update traces set file = 'x'"],
    ['a variable', () => 'set variable x = 1'],
    ['two statements that ask', () => 'select 1; select 2'],
    ['two statements', () => `select 1; copy traces to ${part()}`],
    ['a file outside', () => "select * from read_text('/etc/hostname')"],
    ['a file outside, by name', () => "select * from '/etc/passwd'"],
    ['a file outside, by ..', () => `select * from read_text('${dataset}/../runA/core0.uscope')`],
    ['a glob outside', () => "select * from glob('/etc/*')"],
    ['a URL', () => "select * from read_csv('http://127.0.0.1:9/x.csv')"],
    ['no statement', () => ''],
    ['wrong SQL', () => 'selekt 1'],
  ])('that is an attack is refused, and nothing is written: %s', async (_, question) => {
    const before = contentOf(dataset);
    const { status, out, err } = await runUscope(['sql', dataset, question(), '--json']);
    expect(out).toBe('');
    expect(err).toMatch(/^uscope: DATASET_(STATEMENT|QUERY): /);
    expect(status).toBe(1);
    expect(contentOf(dataset)).toEqual(before);
  });

  it('may be explained', async () => {
    expect((await rowsOf('explain select * from traces')).length).toBe(1);
    expect((await rowsOf('explain analyze select count(*) from traces')).length).toBe(1);
    const { out } = await runUscope(['sql', dataset, 'explain select count(*) from traces']);
    expect(out.split('\n').length).toBeGreaterThan(5);
    expect(out).toMatch(/^│ +UNGROUPED_AGGREGATE +│$/m);
  });

  it('ends when its time is over', async () => {
    // It would take hours.
    const { err } = await runUscope([
      'sql',
      dataset,
      'select sum(a * b) from range(1000000) t(a), range(1000000) u(b)',
      '--timeout',
      '0.3',
    ]);
    expect(err).toMatch(/DATASET_TIMEOUT: .*--timeout/);
  });

  it('ends when it is interrupted, which no limit of time explains', async () => {
    const session = await SqlSession.open(await loadEngine(), [dataset]);
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 100);
    const endless = 'select sum(a * b) from range(1000000) t(a), range(1000000) u(b)';
    const answer = session.ask(endless, (result) => result.fetchChunk(), controller.signal);
    await expect(answer).rejects.toMatchObject({
      code: 'DATASET_TIMEOUT',
      detail: 'the question was interrupted',
    });
    await session.close();
  });

  it('links the rows that name a run, a core and a cycle to the viewer', async () => {
    const trace = join(directory, 'runA', 'core0.uscope');
    const [row] = await rowsOf(
      "select run, core, birth_cycle, seq from instructions where run = 'runA' and seq = 20",
    );
    expect(row?.view).toBe(`uscope view ${trace} --core core0 --at ${row?.birth_cycle}`);
    const slow = await rowsOf("select * from slowest_instructions(3) where run = 'runA'");
    expect(slow.map(({ view, birth_cycle }) => String(view).endsWith(`--at ${birth_cycle}`))).toEqual(
      slow.map(() => true),
    );
    expect(await rowsOf("select run, core, null::bigint as cycle from traces where run = 'runA'")).toEqual([
      { run: 'runA', core: 'core0', cycle: null, view: null },
    ]);
    const { out } = await runUscope(['sql', dataset, 'from slowest_instructions(1)', '--csv', '--no-links']);
    expect(out.split('\n')[0]).toBe('run,core,seq,birth_cycle,cycles,address,instruction');
  });

  it('prints its rows in each form', async () => {
    const question = "select 'a,|\"b' as x, 9007199254740993::bigint as y, null as z";
    const out = async (form: string): Promise<string> =>
      (await runUscope(['sql', dataset, question, form])).out;
    expect(await out('--csv')).toBe('x,y,z\n"a,|""b",9007199254740993,\n');
    expect(await out('--markdown')).toBe('| x | y | z |\n|---|---|---|\n| a,\\|"b | 9007199254740993 |  |\n');
    expect(await out('--jsonl')).toBe('{"x":"a,|\\"b","y":"9007199254740993","z":null}\n');
    const file = join(directory, 'rows.parquet');
    expect((await runUscope(['sql', dataset, 'from ipc(); ', '-o', file])).err).toBe('');
    expect(readFileSync(file).subarray(0, 4).toString()).toBe('PAR1');
  });

  it('about a trace builds what it names beside it, and again when the trace has changed', async () => {
    const trace = writeRun('live', build(recorded.frames.slice(0, 200), 40));
    const count = async () => (await rowsOf('select count(*) as n from instructions', trace))[0]?.n as number;
    const before = await count();
    const tables = readdirSync(join(directory, 'live', '.uscope-sql', 'live'));
    expect(tables).toContain('instructions');
    expect(tables).not.toContain('counters');
    // Columns of these names are not tables.
    await rowsOf('select cycles, stalls from instructions, (from ipc()) limit 1', trace);
    const built = readdirSync(join(directory, 'live', '.uscope-sql', 'live'));
    expect(built).not.toContain('cycles');
    expect(built).not.toContain('stalls');
    expect((await rowsOf('explain select * from stalls', trace)).length).toBe(1);
    expect(readdirSync(join(directory, 'live', '.uscope-sql', 'live'))).toContain('stalls');
    writeRun('live', bytes);
    expect(await count()).toBe(report.instructions.fetched);
    expect(before).toBeLessThan(report.instructions.fetched);
    // Under another name it is one run, not two.
    renameSync(join(directory, 'live'), join(directory, 'moved'));
    const moved = await rowsOf(
      'select run, count(*) as n from instructions group by run',
      join(directory, 'moved'),
    );
    expect(moved).toEqual([{ run: 'moved', n: report.instructions.fetched }]);
  });
});

describe('an export', () => {
  it('of a trace of a web server, which is read again each time: nothing says whether it has changed', async () => {
    const server = await startRangeServer(bytes);
    try {
      const target = join(directory, 'fetched');
      const args = ['export', server.url, '-o', target];
      const count = async () => {
        const { out, err } = await runUscope([...args, '--run', 'far']);
        expect(err).toBe('');
        return out;
      };
      expect(await count()).toBe(`far: 1 core, ${report.instructions.fetched} instructions\n`);
      server.bytes = build(recorded.frames.slice(0, 200), 40);
      server.etag = '"2"';
      expect(await count()).toMatch(/^far: 1 core, /);
      const rows = await rowsOf(
        "select run, count(*) as n, max(file) as file from instructions join traces using (run, core) where run = 'far' group by run",
        target,
      );
      expect(rows).toMatchObject([{ run: 'far', file: server.url }]);
      expect(Number(rows[0]?.n)).toBeLessThan(report.instructions.fetched);
    } finally {
      await server.close();
    }
  });

  it('of a trace that is being written has what there is, and all of it later', async () => {
    const path = join(directory, 'growing', 'core0.uscope');
    mkdirSync(join(directory, 'growing'));
    const { schema } = parseSchema('uscope: 1\nclocks: {clk: 1 ns}\nevents:\n  go: {value: u32}\n');
    const writer = await TraceWriter.create({ path, schema, checkpointIntervalPs: 10_000 });
    const write = async (from: number, to: number): Promise<void> => {
      for (let cycle = from; cycle < to; cycle++) {
        writer.beginCycle(cycle * 1000);
        writer.event('go', { value: cycle });
        writer.endCycle();
        await writer.ready();
      }
    };
    const target = join(directory, 'growing-tables');
    const exportNow = async (): Promise<Record<string, unknown>[]> => {
      const { status, err } = await runUscope(['export', path, '-o', target]);
      expect([status, err]).toEqual([0, '']);
      return rowsOf(
        'select count(*) as n, max(value) as last, bool_and(is_complete) as whole from events, traces',
        target,
      );
    };
    await write(0, 100);
    await writer.flush();
    const [early] = await exportNow();
    expect(early).toMatchObject({ whole: false });
    expect(Number(early?.n)).toBeGreaterThan(50);
    expect(early?.last).toBe(Number(early?.n) - 1);
    await write(100, 200);
    await writer.close();
    expect(await exportNow()).toEqual([{ n: 200, last: 199, whole: true }]);
  });
});

describe('what goes wrong', () => {
  it('damage in the middle is a gap, and the rest is there', async () => {
    const hurt = bytes.slice();
    hurt.fill(0xff, Math.floor(bytes.length * 0.5), Math.floor(bytes.length * 0.5) + 48);
    writeRun('hurt', hurt);
    const { out, status } = await exported(join(directory, 'hurt'));
    expect(status).toBe(0);
    expect(out).toMatch(/damaged segments in gaps/);
    const [gap] = await rowsOf("select count(*) as n, min(code) as code from gaps where run = 'hurt'");
    expect(Number(gap?.n)).toBeGreaterThan(0);
    expect(gap?.code).toMatch(/^FORMAT_/);
    const [row] = await rowsOf("select count(*) as n from instructions where run = 'hurt'");
    expect(Number(row?.n)).toBeGreaterThan(report.instructions.fetched / 4);
  });

  it('a trace that is not there is named, with its run', async () => {
    const missing = join(directory, 'none.uscope');
    const { status, err } = await runUscope(['export', missing, '-o', join(directory, 'for-none')]);
    expect(status).toBe(1);
    expect(err).toMatch(/READER_OPEN: /);
    expect(err).toContain(`(${missing})`);
  });

  it('a newer layout, and a directory that is not a dataset', async () => {
    const newer = join(directory, 'newer');
    mkdirSync(newer);
    writeFileSync(join(newer, 'uscope-dataset.json'), '{"layout": 99}');
    const { err } = await runUscope(['sql', newer, 'select 1']);
    expect(err).toContain('DATASET_LAYOUT');
    expect((await runUscope(['export', join(directory, 'runA'), '-o', newer])).err).toContain(
      'DATASET_LAYOUT',
    );
  });

  it('a run that another process exports, until that process has ended', async () => {
    const staged = await StagedRun.begin(dataset, 'locked');
    const trace = join(directory, 'runA', 'core0.uscope');
    expect((await exported(trace, '--run', 'locked')).err).toContain('DATASET_LOCKED');
    await staged.abandon();
    expect((await exported(trace, '--run', 'locked')).status).toBe(0);
  });

  it('tables that a run has no more go away when it is exported again', async () => {
    const trace = join(directory, 'runA', 'core0.uscope');
    const target = join(directory, 'fewer');
    await runUscope(['export', trace, '-o', target]);
    expect(existsSync(join(target, 'stalls', 'run=runA'))).toBe(true);
    expect((await runUscope(['export', trace, '-o', target, '--tables', 'instructions'])).status).toBe(0);
    expect(existsSync(join(target, 'stalls', 'run=runA'))).toBe(false);
    expect(existsSync(join(target, 'instructions', 'run=runA'))).toBe(true);
  });

  it('a question that needs more memory than it may have', async () => {
    const asked = (question: string, memory: string) =>
      runUscope(['sql', dataset, question, '--memory', memory, '--jsonl']);
    expect((await asked("select current_setting('memory_limit') as m", '20MB')).out).toBe(
      '{"m":"19.0 MiB"}\n',
    );
    const large = 'select len(list(i)) as n from range(3000000) t(i)';
    const { status, out, err } = await asked(large, '20MB');
    expect(status).toBe(1);
    expect(out).toBe('');
    expect(err).toMatch(
      /^uscope: DATASET_QUERY: Out of Memory Error: .*; raise the limit with --memory, or .*\n$/,
    );
    expect((await asked(large, '200MB')).out).toBe('{"n":3000000}\n');
  });

  it('two directories of the same name, and a memory limit that is none', async () => {
    const paths = ['x', 'y'].map((parent) => writeRun(join(parent, 'same'), bytes));
    const twice = await exported(...paths);
    expect(twice.status).toBe(1);
    expect(twice.err).toMatch(/DATASET_RUN: two directories are called "same"; .*--run/);
    const { status, err } = await runUscope(['sql', dataset, 'select 1', '--memory', 'much']);
    expect(status).toBe(1);
    expect(err).toMatch(/DATASET_QUERY: /);
  });

  it('a run that two sources have, whose rows would count twice', async () => {
    const trace = join(directory, 'runA', 'core0.uscope');
    const { status, out, err } = await runUscope(['sql', dataset, trace, 'select count(*) from traces']);
    expect([status, out]).toEqual([1, '']);
    expect(err).toMatch(/DATASET_RUN: the run "runA" is in two of the sources, .*--run/);
  });

  it('no run that was changed since', async () => {
    const target = join(directory, 'since');
    const args = [join(directory, 'runA'), '-o', target, '--since', '2100-01-01'];
    const { status, out, err } = await runUscope(['export', ...args]);
    expect([status, out, err]).toEqual([
      0,
      '',
      'uscope: no run has a trace that was changed since 2100-01-01\n',
    ]);
  });

  it('wrong names and arguments', async () => {
    const trace = join(directory, 'runA', 'core0.uscope');
    expect((await exported(trace, '--run', '../x')).err).toContain('DATASET_NAME');
    for (const args of [
      ['--tag', 'run=x'],
      ['--tag', 'Nope'],
      ['--tables', 'nope'],
      ['--since', 'nope'],
    ]) {
      expect((await exported(trace, ...args)).status, args.join(' ')).toBe(2);
    }
    expect((await runUscope(['sql', dataset])).status).toBe(2);
    expect((await runUscope(['sql', dataset, 'select 1', '--timeout', '-1'])).status).toBe(2);
  });
});
