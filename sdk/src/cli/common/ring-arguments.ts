/** Options of `uscope run` and `uscope serve` that make a flight recorder (docs/how-to/flight-recorder.md). */
import type { Command } from 'commander';
import { UscopeError } from '../../base/errors.js';
import type { RecorderOptions } from '../../bridge/session/ring-sink.js';
import { parseTrigger, type TriggerPattern } from '../../bridge/session/trigger-pattern.js';
import { MIN_RING_BYTES } from '../../writer/ring/options.js';
import { append, parseSize } from './option-values.js';
import { parseTime } from './times.js';

export interface RingArguments {
  readonly ring?: string;
  readonly last?: string;
  readonly trigger?: readonly string[];
  readonly after?: string;
  readonly triggerFiles?: string;
}

export function addRingOptions(command: Command): Command {
  return command
    .option('--ring <size>', 'keep only the newest segments of each trace, up to this size: 64MB')
    .option(
      '--last <span>',
      'keep only the newest segments, up to this much simulated time: 1000000cycles, 5ms',
    )
    .option(
      '--trigger <pattern>',
      "an event that makes a file of what is kept: 'EVENT [FIELD=VALUE ...]' (may be repeated)",
      append,
    )
    .option('--after <time>', 'simulated time recorded after a trigger before its file is made (default: 0)')
    .option('--trigger-files <n>', 'files that triggers may make in each trace (default: 8)');
}

/** undefined: ordinary traces. @throws UscopeError CLI_USAGE */
export function recorderOf(options: RingArguments): RecorderOptions | undefined {
  const { ring, last, trigger = [], after, triggerFiles } = options;
  if (ring === undefined && last === undefined) {
    const lone = ['trigger', 'after', 'triggerFiles'].find(
      (name) => options[name as keyof RingArguments] !== undefined,
    );
    if (lone === undefined) return undefined;
    const option = `--${lone === 'triggerFiles' ? 'trigger-files' : lone}`;
    throw new UscopeError(
      'CLI_USAGE',
      `${option} is for a flight recorder; give --ring SIZE or --last SPAN too`,
    );
  }
  return {
    maxBytes: ring === undefined ? undefined : sizeOf(ring),
    span: last === undefined ? undefined : spanOf(last),
    afterPs: after === undefined ? undefined : parseTime(after),
    triggerFiles: triggerFiles === undefined ? undefined : filesOf(triggerFiles),
    triggers: trigger.map(patternOf),
  };
}

function patternOf(text: string): TriggerPattern {
  try {
    return parseTrigger(text);
  } catch (cause) {
    throw new UscopeError('CLI_USAGE', (cause as UscopeError).detail, {}, { cause });
  }
}

/** The same for the daemon that `uscope run` starts. */
export function ringServeArguments(options: RingArguments): string[] {
  recorderOf(options);
  const { ring, last, trigger = [], after, triggerFiles } = options;
  const given: [string, string | undefined][] = [
    ['--ring', ring],
    ['--last', last],
    ['--after', after],
    ['--trigger-files', triggerFiles],
    ...trigger.map((pattern): [string, string] => ['--trigger', pattern]),
  ];
  return given.flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
}

function sizeOf(text: string): number {
  const bytes = parseSize(text);
  if (bytes !== null && bytes >= MIN_RING_BYTES) return bytes;
  throw new UscopeError(
    'CLI_USAGE',
    `"${text}" is not a size of a ring; write 64MB or 2GB, at least ${MIN_RING_BYTES} bytes`,
  );
}

function spanOf(text: string): RecorderOptions['span'] {
  const [, digits] = /^(\d[\d_]*)\s*cycles?$/.exec(text.trim()) ?? [];
  const span =
    digits === undefined ? { ps: parseTime(text) } : { cycles: BigInt(digits.replaceAll('_', '')) };
  if (('ps' in span ? span.ps : span.cycles) > 0n) return span;
  throw new UscopeError('CLI_USAGE', `--last "${text}" keeps nothing; write 1000000cycles or 5ms`);
}

function filesOf(text: string): number {
  if (/^\d{1,4}$/.test(text)) return Number(text);
  throw new UscopeError('CLI_USAGE', `"${text}" is not a number of files; write 0 to 9999`);
}
