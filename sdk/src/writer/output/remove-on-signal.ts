/** What a process that is ended by a signal must not leave behind. */
import { rmSync } from 'node:fs';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

class RemoveOnSignal {
  private readonly paths = new Set<string>();

  /** Listens only while there is something to remove: code that does not return to the event loop can be interrupted the rest of the time. */
  add(path: string): void {
    // First, so that a listener that removes itself is still counted.
    if (this.paths.size === 0) for (const signal of SIGNALS) process.prependListener(signal, this.onSignal);
    this.paths.add(path);
  }

  delete(path: string): void {
    this.paths.delete(path);
    if (this.paths.size === 0) for (const signal of SIGNALS) process.off(signal, this.onSignal);
  }

  private readonly onSignal = (signal: NodeJS.Signals): void => {
    // Another listener decides what the signal does, and ends the work in order.
    if (process.listenerCount(signal) > 1) return;
    for (const path of this.paths) rmSync(path, { recursive: true, force: true });
    for (const one of SIGNALS) process.off(one, this.onSignal);
    process.kill(process.pid, signal);
  };
}

export const removeOnSignal = new RemoveOnSignal();
