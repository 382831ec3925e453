/** `uscope index`: indexes beside traces that have none. */
import { basename } from 'node:path';
import type { Command } from 'commander';
import { UscopeError } from '../../base/errors.js';
import { onOneLine } from '../../base/printable.js';
import { isHttpUrl } from '../../reader/http-url.js';
import { makeSidecar, type SidecarReport } from '../../tools/sidecar/index.js';
import { sidecarPath } from '../../trace-index/node/index.js';
import { withForeignHint } from '../common/foreign-hint.js';
import { ExitCode, io, printJson } from '../common/io.js';
import { parseCount } from '../common/option-values.js';
import { withProgress } from '../common/progress-bar.js';
import { tracesOf } from '../common/trace-file.js';

interface IndexVerbOptions {
  readonly output?: string;
  readonly force?: boolean;
  readonly threads?: string;
  readonly json?: boolean;
}

interface Result extends SidecarReport {
  readonly trace: string;
  readonly output: string;
}

interface Failure {
  readonly trace: string;
  readonly error: { readonly code: string; readonly detail: string };
}

export function register(command: Command): void {
  command
    .description(
      'Writes NAME.uscope.idx beside each trace that has no index: what views and statistics of long traces need. Works on all cores; ' +
        'a run that was interrupted continues where it stopped.',
    )
    .argument('<file...>', 'traces, directories with traces, or URLs')
    .option(
      '-o, --output <file>',
      'where the index goes (one trace only; for a URL by default the working directory)',
    )
    .option('--force', 'make it anew where there is an index already')
    .option('--threads <n>', 'threads that work (default: the cores of the machine)')
    .option('--json', 'one JSON document')
    .action((files: string[], options: IndexVerbOptions) => index(files, options));
}

async function index(files: readonly string[], options: IndexVerbOptions): Promise<void> {
  const traces = (await Promise.all(files.map(tracesOf))).flat();
  if (options.output !== undefined && traces.length !== 1) {
    throw new UscopeError('CLI_USAGE', `--output is for one trace, not for ${traces.length}`);
  }
  const results: (Result | Failure)[] = [];
  for (const trace of traces) {
    const result = await indexOne(trace, options);
    results.push(result);
    if (!options.json) tell(result);
  }
  if (options.json) printJson({ traces: results });
  if (results.some((result) => 'error' in result)) process.exitCode = ExitCode.FAILED;
}

/** What is damaged must not keep the others from their index. */
async function indexOne(trace: string, options: IndexVerbOptions): Promise<Result | Failure> {
  const output = options.output ?? defaultOutput(trace);
  const { force, json } = options;
  const threads = options.threads === undefined ? undefined : parseCount('--threads', options.threads);
  const onWait = (): void => io.err(`uscope: note: another process makes ${output}; waiting for it`);
  try {
    const report = await withProgress(
      basename(trace),
      (update) => makeSidecar({ trace, output, force, threads, onProgress: update, onWait }),
      { streams: !json },
    );
    return { trace, output, ...report };
  } catch (error) {
    if (!(error instanceof UscopeError)) throw error;
    const { code, detail } = await withForeignHint(error.at({ file: trace }));
    return { trace, error: { code, detail } };
  }
}

function defaultOutput(trace: string): string {
  return isHttpUrl(trace) ? basename(new URL(sidecarPath(trace)).pathname) : sidecarPath(trace);
}

function tell(result: Result | Failure): void {
  if ('error' in result) {
    io.err(`uscope: ${result.trace}: ${result.error.code}: ${result.error.detail}`);
    return;
  }
  const { trace, output, segments, resumed, without, bytes } = result;
  if (result.result === 'current') io.out(`${onOneLine(trace)}: has an index\n`);
  else if (result.result === 'nothing')
    io.out(`${onOneLine(trace)}: has nothing to index: no segments, or no clock of known period\n`);
  else {
    const kept = resumed > 0 ? `, ${resumed} of them already there` : '';
    io.out(`${onOneLine(output)}: ${segments} segments${kept}, ${bytes} bytes\n`);
    if (without > 0)
      io.err(`uscope: note: ${without} segments have no index: their frames do not follow the schema`);
  }
}
