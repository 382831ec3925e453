/** `uscope dataset`: what is in a dataset, whether it is whole, and taking runs away. */

import type { Command } from 'commander';
import { UscopeError } from '../../base/errors.js';
import { onOneLine } from '../../base/printable.js';
import { formatBytes, formatCount } from '../../base/units.js';
import {
  checkDataset,
  compactDataset,
  datasetStats,
  listRuns,
  loadEngine,
  openWhole,
  purgeJoined,
  removeRun,
} from '../../dataset/index.js';
import { table } from '../common/chart.js';
import { ExitCode, io, printJson } from '../common/io.js';
import { withProgress } from '../common/progress-bar.js';

interface DatasetOptions {
  readonly json?: boolean;
  readonly dryRun?: boolean;
}

export function register(command: Command): void {
  command
    .description(
      'ls: the runs of a dataset. check: whether every run is whole and every file can be read. rm: removes runs. compact: joins the small files of many runs. stats: rows and bytes of each table.',
    )
    .argument('<action>', 'ls, check, rm, compact, stats')
    .argument('<dataset>', 'a directory that uscope export has made')
    .argument('[run...]', 'for rm: the runs; * matches any characters')
    .option('--dry-run', 'for rm: only list the runs')
    .option('--json', 'one JSON document')
    .action(async (action: string, dataset: string, runs: string[], options: DatasetOptions) => {
      if (action !== 'rm' && runs.length > 0) throw new UscopeError('CLI_USAGE', `${action} takes no runs`);
      await openWhole(dataset);
      if (action === 'ls') await list(dataset, options);
      else if (action === 'check') await check(dataset, options);
      else if (action === 'rm') await remove(dataset, runs, options);
      else if (action === 'compact') await compact(dataset, options);
      else if (action === 'stats') await stats(dataset, options);
      else
        throw new UscopeError(
          'CLI_USAGE',
          `there is no action "${action}"; there are ls, check, rm, compact, stats`,
        );
    });
}

async function list(dataset: string, { json }: DatasetOptions): Promise<void> {
  const runs = await listRuns(dataset);
  if (json) {
    printJson({
      runs: runs.map(({ run, record, isJoined, files, bytes }) => ({
        run,
        ...record,
        parts: undefined,
        joined: isJoined,
        files,
        bytes,
      })),
    });
    return;
  }
  const rows = runs.map(({ run, record, isJoined, files, bytes }) => [
    run,
    isJoined ? 'joined' : String(files),
    isJoined ? '' : formatBytes(bytes),
    Object.entries(record?.tags ?? {})
      .map(([key, value]) => `${key}=${value}`)
      .join(' '),
    record?.sources[0]?.path ?? 'no record',
  ]);
  const shown = rows.map((row) => row.map(onOneLine));
  io.out(table([['run', 'files', 'size', 'tags', 'first trace'], ...shown], [0, 3, 4]));
}

async function check(dataset: string, { json }: DatasetOptions): Promise<void> {
  const found = await checkDataset(await loadEngine(), dataset);
  if (json) printJson(found);
  else {
    for (const { run, problem } of found.problems)
      io.err(`uscope: ${run === null ? '' : `${run}: `}${problem}`);
    const problems = found.problems.length === 0 ? 'whole' : `${found.problems.length} problems`;
    io.out(
      `${formatCount(found.runs)} runs, ${formatCount(found.files)} files, ${formatCount(found.rows)} rows: ${problems}\n`,
    );
  }
  if (found.problems.length > 0) process.exitCode = ExitCode.FAILED;
}

async function remove(
  dataset: string,
  patterns: readonly string[],
  { json, dryRun }: DatasetOptions,
): Promise<void> {
  if (patterns.length === 0)
    throw new UscopeError('CLI_USAGE', 'name the runs to remove: uscope dataset rm DATASET RUN...');
  const listed = await listRuns(dataset);
  const runs = listed.map(({ run }) => run);
  const chosen = new Set<string>();
  for (const pattern of patterns) {
    const matches = runs.filter((run) => isMatch(pattern, run));
    if (matches.length === 0)
      throw new UscopeError('DATASET_RUN', `the dataset has no run "${pattern}"`, { file: dataset });
    for (const run of matches) chosen.add(run);
  }
  const wasJoined = listed.some(({ run, isJoined }) => isJoined && chosen.has(run));
  if (!dryRun) {
    for (const run of chosen) await removeRun(dataset, run);
    if (wasJoined) await purgeJoined(dataset);
  }
  if (json) printJson({ removed: dryRun ? [] : [...chosen], runs: [...chosen] });
  else for (const run of chosen) io.out(`${onOneLine(run)}: ${dryRun ? 'would be removed' : 'removed'}\n`);
}

async function compact(dataset: string, { json }: DatasetOptions): Promise<void> {
  const engine = await loadEngine();
  const done = await withProgress(
    'compact',
    (onProgress) => compactDataset(engine, dataset, { onProgress }),
    { streams: !json },
  );
  if (json) printJson(done);
  else if (done.filesBefore === 0) io.out('nothing to join\n');
  else {
    const { runs, filesBefore, filesAfter } = done;
    io.out(
      `${formatCount(runs)} runs joined: ${formatCount(filesBefore)} files are ${formatCount(filesAfter)} now\n`,
    );
  }
}

function isMatch(pattern: string, run: string): boolean {
  const parts = pattern.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`).test(run);
}

async function stats(dataset: string, { json }: DatasetOptions): Promise<void> {
  const tables = await datasetStats(await loadEngine(), dataset);
  if (json) {
    printJson({ tables });
    return;
  }
  const rows = tables.map((one) => [
    one.table,
    formatCount(one.files),
    formatCount(one.rows),
    formatBytes(one.bytes),
    one.rows > 0 ? (one.bytes / one.rows).toFixed(1) : '',
  ]);
  io.out(table([['table', 'files', 'rows', 'size', 'bytes/row'], ...rows]));
}
