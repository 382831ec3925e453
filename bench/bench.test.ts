import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TRIES_ALL } from '../test/support/effort.js';
import { BUILDS_MS, limitOfFile } from '../test/support/limits.js';
import { buildSdk } from '../test/support/processes.js';
import { backPressureRows, MODELS_NS, modelRows } from './client.mjs';
import { compareResults } from './compare.mjs';
import { rows as coreRows } from './cores.mjs';
import { rows } from './demo.mjs';
import { native } from './native.mjs';
import { BENCHMARKS, parseOptions, parseRequest } from './options.mjs';
import { renderBars, renderPlot } from './plot.mjs';
import { readAnnotation, summarizeSamples } from './profile.mjs';
import { RATIOS, ratiosOf } from './ratios.mjs';
import { insert, plotsOf, RATIO_MARKERS, renderRatios, renderReport, TABLE_MARKERS } from './report.mjs';
import { commandOf } from './results.mjs';
import { percentile, spread } from './statistics.mjs';
import { signalRows } from './systemc.mjs';
import { duration, meetsTarget, type Row } from './table.mjs';

// The native half is built, and every benchmark runs.
limitOfFile(BUILDS_MS);

describe('arguments', () => {
  it('by default ask for everything', () => {
    expect(parseOptions([])).toMatchObject({
      names: [...BENCHMARKS],
      workload: 'std',
      runs: 5,
      json: null,
      build: true,
    });
  });

  it('name benchmarks and their size', () => {
    const options = parseOptions([
      'path',
      'client',
      '--cycles',
      '1000',
      '--workload',
      'ooo',
      '--json',
      '--no-build',
    ]);
    expect(options).toMatchObject({
      names: ['path', 'client'],
      cycles: 1000,
      workload: 'ooo',
      json: '-',
      build: false,
    });
  });

  it.each([
    [['paths'], /"paths" is none of client/],
    [['index', '--part', 'rows'], /--part: "rows" is none of cost, questions, long, blocks/],
    [['--cycles', '0'], /"0" is not a positive whole number/],
    [['--cycles', '1e99'], /not a positive whole number/],
    [['--workload', 'x'], /"x" is none of std, ooo/],
    [['--compression', 'gzip'], /"gzip" is none of lz4/],
    [['--unknown'], /Unknown option/],
    [['compare'], /compare takes OLD\.json/],
    [['report'], /report takes the JSON files/],
    [['profile', 'client'], /profile takes nothing/],
  ])('%j are refused with the reason', (args, reason) => expect(() => parseRequest(args)).toThrow(reason));
});

describe('results', () => {
  it('meet a target from the right side', () => {
    const row = { name: 'x', unit: 'ns' };
    expect(meetsTarget({ ...row, value: 8, target: { atMost: 8 } })).toBe(true);
    expect(meetsTarget({ ...row, value: 8.1, target: { atMost: 8 } })).toBe(false);
    expect(meetsTarget({ ...row, value: 19.9, target: { atLeast: 20 } })).toBe(false);
    expect(meetsTarget({ ...row, value: 1 })).toBe(true);
  });

  it('are shown in the unit people use', () => {
    expect([7.25, 999, 12_345, 2_345_678].map(duration)).toEqual(['7.25 ns', '999 ns', '12.3 µs', '2.35 ms']);
  });

  it('have percentiles', () => {
    const values = Array.from({ length: 100 }, (_, i) => 99 - i);
    expect([0, 0.5, 0.99, 1].map((share) => percentile(values, share))).toEqual([0, 50, 99, 99]);
  });
});

describe('several cores', () => {
  const run = (rate: number, megabytes: number) => ({ rate, spread: 1.1, residentBytes: megabytes * 1e6 });

  it('are held against one, median against median', () => {
    const table = coreRows([run(40, 1), run(20, 1), run(30, 1)], [run(27, 200), run(50, 210), run(21, 220)]);
    expect(table.map(({ value }) => value)).toEqual([30, 27, 0.9, 1.1, 220]);
    expect(table[2].target).toEqual({ atLeast: 0.9 });
    expect(table[4]).toMatchObject({ name: 'memory of the daemon after 19 traces', limit: '200 MB after 9' });
  });
});

