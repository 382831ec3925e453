/** `uscope export`: traces as a dataset of Parquet files. */

import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { maxOf } from '../../base/arrays.js';
import type { ErrorCode } from '../../base/codes.js';
import { UscopeError } from '../../base/errors.js';
import { onOneLine } from '../../base/printable.js';
import {
  exportRuns,
  purgeJoined,
  type RunFailure,
  type RunReport,
  TABLES,
  type TableName,
} from '../../dataset/index.js';
import { isHttpUrl } from '../../reader/http-url.js';
import { withForeignHint } from '../common/foreign-hint.js';
import { ExitCode, io, printJson } from '../common/io.js';
import { append, parseCount } from '../common/option-values.js';
import { withProgress } from '../common/progress-bar.js';
import {
  DEFAULT_TABLES,
  DEFAULT_WINDOW,
  describeFailure,
  describeRows,
  parseTags,
} from './export-arguments.js';
import { type RunFiles, runsOf } from './run-directories.js';

interface ExportOptions {
  readonly output: string;
  readonly run?: string;
  readonly tables?: string;
  readonly window?: string;
  readonly tag: readonly string[];
  readonly since?: string;
  readonly replace?: boolean;
  readonly jobs?: string;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

export function register(command: Command): void {
  command
    .description(
      'Exports traces into a dataset of Parquet files, for uscope sql, DuckDB, Spark and other engines.',
    )
    .argument('<trace...>', 'traces, directories with traces, or URLs; a directory with traces is a run')
    .requiredOption('-o, --output <dataset>', 'the dataset; it is made where there is none')
    .option(
      '--run <name>',
      'name of the run, if there is one only (default: name of the directory of its traces)',
    )
    .option('--tables <list>', `which tables: ${TABLES.join(',')} (default: all but cycles)`)
    .option('--window <cycles>', `cycles of a row of counters (default: ${DEFAULT_WINDOW})`)
    .option('--tag <key=value>', 'a column of traces with that value (may be repeated)', append, [])
    .option('--since <date>', 'only runs with a trace that was changed at or after a date')
    .option('--replace', 'replace runs of the same name that were made of other traces')
    .option(
      '--jobs <n>',
      'runs that are exported at the same time (default: one for each core of the machine)',
    )
    .option('--dry-run', 'only list what would be exported')
    .option('--json', 'one JSON document')
    .action((paths: string[], options: ExportOptions) => exportTraces(paths, options));
}

async function exportTraces(paths: readonly string[], options: ExportOptions): Promise<void> {
  const tables = parseTables(options.tables);
  const tags = parseTags(options.tag);
  const window = options.window === undefined ? DEFAULT_WINDOW : parseCount('--window', options.window);
  const runs = named(await changedSince(await runsOf(paths), options.since), options.run);
  if (runs.length === 0) io.err(`uscope: no run has a trace that was changed since ${options.since}`);
  if (options.dryRun) {
    if (options.json) printJson({ runs });
    else for (const { run, files } of runs) io.out(`${onOneLine(`${run}: ${files.join(' ')}`)}\n`);
    return;
  }
  const requests = runs.map(({ run, files }) => ({
    run,
    files,
    tables,
    window,
    tags,
    replace: options.replace === true,
  }));
  const exported = await withProgress(
    'export',
    (onProgress) =>
      exportRuns(options.output, requests, {
        jobs: options.jobs === undefined ? undefined : parseCount('--jobs', options.jobs),
        onProgress,
        onRun: (result) => {
          if (!options.json && !('error' in result)) print(result);
        },
      }),
    { streams: !options.json },
  );
  await purgeJoined(options.output);
  const results = await Promise.all(exported.map(withHint));
  const failures = results.filter((result) => 'error' in result);
  if (options.json) printJson({ runs: results });
  else for (const failure of failures) print(failure);
  if (failures.length > 0) process.exitCode = ExitCode.FAILED;
}

async function withHint(result: RunReport | RunFailure): Promise<RunReport | RunFailure> {
  if (!('error' in result)) return result;
  const { code, detail, file } = result.error;
  const { code: hinted, detail: said } = await withForeignHint(
    new UscopeError(code as ErrorCode, detail, { file }),
  );
  return { ...result, error: { code: hinted, detail: said, file } };
}

function print(result: RunReport | RunFailure): void {
  if ('error' in result) io.err(`uscope: ${result.run}: ${describeFailure(result)}`);
  else if (result.result === 'unchanged') io.out(`${onOneLine(result.run)}: unchanged\n`);
  else {
    const damage = result.gaps > 0 ? `, ${result.gaps} damaged segments in gaps` : '';
    io.out(`${onOneLine(result.run)}: ${describeRows(result)}${damage}\n`);
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
    throw new UscopeError('CLI_USAGE', `--since "${since}" is not a date; write one such as 2026-01-31`);
  const newest = await Promise.all(
    runs.map(async ({ files }) =>
      maxOf(
        await Promise.all(
          files.map(async (file) => (isHttpUrl(file) ? Infinity : (await stat(file)).mtimeMs)),
        ),
      ),
    ),
  );
  return runs.filter((_, index) => newest[index] >= date);
}

function parseTables(list: string | undefined): readonly TableName[] {
  if (list === undefined) return DEFAULT_TABLES;
  if (list === 'all') return TABLES;
  const wanted = list.split(',').map((name) => name.trim());
  const wrong = wanted.find((name) => !TABLES.includes(name as TableName));
  if (wrong !== undefined)
    throw new UscopeError('CLI_USAGE', `there is no table "${wrong}"; there are ${TABLES.join(', ')}`);
  return TABLES.filter((name) => name === 'traces' || name === 'gaps' || wanted.includes(name));
}
