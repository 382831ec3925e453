/** Options that `uscope serve` and `uscope run` share. */
import type { Command } from 'commander';
import { UscopeError } from '../../base/errors.js';
import { DEFAULT_NICE, MAX_NICE } from '../../bridge/host/priority.js';
import type { Durability } from '../../bridge/session/durability.js';
import { readClientKeys, readKeyPair, type ServerKeys } from '../../bridge/wire/key-files.js';
import { parseSize } from './option-values.js';
import { addRingOptions, type RingArguments } from './ring-arguments.js';
import { readSchemaFile } from './schema-file.js';
import { COMPRESSIONS, SMALL_HELP, type WriterArguments } from './writer-arguments.js';

export interface DaemonArguments extends RingArguments, WriterArguments {
  readonly endpoint?: string;
  readonly out: string;
  readonly schema?: string;
  /** false with `--no-index`. */
  readonly index?: boolean;
  readonly maxTraces?: string;
  readonly maxMemory?: string;
  readonly durability?: string;
  readonly onFull?: string;
  readonly nice?: string;
  readonly key?: string;
  readonly clients?: string;
}

/** Enough for a schema that is being read, and a small trace. */
const MIN_MEMORY_BYTES = 64 * 1024 * 1024;

export function addDaemonOptions(command: Command): Command {
  command
    .option('--out <dir>', 'directory for the traces', '.')
    .option('--schema <file>', 'schema for clients that bring none')
    .option('--compression <method>', `${COMPRESSIONS.join(', ')} (default: lz4)`)
    .option('--small', SMALL_HELP)
    .option('--no-index', 'write no index: questions about a long trace then read all of it')
    .option(
      '--checkpoint-interval <time>',
      'simulated time between checkpoints: 10000000 (ps), 10us, … (default: 10us)',
    )
    .option('--max-traces <n>', 'traces that may be open at a time (default: 1024)')
    .option(
      '--max-memory <size>',
      'memory that all traces together may take: 2GB (default: half of what there is)',
    )
    .option(
      '--durability <mode>',
      'when the disk must have what is acknowledged: segment (default), interval=MS, none',
    )
    .option('--on-full <policy>', 'a full disk: wait for room (default) or stop the trace')
    .option(
      '--nice <n>',
      `nice value of the daemon, which gives way to the simulator, 0 to ${MAX_NICE} (default: ${DEFAULT_NICE})`,
    );
  return addRingOptions(command);
}

/** Options of a daemon that lets only listed keys in. */
export function addKeyOptions(command: Command): Command {
  return command
    .option('--key <file>', 'key of this daemon (uscope keygen), for tcp endpoints that others may reach')
    .option('--clients <file>', 'public keys of the clients that may connect, one per line');
}

/** @throws UscopeError CLI_USAGE */
export function durabilityOf({ durability = 'segment' }: DaemonArguments): Durability {
  if (durability === 'segment' || durability === 'none') return { mode: durability };
  const [, digits] = /^interval=(\d{1,7})$/.exec(durability) ?? [];
  if (Number(digits) > 0) return { mode: 'interval', ms: Number(digits) };
  throw new UscopeError(
    'CLI_USAGE',
    `"${durability}" is not a durability; write segment, none, or interval=MS with 1 to 9999999 ms`,
  );
}

/** @throws UscopeError CLI_USAGE */
export function onFullOf({ onFull }: DaemonArguments): 'wait' | 'stop' | undefined {
  if (onFull === undefined || onFull === 'wait' || onFull === 'stop') return onFull;
  throw new UscopeError('CLI_USAGE', `"${onFull}" is not a policy for a full disk; write wait or stop`);
}

/** @throws UscopeError CLI_USAGE */
export function niceOf({ nice }: DaemonArguments): number | undefined {
  if (nice === undefined) return undefined;
  if (/^\d{1,2}$/.test(nice) && Number(nice) <= MAX_NICE) return Number(nice);
  throw new UscopeError('CLI_USAGE', `"${nice}" is not a nice value; write 0 to ${MAX_NICE}`);
}

/** @throws UscopeError CLI_USAGE, BRIDGE_KEY */
export function keysOf({ key, clients }: DaemonArguments): ServerKeys | undefined {
  if (key === undefined && clients === undefined) return undefined;
  if (key === undefined || clients === undefined)
    throw new UscopeError('CLI_USAGE', '--key and --clients are given together or not at all');
  return { ...readKeyPair(key), clientKeys: readClientKeys(clients) };
}

/** @throws UscopeError CLI_USAGE */
export function maxTracesOf({ maxTraces }: DaemonArguments): number | undefined {
  if (maxTraces === undefined) return undefined;
  if (/^[1-9]\d{0,5}$/.test(maxTraces)) return Number(maxTraces);
  throw new UscopeError('CLI_USAGE', `"${maxTraces}" is not a number of traces; write 1 to 999999`);
}

/** Bytes. @throws UscopeError CLI_USAGE */
export function maxMemoryOf({ maxMemory }: Pick<DaemonArguments, 'maxMemory'>): number | undefined {
  if (maxMemory === undefined) return undefined;
  const bytes = parseSize(maxMemory);
  if (bytes !== null && bytes >= MIN_MEMORY_BYTES) return bytes;
  throw new UscopeError(
    'CLI_USAGE',
    `"${maxMemory}" is not a bound of memory; write 512MB or 2GB, at least 64MB`,
  );
}

/** @throws UscopeError CLI_USAGE when the file cannot be read */
export function schemaOf({ schema }: DaemonArguments): { text: string; file: string } | undefined {
  return schema === undefined ? undefined : { text: readSchemaFile(schema), file: schema };
}
