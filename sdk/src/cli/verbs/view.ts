/** `uscope view`: the pipeline as a picture, in a browser. */
import { hostname, userInfo } from 'node:os';
import type { Command } from 'commander';
import { UscopeError } from '../../base/errors.js';
import { openTraceFile } from '../../reader/node.js';
import { exportView, openBrowser, openServedTrace, serveView } from '../../view/index.js';
import { io } from '../common/io.js';
import { shownName } from '../common/trace-file.js';

interface ViewOptions {
  readonly port?: string;
  readonly open: boolean;
  readonly at?: string;
  readonly core?: string;
  readonly export?: string;
}

export function register(program: Command): void {
  program
    .command('view')
    .summary('look at a trace in a browser')
    .description(
      'Serves the viewer and one trace on the loopback, prints the address and opens a browser if there is one. Ctrl-C ends it.',
    )
    .argument('[file]', 'trace file or URL')
    .option('--port <n>', 'port of the server; by default one that is free')
    .option('--no-open', 'open no browser')
    .option('--at <cycle>', 'show this cycle first')
    .option('--core <name>', 'which core; by default the first')
    .option('--export <dir>', 'write the viewer as static files instead, with the trace if one is given')
    .action(async (file: string | undefined, options: ViewOptions) => {
      if (options.export !== undefined) return writeFiles(options.export, file);
      if (file === undefined)
        throw new UscopeError('CLI_USAGE', 'view needs a trace file or URL, or --export');
      const hash = hashOf(options);
      const port = numberOption('--port', options.port, 65_535) ?? 0;
      await view(file, port, hash, options.open);
    });
}

async function view(file: string, port: number, hash: string, wantsBrowser: boolean): Promise<void> {
  const trace = await openServedTrace(file);
  try {
    await check(file);
    const server = await serveView(trace, { port });
    const url = server.url + hash;
    const { port: used } = server;
    io.out(`${url}\n`);
    io.flush();
    io.err(`uscope: showing ${shownName(file)}; Ctrl-C ends`);
    io.err(
      `uscope: from another machine: ssh -L ${used}:127.0.0.1:${used} ${userInfo().username}@${hostname()}`,
    );
    if (wantsBrowser) await openBrowser(url);
    await interrupted();
    await server.close();
  } finally {
    await trace.close();
  }
}

/** What is no trace is told here rather than in the page. */
async function check(file: string): Promise<void> {
  const opened = await openTraceFile(file);
  await opened.close();
}

function interrupted(): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      process.off('SIGINT', done).off('SIGTERM', done);
      resolve();
    };
    process.on('SIGINT', done).on('SIGTERM', done);
  });
}

async function writeFiles(directory: string, file: string | undefined): Promise<void> {
  const names = await exportView(directory, file);
  for (const name of names) io.out(`${directory}/${name}\n`);
}

function hashOf({ at, core }: ViewOptions): string {
  const cycle = numberOption('--at', at, Number.MAX_SAFE_INTEGER);
  const parts = [
    cycle === undefined ? null : `at=${cycle}`,
    core === undefined ? null : `core=${encodeURIComponent(core)}`,
  ].filter((part) => part !== null);
  return parts.length === 0 ? '' : `#${parts.join('&')}`;
}

/** @throws UscopeError CLI_USAGE */
function numberOption(name: string, text: string | undefined, max: number): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,16}$/.test(text) && Number(text) <= max) return Number(text);
  throw new UscopeError('CLI_USAGE', `${name} "${text}" is not a number from 0 to ${max}`);
}