describe('SystemC', () => {
  const run = (none: number, vcd: number, uscope: number) => ({
    none: { ns: none, bytes: 0 },
    vcd: { ns: vcd, bytes: 40 },
    uscope: { ns: uscope, bytes: 5 },
  });

  it('is compared within each run, above the model alone', () => {
    const [change, ratio, file] = signalRows(5, 5, [run(10, 110, 20), run(10, 70, 30), run(20, 120, 40)]);
    expect(change).toMatchObject({ value: 20, min: 10, max: 20, limit: "100.0 ns: SystemC's VCD" });
    expect(ratio).toMatchObject({ value: 5, min: 3, max: 10, target: { atLeast: 5 } });
    expect(file).toMatchObject({ value: 5, limit: "40.0 B/change: SystemC's VCD" });
  });
});

describe('latency', () => {
  const names = ['empty_ns', 'client_ns', 'held_ns'];
  const shares = ['p50', 'p99', 'p9999', 'max'];
  const result = Object.fromEntries(
    names.flatMap((name) => shares.map((share, i) => [`${name}_${share}`, 10 ** i])),
  );

  it('is that of models that need 0.5 to 5 µs for a cycle, which are plotted', () => {
    expect(MODELS_NS).toEqual([500, 1000, 2000, 5000]);
    const rows = modelRows(500, [result]);
    expect(rows[0]).toMatchObject({
      name: 'cycle of a model of 0.5 µs, long run: 50 % of them below',
      series: 'latency',
      line: '50 % of them below',
      x: 500,
    });
    expect(rows.map(({ target }) => target)).toEqual([
      undefined,
      undefined,
      { atMost: 2000 },
      { atMost: 201_000 },
    ]);
    expect(rows[3].series).toBeUndefined();
  });

  it('has no target where a model that only traces has to wait', () => {
    const rows = backPressureRows([result]);
    expect(rows.map(({ value }) => value)).toEqual([1, 10, 100, 1000]);
    expect(rows.every((row) => !('target' in row))).toBe(true);
  });
});

describe('the demo', () => {
  const run = (wallNs: number, elapsedNs: number, cpuNs: number) => ({
    wallNs,
    cycles: 1000,
    elapsedNs,
    cpuNs,
  });
  const fast = run(2e6, 500_000, 400_000);
  const slow = run(2e6, 1_000_000, 800_000);
  const traced = [run(4e6, 800_000, 500_000), run(3e6, 700_000, 480_000), run(9e6, 1_400_000, 950_000)];
  // the machine is half as fast when the last of them run
  const pairs = [
    { untraced: fast, traced: traced[0] },
    { untraced: fast, traced: traced[1] },
    { untraced: slow, traced: traced[2] },
  ];
  const tableOf = (workload: 'std' | 'ooo') =>
    rows(
      workload,
      {
        untraced: [fast, fast, slow],
        traced,
        fst: [run(6e6, 2_500_000, 2_400_000)],
        vcd: [run(8e6, 3_500_000, 3_400_000)],
      },
      pairs,
      { itemsPerCycle: 20, sizes: { traced: 1e6, fst: 2e6, vcd: 3e6 } },
    );
  const table = tableOf('std');
  const row = (name: string, of = table) => of.find((candidate) => candidate.name.startsWith(name))!;

  it('says what tracing adds to a cycle, by runs that were neighbours', () => {
    expect(row('tracing adds per cycle')).toMatchObject({ value: 100, unit: 'ns', target: { atMost: 60 } });
    expect(row('tracing adds per cycle').limit).toBe('20.0 items per cycle: 5.0 ns per item');
    expect(row('the same, elapsed').value).toBe(300);
  });

  it('has a ratio as its goal on the out-of-order core, where a cycle has more items', () => {
    const ooo = tableOf('ooo');
    expect(row('tracing adds per cycle', ooo).target).toBeUndefined();
    expect(row('traced cycle / untraced cycle', ooo)).toMatchObject({ value: 1.2, target: { atMost: 1.15 } });
  });

  it('compares whole runs', () => {
    expect(row('traced: simulator process')).toMatchObject({
      value: 4e6,
      limit: '2.00 × untraced; 800 ns per cycle',
    });
    expect(row('traced run / FST run')).toMatchObject({ value: 4 / 6, target: { atMost: 1 } });
    expect(row('FST dump adds').value).toBe(2000);
  });
});

