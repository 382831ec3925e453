/** `uscope serve`: the daemon, for any number of simulators. */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { getHeapStatistics, setFlagsFromString } from 'node:v8';
import type { Command } from 'commander';
import { UscopeError } from '../../base/errors.js';
import { collectGarbage } from '../../bridge/memory/memory-account.js';
import { ringSinks } from '../../bridge/session/ring-sink.js';
import { defaultEndpoint } from '../../bridge/wire/endpoint.js';
import { createSegmentIndexer } from '../../trace-index/recording/segment-indexer.js';
import { createCpuSummarizer } from '../../writer/summary/cpu-summarizer.js';
import {
  addDaemonOptions,
  addKeyOptions,
  type DaemonArguments,
  durabilityOf,
  keysOf,
  maxMemoryOf,
  maxTracesOf,
  niceOf,
  onFullOf,
  schemaOf,
} from '../common/daemon-arguments.js';
import { ExitCode } from '../common/io.js';
import { missingPackage } from '../common/optional-packages.js';
import { recorderOf } from '../common/ring-arguments.js';
import { compressionOf, intervalOf } from '../common/writer-arguments.js';

/** How often the heap is looked at, and how much garbage is left alone. */
const COLLECT_MS = 1000;
const GARBAGE_BYTES = 3 * 1024 * 1024;

export function register(command: Command): void {
  command
    .description(
      'Receives traces from simulators and writes them to files. SIGINT and SIGTERM finalize all open traces and end it.',
    )
    .option(
      '--endpoint <endpoint>',
      "ipc:///path or tcp://ADDRESS:PORT (default: USCOPE_ENDPOINT, or a socket in the user's runtime directory)",
    );
  addKeyOptions(addDaemonOptions(command)).action(async (options: DaemonArguments) => {
    const recorder = recorderOf(options);
    // ZeroMQ, which an installation for reading does without, is loaded only where it is used.
    const host = await import('../../bridge/host/daemon-host.js').catch(refuse);
    if (host === null) return;
    keepHeapSmall();
    const isWhole = await host.runDaemonHost({
      endpoint: options.endpoint ?? (process.env.USCOPE_ENDPOINT || defaultEndpoint()),
      outputDirectory: options.out,
      schema: schemaOf(options),
      compression: compressionOf(options),
      small: options.small,
      checkpointIntervalPs: intervalOf(options),
      durability: durabilityOf(options),
      onFull: onFullOf(options),
      nice: niceOf(options),
      keys: keysOf(options),
      maxMemoryBytes: maxMemoryOf(options),
      ...(options.maxTraces === undefined ? {} : { maxTraces: maxTracesOf(options)! }),
      summarizer: createCpuSummarizer,
      copy: copyTrace,
      index: options.index === false ? null : createSegmentIndexer,
      ...(recorder ? { sinks: ringSinks(recorder) } : {}),
    });
    if (!isWhole) process.exitCode = ExitCode.LOSS;
  });
}

/** A supervisor reports why its daemon cannot start. @throws the failure, where there is none */
async function refuse(failure: unknown): Promise<null> {
  const missing = await missingPackage(failure);
  if (missing === null || !process.send) throw failure;
  process.send({ type: 'refused', failure: { code: missing.code, message: missing.message } });
  process.exitCode = ExitCode.USAGE;
  process.disconnect?.();
  return null;
}

/**
 * The daemon makes little garbage, and V8 lets little garbage grow: memory would rise with the length of a trace though nothing is kept. So it is
 * collected before there is much. The heap of each new thread sets the growth factor back, for the whole process.
 */
function keepHeapSmall(): void {
  const setFlags = (): void => {
    setFlagsFromString('--optimize-for-size');
    setFlagsFromString('--semi-space-growth-factor=1');
  };
  setFlags();
  process.on('worker', (thread) => thread.once('online', setFlags));
  // The first time: what only the start needed is garbage.
  let kept = 0;
  setInterval(() => {
    if (usedHeap() < kept + GARBAGE_BYTES) return;
    collectGarbage();
    kept = usedHeap();
  }, COLLECT_MS).unref();
}

const usedHeap = (): number => getHeapStatistics().used_heap_size;

const BIN = fileURLToPath(new URL('../../../bin/uscope.js', import.meta.url));

/**
 * Another process makes the copy in another format, so the daemon continues with its other traces.
 * @throws UscopeError CONVERT_SOURCE
 */
function copyTrace(path: string, output: string, signal: AbortSignal): Promise<void> {
  const args = [BIN, 'convert', path, '-o', output, '--force'];
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { signal }, (error, _out, said) => {
      if (!error) resolve();
      else reject(new UscopeError('CONVERT_SOURCE', `no copy was made: ${said.trim() || error.message}`));
    });
  });
}
