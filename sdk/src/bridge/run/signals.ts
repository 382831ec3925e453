/** Signals while a simulator runs: the first lets it end, the second ends it. */
import { readFileSync } from 'node:fs';

/** The part of a child process that is needed here. */
export interface Killable {
  kill(signal: NodeJS.Signals): boolean;
}

export interface ForwardedSignals {
  /** From now on signals go to `child`; without one, `onSignal` is called instead. */
  attach(child: Killable | null, onSignal?: () => void): void;
  restore(): void;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Takes over SIGINT, SIGTERM and SIGHUP of this process. */
export function forwardSignals(note: (text: string) => void): ForwardedSignals {
  let target: Killable | null = null;
  let instead: (() => void) | undefined;
  let received = 0;
  const handle = (signal: NodeJS.Signals): void => {
    received++;
    if (!target) {
      instead?.();
    } else if (received > 1) {
      note('the simulator is killed; its traces are finalized');
      target.kill('SIGKILL');
    } else {
      if (signal === 'SIGINT') note('waiting for the simulator to end; once more to kill it');
      if (!(signal === 'SIGINT' && reachesGroup())) target.kill(signal);
    }
  };
  for (const signal of SIGNALS) process.on(signal, handle);
  return {
    attach(child, onSignal) {
      target = child;
      instead = onSignal;
    },
    restore() {
      for (const signal of SIGNALS) process.off(signal, handle);
    },
  };
}

/**
 * Whether Ctrl-C on the terminal goes to our whole process group, the simulator included: then it must not get the signal a second
 * time. `/proc/self/stat` field 5 is our group, field 8 the terminal's foreground group.
 */
function reachesGroup(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return fields[2] === fields[5];
  } catch {
    return false;
  }
}
