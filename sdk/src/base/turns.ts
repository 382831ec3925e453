/** Lets others have their turn now and then, so that an abort takes effect while compiled code has much to do. */

/** Milliseconds of work between two turns. */
const WORK_MS = 8;

export class Turns {
  private last = performance.now();

  /** @param signal without one nothing has to be waited for */
  constructor(private readonly signal: AbortSignal | undefined) {}

  /** @throws the signal's reason */
  async next(): Promise<void> {
    const { signal } = this;
    if (!signal) return;
    signal.throwIfAborted();
    if (performance.now() - this.last < WORK_MS) return;
    await otherTasks();
    this.last = performance.now();
    signal.throwIfAborted();
  }
}

/** Timers would wait for milliseconds in a page. */
function otherTasks(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener('message', () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(null);
  });
}