const machine = { cpu: 'a core', cores: 2, memoryGiB: 8, system: 'Linux', load: [1, 2] as [number, number] };
const documentOf = (rows: Row[], workload: 'std' | 'ooo' = 'std') => ({
  version: 1 as const,
  date: '2026-01-02T03:04:05.006Z',
  command: 'npm run bench -- path',
  machine,
  versions: { node: '20.15.0' },
  options: { workload, compression: 'lz4' as const, runs: 5, cycles: null, long: false },
  results: { path: rows },
});

describe('comparing two runs', () => {
  const rate = (values: number[], bound: number) => ({
    name: 'whole path',
    unit: 'M items/s',
    ...spread(values),
    bound,
  });
  const verdict = (before: Row, after: Row) =>
    compareResults(documentOf([before]), documentOf([after])).map((comparison) => comparison.verdict);

  it('looks at the distance to the limit, not at times: another machine is not a change', () => {
    expect(verdict(rate([38, 40, 42], 80), rate([19, 20, 21], 40))).toEqual(['same']);
  });

  it('calls it worse or better when the runs do not overlap', () => {
    expect(verdict(rate([38, 40, 42], 80), rate([28, 30, 32], 80))).toEqual(['worse']);
    expect(verdict(rate([38, 40, 42], 80), rate([48, 50, 52], 80))).toEqual(['better']);
    expect(verdict(rate([30, 40, 42], 80), rate([28, 32, 41], 80))).toEqual(['same']);
  });

  it('knows that fewer bytes and nanoseconds are better, and leaves times without a limit out', () => {
    const size = { name: 'size', unit: 'B/item', value: 4 };
    expect(verdict(size, { ...size, value: 5 })).toEqual(['worse']);
    const cost = { name: 'thread', unit: 'ns', value: 3, bound: 1, target: { atMost: 4 } };
    expect(verdict(cost, { ...cost, value: 2 })).toEqual(['better']);
    expect(verdict({ name: 'loop', unit: 'ns', value: 1 }, { name: 'loop', unit: 'ns', value: 9 })).toEqual(
      [],
    );
  });

  it('refuses runs of different workloads', () => {
    const rows = [rate([1], 2)];
    expect(() => compareResults(documentOf(rows), documentOf(rows, 'ooo'))).toThrow(/different workloads/);
  });
});

