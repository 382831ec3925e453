/** `uscope ctl`: pause, resume and mark traces that are being recorded, and see their state. */

import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { UscopeError } from '../../base/errors.js';
import { onOneLine } from '../../base/printable.js';
import { formatBytes, formatCount, formatTime } from '../../base/units.js';
import type { ControlledTrace } from '../../bridge/client/ctl.js';
import { findDaemons } from '../../bridge/daemon/daemon-file.js';
import { type ClientKeys, readKeyPair, readPublicKey } from '../../bridge/wire/key-files.js';
import { ExitCode, io } from '../common/io.js';
import { parseSeconds } from '../common/option-values.js';

/** The daemon takes no longer ones (docs/reference/bridge-protocol.md#control-while-running). */
const MAX_TIMEOUT_SECONDS = 600;

interface CtlArguments {
  readonly trace?: string;
  readonly timeout?: string;
  readonly json?: boolean;
  readonly key?: string;
  readonly serverKey?: string;
}

/** What an action takes behind its name. */
const OPERANDS: Readonly<Record<string, 'none' | 'scope' | 'label'>> = {
  pause: 'none',
  resume: 'none',
  disable: 'scope',
  enable: 'scope',
  trigger: 'label',
  status: 'none',
  hasten: 'none',
};

type Answer = readonly (readonly [name: string, trace: ControlledTrace])[];

export function register(command: Command): void {
  command
    .description(
      'Controls what the daemon of a directory or an endpoint records from now on. The simulation continues at full speed while its trace is paused; each action is an event in the trace.',
    )
    .argument('<where>', 'output directory of uscope run or serve, or an endpoint')
    .argument('<action>', Object.keys(OPERANDS).join(', '))
    .argument('[operand]', 'scope of disable and enable, label of trigger')
    .option('--trace <name>', 'only this trace (default: all)')
    .option('--timeout <seconds>', 'how long the simulators may take to act (default: 5)')
    .option('--key <file>', 'own key, for a daemon that lets only listed keys in')
    .option('--server-key <file>', 'public key of that daemon')
    .option('--json', 'one JSON document')
    .action(async (where: string, action: string, operand: string | undefined, options: CtlArguments) => {
      const request = { ...requestOf(action, operand), trace: options.trace, ...limitsOf(options) };
      // ZeroMQ, which an installation for reading does without, is loaded only where it is used.
      const { control } = await import('../../bridge/client/ctl.js');
      const answers: Answer[] = [];
      for (const endpoint of endpointsOf(where, options)) answers.push(await control(endpoint, request));
      const traces = answers.flat();
      if (options.json) io.out(`${JSON.stringify(toJson(action, traces), null, 2)}\n`);
      else for (const line of linesOf(action, traces)) io.out(`${onOneLine(line)}\n`);
      process.exitCode = exitCodeOf(action, traces);
    });
}

function requestOf(action: string, operand: string | undefined) {
  const kind = Object.hasOwn(OPERANDS, action) ? OPERANDS[action] : undefined;
  if (kind === undefined) {
    const known = Object.keys(OPERANDS).join(', ');
    throw new UscopeError('CLI_USAGE', `"${action}" is not an action; there are ${known}`);
  }
  if (kind === 'none' && operand !== undefined)
    throw new UscopeError('CLI_USAGE', `${action} takes nothing; "${operand}" is too much`);
  if (kind === 'scope' && operand === undefined)
    throw new UscopeError('CLI_USAGE', `${action} needs a scope; for the whole trace use pause and resume`);
  return {
    action,
    scope: kind === 'scope' ? operand : undefined,
    text: kind === 'label' ? operand : undefined,
  };
}

function limitsOf({ timeout, key, serverKey }: CtlArguments): { timeoutMs?: number; keys?: ClientKeys } {
  if ((key === undefined) !== (serverKey === undefined))
    throw new UscopeError('CLI_USAGE', '--key and --server-key are given together or not at all');
  const timeoutMs = parseSeconds('--timeout', timeout, MAX_TIMEOUT_SECONDS);
  return {
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(key === undefined ? {} : { keys: { ...readKeyPair(key), serverKey: readPublicKey(serverKey!) } }),
  };
}

function endpointsOf(where: string, { key }: CtlArguments): string[] {
  if (/^(ipc|tcp):\/\//.test(where)) return [where];
  if (!statSync(where, { throwIfNoEntry: false })?.isDirectory())
    throw new UscopeError('CLI_USAGE', 'there is no such directory', { file: where });
  const untrusted: UscopeError[] = [];
  const daemons = findDaemons(where, (error) => untrusted.push(error));
  if (key === undefined && daemons.some(({ needsKeys }) => needsKeys))
    throw new UscopeError('BRIDGE_KEY', 'the daemon lets only listed keys in: give --key and --server-key', {
      file: where,
    });
  const endpoints = daemons.map(({ endpoint }) => endpoint);
  if (endpoints.length > 0) return endpoints;
  if (untrusted[0]) throw untrusted[0];
  throw new UscopeError('BRIDGE_NO_DAEMON', 'no daemon writes into this directory', { file: where });
}

// -- output

function toJson(action: string, traces: Answer) {
  return {
    action,
    traces: traces.map(([name, trace]) => ({
      name,
      outcome: trace.outcome,
      code: trace.code ?? null,
      message: trace.msg ?? null,
      state: trace.state.replace(' ', '_'),
      path: trace.path,
      timePs: String(trace.time_ps),
      frames: String(trace.frames),
      items: String(trace.items),
      bytes: String(trace.bytes),
      unacknowledgedBytes: String(trace.unacked),
      itemsPerSecond: String(trace.rate),
      disabled: trace.disabled.map(([scope]) => scope),
      skipped: String(trace.skipped),
    })),
  };
}

function linesOf(action: string, traces: Answer): string[] {
  if (traces.length === 0) return ['no trace is open'];
  return traces.map(([name, trace]) =>
    action === 'status' || action === 'hasten'
      ? statusLine(name, trace)
      : `${name}: ${outcomeOf(action, trace)}`,
  );
}

function outcomeOf(action: string, { outcome, code, msg }: ControlledTrace): string {
  if (outcome === 'done') return `${action} done`;
  return `${action} ${outcome}: ${code === undefined ? '' : `${code}: `}${msg ?? ''}`;
}

function statusLine(name: string, trace: ControlledTrace): string {
  const parts = [
    `${name}: ${trace.state}`,
    formatTime(trace.time_ps),
    `${formatCount(trace.frames)} frames`,
    `${formatCount(trace.items)} items`,
    formatBytes(trace.bytes),
    `${formatBytes(trace.unacked)} not yet on disk`,
    `${formatCount(trace.rate)} items/s`,
  ];
  const scopes = trace.disabled.map(([scope]) => scope).filter((scope) => scope !== '');
  if (scopes.length > 0) parts.push(`disabled: ${scopes.join(' ')}`);
  if (trace.skipped > 0n) parts.push(`${formatCount(trace.skipped)} skipped`);
  return parts.join(', ');
}

/** A command that nobody carried out has failed. */
function exitCodeOf(action: string, traces: Answer): number {
  if (action === 'status' || action === 'hasten') return ExitCode.OK;
  const all = traces.length > 0 && traces.every(([, { outcome }]) => outcome === 'done');
  return all ? ExitCode.OK : ExitCode.FAILED;
}
