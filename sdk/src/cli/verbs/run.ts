/** `uscope run`: one simulator, traced. */

import type { Command } from 'commander';
import { type RunOptions, supervise } from '../../bridge/run/supervisor.js';
import {
  addDaemonOptions,
  type DaemonArguments,
  durabilityOf,
  maxMemoryOf,
  maxTracesOf,
  niceOf,
  onFullOf,
  schemaOf,
} from '../common/daemon-arguments.js';
import { ExitCode } from '../common/io.js';
import { parseSeconds } from '../common/option-values.js';
import { ringServeArguments } from '../common/ring-arguments.js';
import { compressionOf, intervalOf } from '../common/writer-arguments.js';
import { addRunOptions, afterRun } from '../leaf-uses.js';

interface RunArguments extends DaemonArguments {
  readonly timeout?: string;
  readonly daemonTimeout?: string;
  readonly json?: string;
  readonly view?: boolean;
  readonly open: boolean;
}

export function register(command: Command): void {
  command
    .usage('[options] [--] <simulator> [arguments]')
    // What follows the simulator's name is the simulator's, whatever it is called.
    .passThroughOptions()
    .showHelpAfterError(
      '(options of the simulator follow its name: uscope run [options] -- <simulator> --its-option)',
    )
    .description(
      "Runs a simulator and writes its traces. Ends with the simulator's exit status, or with 3 when a trace lost or rejected anything or there is none.",
    )
    .argument('<simulator...>', 'program and arguments')
    .option('--endpoint <endpoint>', 'where to listen (default: a private socket)')
    .option('--timeout <seconds>', 'end a simulator that runs longer, and keep its traces (status 124)')
    .option(
      '--daemon-timeout <seconds>',
      'how long the simulator waits for a daemon that does not answer (default: 30)',
    )
    .option('--json <file>', "the summary of the run as JSON; - for stdout, after the simulator's output");
  command
    .option('--view', 'show the traces in a browser while they are written, and afterwards until Ctrl-C')
    .option('--no-open', 'with --view: only print the address');
  addRunOptions(command);
  addDaemonOptions(command).action(async (simulator: [string, ...string[]], options: RunArguments) => {
    const after = await afterRun({ ...options });
    const run: RunOptions = {
      command: simulator,
      serveArguments: serveArguments(options),
      endpoint: options.endpoint,
      timeoutMs: parseSeconds('--timeout', options.timeout),
      daemonTimeoutMs: parseSeconds('--daemon-timeout', options.daemonTimeout),
      json: options.json,
      onEnd: async (paths) => {
        for (const one of after) await one.run(paths);
      },
    };
    process.exitCode = options.view === true ? await shown(run, options) : await supervise(run);
    if (after.some(({ hasFailed }) => hasFailed) && process.exitCode === ExitCode.OK)
      process.exitCode = ExitCode.FAILED;
  });
}

/** The page stays until the user has seen enough; the status is that of the run. */
async function shown(run: RunOptions, { out, open }: RunArguments): Promise<number> {
  const { viewRun } = await import('../view/view-directory.js');
  const view = await viewRun(out, open);
  try {
    const status = await supervise(run);
    await view.untilEnded();
    return status;
  } finally {
    await view.close();
  }
}

/** Checked here, where mistakes are still mistakes of this command line. */
function serveArguments(options: RunArguments): string[] {
  schemaOf(options);
  compressionOf(options);
  intervalOf(options);
  maxMemoryOf(options);
  maxTracesOf(options);
  durabilityOf(options);
  onFullOf(options);
  niceOf(options);
  const given: [string, string | undefined][] = [
    ['--out', options.out],
    ['--schema', options.schema],
    ['--compression', options.compression],
    ['--checkpoint-interval', options.checkpointInterval],
    ['--max-traces', options.maxTraces],
    ['--max-memory', options.maxMemory],
    ['--durability', options.durability],
    ['--on-full', options.onFull],
    ['--nice', options.nice],
  ];
  const plain = given.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
  const flags = [...(options.small ? ['--small'] : []), ...(options.index === false ? ['--no-index'] : [])];
  return [...plain, ...flags, ...ringServeArguments(options)];
}