describe('the report', () => {
  const rows: Row[] = [1, 10, 100].map((x) => ({
    name: `${x} cycles: whole path`,
    unit: 'ns',
    ...{ value: 20 + x / 10, min: 19, max: 35, runs: 3, target: { atMost: 25 }, limit: 'a | b' },
    ...{ series: 'length', line: 'whole path', x },
  }));

  it('names machine, versions, load and command, and marks what is missed', () => {
    const text = renderReport([documentOf(rows)]);
    expect(text).toMatch(/2026-01-02 on a core, 2 cores, 8 GiB, Linux; node 20\.15\.0\.\n.*1 and 2/);
    expect(text).toContain('    npm run bench -- path\n');
    expect(text).toContain(
      '| 100 cycles: whole path | 30.0 ns | 19.0 ns … 35.0 ns | ≤ 25.0 ns MISSED | a \\| b |',
    );
  });

  it('has a section for each run, called after its machine', () => {
    const slow = { ...documentOf(rows), machine: { ...machine, cpu: 'a slow core' } };
    const text = renderReport([documentOf(rows), slow]);
    expect(text.match(/^### .*$/gm)).toEqual(['### Results on a core', '### Results on a slow core']);
    expect(text.match(/^#### path$/gm)).toHaveLength(2);
  });

  it('begins with ratios, each with a link to its table, and the plots', () => {
    const own = {
      ...documentOf([]),
      results: { path: [{ ...rows[0], name: 'whole path', value: 60, bound: 40 }] },
    };
    expect(ratiosOf(own)).toEqual([
      expect.objectContaining({ benchmark: 'path', value: 1.5, from: '60.0 ns / 40.0 ns' }),
    ]);
    const text = renderRatios(own);
    expect(text).toMatch(/^\| throughput .* \| \*\*1\.50\*\* \| .* \| \[path\]\(#path\) \|$/m);
    expect(text).toContain('![Cost and the length of a trace](performance/length.svg)');
  });

  it('has ten ratios, and all of them are in the page', () => {
    const page = readFileSync(new URL('../docs/explanation/performance.md', import.meta.url), 'utf8');
    expect(RATIOS).toHaveLength(10);
    expect(RATIOS.filter(({ what }) => !page.includes(`| ${what} |`))).toEqual([]);
  });

  it.each([
    ['ratios', RATIO_MARKERS],
    ['results', TABLE_MARKERS],
  ])('replaces what is between the markers of the %s and leaves the rest of the page alone', (_, markers) => {
    const page = readFileSync(new URL('../docs/explanation/performance.md', import.meta.url), 'utf8');
    const [before, after] = [page.split(markers.begin)[0], page.split(markers.end)[1]];
    const once = insert(page, 'TABLES\n', markers);
    expect(once.startsWith(before) && once.endsWith(after)).toBe(true);
    expect(insert(insert(page, 'OTHERS\n', markers), 'TABLES\n', markers)).toBe(once);
    expect(() => insert('a page without', '', markers)).toThrow(/needs the lines/);
  });

  it('draws bars in proportion, with their values', () => {
    const svg = renderBars({
      title: 'bars',
      bars: [
        { name: 'a', value: 100, shown: '100 ms' },
        { name: 'b & c', value: 25, shown: '25 ms' },
      ],
    });
    const widths = [...svg.matchAll(/<rect [^>]*width="([\d.]+)"/g)].map(([, width]) => Number(width));
    expect(widths[1] / widths[0]).toBeCloseTo(0.25, 2);
    expect(svg).toMatch(/b &amp; c<.*25 ms</);
  });

  it('plots series on a logarithmic axis: equal factors are equal distances', () => {
    const [svg] = plotsOf(documentOf(rows)).values();
    const [, points] = /points="([^"]+)"/.exec(svg)!;
    const xs = points.split(' ').map((point) => Number(point.split(',')[0]));
    expect(xs[1] - xs[0]).toBeCloseTo(xs[2] - xs[1], 0);
    expect(xs[2]).toBeLessThan(640);
  });

  it('writes texts as they are meant, whatever they hold', () => {
    const svg = renderPlot({
      title: 'a < b & c',
      x: 'x',
      y: 'y',
      lines: [{ name: 'l', points: [{ x: 1, y: 0 }] }],
    });
    expect(svg).toContain('<title>a &lt; b &amp; c</title>');
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
  });
});

const buildNative = () => {
  const root = fileURLToPath(new URL('..', import.meta.url));
  for (const folder of ['dpi', 'bench']) execFileSync('make', ['-s', '-C', join(root, folder)]);
};

describe('the native half', () => {
  beforeAll(buildNative);

  it('tells in the error what it said on stderr', async () => {
    await expect(native(['path', 'std', '0'])).rejects.toThrow(
      /bench path std 0 ended with exit status 2:\nCYCLES must be at least 1$/,
    );
  });
});

describe('profiles', () => {
  it("sum a function's parts in callgrind's table", () => {
    const table =
      ' 1,200 (60.0%)  src/a.c:push [/bin/bench]\n 300 (15.0%)  src/a.h:push\nhead: 7\n 5 ( 0.2%)  b.c:pop\n';
    expect(readAnnotation(table)).toEqual([
      { name: 'push', instructions: 1500 },
      { name: 'pop', instructions: 5 },
    ]);
  });

  it('give shares of the time that was not waited', () => {
    const node = (id: number, functionName: string, url = '') => ({ id, callFrame: { functionName, url } });
    const { total, lines } = summarizeSamples({
      nodes: [node(1, '(idle)'), node(2, 'visit', 'file:///x/scan.js'), node(3, '')],
      samples: [1, 2, 3, 2],
      timeDeltas: [9_000_000, 600_000, 250_000, 150_000],
    });
    expect([total, lines]).toEqual([
      '1.00 s of work',
      [
        { name: 'visit (scan.js)', share: 0.75 },
        { name: '(anonymous)', share: 0.25 },
      ],
    ]);
  });

  it('and results name the command, but no place of this machine', () => {
    const argv = ['path', '--runs', '3', '--out', '/here', '--json', '/there', '--no-build', '--long'];
    expect(commandOf(argv)).toBe('npm run bench -- path --runs 3 --long');
    expect(commandOf(['--json=x'])).toBe('npm run bench');
  });
});

describe('a tiny run', () => {
  const root = fileURLToPath(new URL('..', import.meta.url));
  // demo and cocotb need simulators built for minutes, systemc SystemC and seconds: their rows are tested above and by hand
  const without = ['dataset', 'demo', 'cocotb', 'systemc'];
  // One of each kind: native programs, a daemon, files, a reader. The long tests run all of them.
  const few = ['client', 'latency', 'size', 'reader'];
  const names = BENCHMARKS.filter((name) => !without.includes(name) && (TRIES_ALL || few.includes(name)));
  let directory: string;
  const bench = (...args: string[]) =>
    spawnSync(process.execPath, [join(root, 'bench/run.mjs'), ...args], {
      encoding: 'utf8',
      timeout: BUILDS_MS,
    });
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'uscope-bench-test-'));
    buildSdk();
    buildNative();
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it('of every benchmark gives rows, as tables and as JSON', () => {
    const file = join(directory, 'run.json');
    const args = ['--cycles', '1000', '--runs', '1', '--no-build', '--out', directory, '--json', file];
    const { status, stdout, stderr } = bench(...names, ...args);
    expect({ status, stderr: stderr.replace(/.*too short to be measured\n/g, '') }).toEqual({
      status: 0,
      stderr: '',
    });
    const { results, command, machine, versions, options } = JSON.parse(readFileSync(file, 'utf8'));
    expect(Object.keys(results)).toEqual(names);
    for (const name of names) {
      expect(results[name].length).toBeGreaterThan(0);
      for (const row of results[name]) {
        expect(row).toMatchObject({
          name: expect.any(String),
          value: expect.any(Number),
          unit: expect.any(String),
        });
        expect(stdout).toContain(row.name);
      }
    }
    expect(command).toContain('npm run bench -- client latency');
    expect([machine.cores > 0, versions.node, options.cycles]).toEqual([true, process.versions.node, 1000]);
    expect(results.client[0].bound).toEqual(expect.any(Number)); // a difference of times: anything, in so short a run
    const sizes = results.size.filter(({ unit }: Row) => unit === 'B/item');
    if (sizes.length > 1) expect(sizes[1].value).toBeLessThan(sizes[0].value); // ZSTD is optional
  });

  it('compares with itself, and with worse', () => {
    const file = join(directory, 'run.json');
    const same = bench('compare', file, file);
    expect([same.status, same.stdout]).toEqual([
      0,
      expect.stringMatching(/^\d+ ratios compared: 0 worse, 0 better/),
    ]);
    const document = JSON.parse(readFileSync(file, 'utf8'));
    document.results.size[0].value *= 2;
    document.results.size[0].min = document.results.size[0].max = document.results.size[0].value;
    writeFileSync(join(directory, 'worse.json'), JSON.stringify(document));
    const worse = bench('compare', file, join(directory, 'worse.json'));
    expect([worse.status, worse.stdout]).toEqual([1, expect.stringMatching(/^worse .*size of the file/)]);
    mkdirSync(join(directory, 'empty'), { recursive: true });
    const wrong = bench('compare', file, join(directory, 'empty'));
    expect([wrong.status, wrong.stderr]).toEqual([1, expect.stringContaining('EISDIR')]);
  });
});
