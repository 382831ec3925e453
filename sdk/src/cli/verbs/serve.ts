/** `uscope serve`: the daemon, for any number of simulators. */
import type { Command } from 'commander';
import { runDaemonHost } from '../../bridge/daemon-host.js';
import { defaultEndpoint } from '../../bridge/endpoint.js';
import { createCpuSummarizer } from '../../protocols/cpu/index.js';
import {
  addDaemonOptions,
  compressionOf,
  type DaemonArguments,
  intervalOf,
  maxTracesOf,
  schemaOf,
} from '../daemon-arguments.js';

export function register(program: Command): void {
  const command = program
    .command('serve')
    .summary('receive traces from simulators until stopped')
    .description(
      'Receives traces from simulators and writes them to files. SIGINT and SIGTERM finalize all open traces and end it.',
    )
    .option(
      '--endpoint <endpoint>',
      "ipc:///path or tcp://127.0.0.1:PORT (default: a socket in the user's runtime directory)",
    );
  addDaemonOptions(command).action(async (options: DaemonArguments) => {
    await runDaemonHost({
      endpoint: options.endpoint ?? defaultEndpoint(),
      outputDirectory: options.out,
      schema: schemaOf(options),
      compression: compressionOf(options),
      checkpointIntervalPs: intervalOf(options),
      ...(options.maxTraces === undefined ? {} : { maxTraces: maxTracesOf(options)! }),
      summarizer: createCpuSummarizer,
    });
  });
}
