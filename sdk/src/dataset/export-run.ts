/** Exports one run: the traces of one simulation, core by core, into the tables of a dataset. */
import { readFile, rm, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { isUscopeError, UscopeError } from '../base/errors.js';
import { isHttpUrl } from '../reader/http-url.js';
import type { Trace } from '../reader/index.js';
import { openTraceFile } from '../reader/node.js';
import { type CpuCore, findCores } from '../semantics/cpu/index.js';
import { type Connection, type Engine, quoted } from './engine/duckdb.js';
import { checkRunName, openDataset, RUNS, type RunRecord, type TableName } from './layout.js';
import { StagedRun } from './publish.js';
import { blocksWithGaps, type Gap } from './tables/blocks-with-gaps.js';
import { writeCounters } from './tables/counters.js';
import { InstructionsTable } from './tables/instructions.js';
import { writeStalls } from './tables/stalls.js';
import { writeTraceRow } from './tables/traces.js';

export interface RunExport {
  readonly run: string;
  /** Paths or URLs of its traces. */
  readonly files: readonly string[];
  readonly tables: readonly TableName[];
  /** Cycles of a window of `counters`. */
  readonly window: number;
  readonly tags: Readonly<Record<string, string>>;
  /** Replace a run of that name that was made of other files. */
  readonly replace: boolean;
  readonly onProgress?: ((fraction: number) => void) | undefined;
}

export interface RunReport {
  readonly run: string;
  readonly result: 'exported' | 'unchanged';
  readonly cores: number;
  readonly instructions: number;
  readonly gaps: number;
}

/** Of the engine, next to what our own code takes. */
const MEMORY = '256MB';

/**
 * @throws UscopeError DATASET_LAYOUT, DATASET_NAME, DATASET_RUN, DATASET_LOCKED, DATASET_WRITE; READER_* and FORMAT_* for a trace that cannot be opened
 */
export async function exportRun(engine: Engine, root: string, request: RunExport): Promise<RunReport> {
  checkRunName(request.run);
  const record = await recordOf(request);
  await openDataset(root, { create: true });
  if (await isCurrent(root, record, request.replace)) {
    return { run: request.run, result: 'unchanged', cores: 0, instructions: 0, gaps: 0 };
  }
  const staged = await StagedRun.begin(root, request.run);
  try {
    const report = await exportTraces(engine, staged, request);
    await staged.publish(record);
    return report;
  } catch (error) {
    await staged.abandon();
    throw writeError(error, root);
  }
}

async function exportTraces(engine: Engine, staged: StagedRun, request: RunExport): Promise<RunReport> {
  let [cores, instructions, gaps] = [0, 0, 0];
  const used = new Set<string>();
  for (const [index, file] of request.files.entries()) {
    const trace = await openTraceFile(file);
    try {
      for (const core of findCores(trace)) {
        const name = used.has(core.name)
          ? `${basename(file).replace(/\.uscope$/, '')}.${core.name}`
          : core.name;
        if (used.has(name))
          throw new UscopeError('DATASET_RUN', `the run has the core "${name}" twice`, { file });
        used.add(name);
        const done = await exportCore(engine, staged, request, { trace, core, name, file, index });
        cores++;
        instructions += done.instructions;
        gaps += done.gaps;
      }
    } catch (error) {
      throw isUscopeError(error) ? error.at({ file }) : error;
    } finally {
      await trace.close();
    }
  }
  return { run: request.run, result: 'exported', cores, instructions, gaps };
}

interface CoreOfTrace {
  readonly trace: Trace;
  readonly core: CpuCore;
  /** Of the partition. */
  readonly name: string;
  readonly file: string;
  readonly index: number;
}

async function exportCore(
  engine: Engine,
  staged: StagedRun,
  request: RunExport,
  { trace, core, name, file, index }: CoreOfTrace,
): Promise<{ instructions: number; gaps: number }> {
  const scratch = join(staged.path, 'scratch.duckdb');
  const instance = await engine.api.DuckDBInstance.create(scratch, {
    memory_limit: MEMORY,
    threads: String(availableParallelism()),
    temp_directory: join(staged.path, 'spill'),
    preserve_insertion_order: 'true',
  });
  const connection = await instance.connect();
  const wants = (table: TableName): boolean => request.tables.includes(table);
  const gaps: Gap[] = [];
  try {
    const copy = async (table: TableName, query: string | null): Promise<void> => {
      if (query === null || !wants(table)) return;
      const path = join(await staged.partOf(table, name), 'part-0.parquet');
      await connection.run(
        `COPY (${query}) TO ${quoted(path)} (FORMAT parquet, PARQUET_VERSION v2, COMPRESSION zstd, ROW_GROUP_SIZE 122880)`,
      );
    };
    let table: InstructionsTable | null = null;
    if (core.entities && (wants('instructions') || wants('traces') || wants('gaps'))) {
      table = await InstructionsTable.create(engine, connection, core);
      for await (const block of blocksWithGaps(trace, core, (gap) => gaps.push(gap))) {
        table.add(block);
        request.onProgress?.((index + (block.segment + 1) / trace.segmentCount) / request.files.length);
      }
      await copy('instructions', await table.finish());
    }
    const isWhole = gaps.length === 0;
    if (wants('stalls') && isWhole) await copy('stalls', await writeStalls(engine, connection, trace, core));
    if (wants('counters') && isWhole)
      await copy('counters', await writeCounters(connection, trace, core, request.window));
    await copy('gaps', await gapsQuery(connection, trace, core, gaps));
    await copy('traces', await writeTraceRow(connection, trace, core, file, table, request.tags));
    return { instructions: table?.count ?? 0, gaps: gaps.length };
  } finally {
    connection.closeSync();
    instance.closeSync();
    await rm(scratch, { force: true });
    await rm(join(staged.path, 'spill'), { recursive: true, force: true });
  }
}

async function gapsQuery(
  connection: Connection,
  trace: Trace,
  core: CpuCore,
  gaps: readonly Gap[],
): Promise<string> {
  await connection.run(
    'CREATE TABLE gap_rows (segment BIGINT, from_cycle BIGINT, to_cycle BIGINT, code VARCHAR, detail VARCHAR)',
  );
  const appender = await connection.createAppender('gap_rows');
  const period = core.periodPs > 0n ? core.periodPs : 1n;
  for (const { segment, error } of gaps) {
    const place = await trace.segment(segment).catch(() => null);
    appender.appendBigInt(BigInt(segment));
    for (const time of [place?.timeStartPs, place?.timeEndPs]) {
      if (time === undefined) appender.appendNull();
      else appender.appendBigInt(time / period);
    }
    appender.appendVarchar(error.code);
    appender.appendVarchar(error.detail);
    appender.endRow();
  }
  appender.closeSync();
  return 'SELECT * FROM gap_rows';
}

async function recordOf({ run, files, tables, window, tags }: RunExport): Promise<RunRecord> {
  const sources = await Promise.all(
    files.map(async (file) => {
      if (isHttpUrl(file)) return { path: file, bytes: -1, modifiedMs: -1 };
      const found = await stat(file).catch((cause) => {
        throw new UscopeError('READER_OPEN', `the file cannot be read: ${(cause as Error).message}`, {
          file,
        });
      });
      return { path: resolve(file), bytes: found.size, modifiedMs: Math.floor(found.mtimeMs) };
    }),
  );
  return { run, sources, tables: [...tables], window, tags };
}

/** Whether the run is there as it would be exported now. */
async function isCurrent(root: string, record: RunRecord, replace: boolean): Promise<boolean> {
  const path = join(root, RUNS, `${record.run}.json`);
  const text = await readFile(path, 'utf8').catch(() => null);
  if (text === null) return false;
  const there = JSON.parse(text) as RunRecord;
  const paths = ({ sources }: RunRecord): string =>
    sources
      .map((source) => source.path)
      .sort()
      .join('\n');
  if (paths(there) !== paths(record) && !replace) {
    throw new UscopeError(
      'DATASET_RUN',
      `the dataset has a run "${record.run}" of other traces (${there.sources[0]?.path ?? 'none'}); choose another name with --run, or --replace it`,
      { file: root },
    );
  }
  const isRemote = record.sources.some(({ bytes }) => bytes < 0);
  return !isRemote && JSON.stringify({ ...there, parts: undefined }) === JSON.stringify(record);
}

function writeError(error: unknown, root: string): unknown {
  if (isUscopeError(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  const isFull = /No space left|ENOSPC/i.test(message);
  const hint = isFull ? 'the disk is full; free some space and export again' : message.split('\n')[0];
  return new UscopeError(
    'DATASET_WRITE',
    `the run was not exported, the dataset is as before: ${hint}`,
    { file: root },
    { cause: error },
  );
}
