/** `uscope export`: traces as a dataset of Parquet files. */
import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { isUscopeError, UscopeError } from '../../base/errors.js';
import { exportRun, loadEngine, type RunReport, TABLES, type TableName } from '../../dataset/index.js';
import { isHttpUrl } from '../../reader/http-url.js';
import { ExitCode, io, printJson } from '../common/io.js';
import { parseCount } from '../common/numbers.js';
import { withProgress } from '../common/progress-bar.js';
import { append } from '../common/repeated.js';
import { type RunFiles, runsOf } from '../common/run-directories.js';

interface ExportOptions {
  readonly output: string;
  readonly run?: string;
  readonly tables?: string;
  readonly window?: string;
  readonly tag: readonly string[];
  readonly since?: string;
  readonly replace?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

type Failure = { readonly run: string; readonly error: { readonly code: string; readonly detail: string } };

const DEFAULT_WINDOW = 10_000;
/** Columns that `traces` has already. */
const RESERVED = new Set(
  'run core file isa period_ps total_time_ps cycles retired squashed lost in_flight is_complete dut'.split(
    ' ',
  ),
);

export function register(program: Command): void {
  program
    .command('export')
    .summary('traces as tables: a dataset of Parquet files')
    .description(
      'Exports traces into a dataset of Parquet files, for uscope sql, DuckDB, Spark and other engines.',
    )
    .argument('<trace...>', 'traces, directories with traces, or URLs; a directory with traces is a run')
    .requiredOption('-o, --output <dataset>', 'the dataset; it is made where there is none')
    .option('--run <name>', 'name of the run, of one only (default: name of the directory of its traces)')
    .option('--tables <list>', `which tables: ${TABLES.join(',')} (default: all)`)
    .option('--window <cycles>', `cycles of a row of counters (default: ${DEFAULT_WINDOW})`)
    .option('--tag <key=value>', 'a column of traces with that value (may be repeated)', append, [])
    .option('--since <date>', 'only runs with a trace that was changed at or after a date')
    .option('--replace', 'replace runs of the same name that were made of other traces')
    .option('--dry-run', 'only list what would be exported')
    .option('--json', 'one JSON document')
    .action((paths: string[], options: ExportOptions) => exportTraces(paths, options));
}

async function exportTraces(paths: readonly string[], options: ExportOptions): Promise<void> {
  const tables = parseTables(options.tables);
  const tags = parseTags(options.tag);
  const window = options.window === undefined ? DEFAULT_WINDOW : parseCount('--window', options.window);
  const runs = named(await changedSince(await runsOf(paths), options.since), options.run);
  if (options.dryRun) {
    if (options.json) printJson({ runs });
    else for (const { run, files } of runs) io.out(`${run}: ${files.join(' ')}\n`);
    return;
  }
  const engine = await loadEngine();
  const results: (RunReport | Failure)[] = [];
  for (const { run, files } of runs) {
    const result = await withProgress(
      run,
      (onProgress) =>
        exportRun(engine, options.output, {
          run,
          files,
          tables,
          window,
          tags,
          replace: options.replace === true,
          onProgress,
        }),
      { streams: !options.json },
    ).catch((error) => failure(run, error));
    results.push(result);
    if (!options.json) print(result);
  }
  if (options.json) printJson({ runs: results });
  if (results.some((result) => 'error' in result)) process.exitCode = ExitCode.FAILED;
}

/** One run that fails does not keep the others from the dataset. */
function failure(run: string, error: unknown): Failure {
  if (!isUscopeError(error)) throw error;
  return { run, error: { code: error.code, detail: error.detail } };
}

function print(result: RunReport | Failure): void {
  if ('error' in result) io.err(`uscope: ${result.run}: ${result.error.code}: ${result.error.detail}`);
  else if (result.result === 'unchanged') io.out(`${result.run}: unchanged\n`);
  else {
    const { run, cores, instructions, gaps } = result;
    const damage = gaps > 0 ? `, ${gaps} damaged segments in gaps` : '';
    io.out(`${run}: ${cores} ${cores === 1 ? 'core' : 'cores'}, ${instructions} instructions${damage}\n`);
  }
}

function named(runs: readonly RunFiles[], name: string | undefined): readonly RunFiles[] {
  if (name !== undefined) {
    if (runs.length > 1)
      throw new UscopeError('CLI_USAGE', `--run names one run, and these are ${runs.length}`);
    return runs.map(({ files }) => ({ run: name, files }));
  }
  const twice = runs.find(({ run }, index) => runs.findIndex((other) => other.run === run) !== index);
  if (twice) {
    throw new UscopeError(
      'DATASET_RUN',
      `two directories are called "${twice.run}"; export them one by one, with --run`,
    );
  }
  return runs;
}

async function changedSince(
  runs: readonly RunFiles[],
  since: string | undefined,
): Promise<readonly RunFiles[]> {
  if (since === undefined) return runs;
  const date = Date.parse(since);
  if (Number.isNaN(date))
    throw new UscopeError('CLI_USAGE', `--since "${since}" is no date; write one such as 2026-01-31`);
  const newest = await Promise.all(
    runs.map(async ({ files }) =>
      Math.max(
        ...(await Promise.all(
          files.map(async (file) => (isHttpUrl(file) ? Infinity : (await stat(file)).mtimeMs)),
        )),
      ),
    ),
  );
  return runs.filter((_, index) => newest[index] >= date);
}

function parseTables(list: string | undefined): readonly TableName[] {
  if (list === undefined) return TABLES;
  const wanted = list.split(',').map((name) => name.trim());
  const wrong = wanted.find((name) => !TABLES.includes(name as TableName));
  if (wrong !== undefined)
    throw new UscopeError('CLI_USAGE', `there is no table "${wrong}"; there are ${TABLES.join(', ')}`);
  return TABLES.filter((name) => name === 'traces' || wanted.includes(name));
}

function parseTags(tags: readonly string[]): Record<string, string> {
  const parsed: Record<string, string> = {};
  for (const tag of tags) {
    const [, key, value] = /^([a-z][a-z0-9_]{0,62})=(.*)$/s.exec(tag) ?? [];
    if (key === undefined || RESERVED.has(key)) {
      throw new UscopeError(
        'CLI_USAGE',
        `--tag "${tag}" is not key=value with a key of a-z, 0-9 and _ that is no column of traces`,
      );
    }
    parsed[key] = value;
  }
  return parsed;
}
