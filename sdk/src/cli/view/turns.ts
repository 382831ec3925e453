/** One piece of work after the other. */

export class Turns {
  private last: Promise<unknown> = Promise.resolve();

  /** @throws what `work` throws; the signal's reason, when it is raised while others have their turn */
  async take<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const turn = this.last.then(() => {
      signal.throwIfAborted();
      return work();
    });
    this.last = turn.catch(() => undefined);
    return turn;
  }

  /** Nobody has a turn any more. */
  async ended(): Promise<void> {
    await this.last;
  }
}
