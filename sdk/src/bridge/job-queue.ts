/** What happens to a session, one after the other: a job that waits lets those behind it wait, and nobody else. */

export type Job = () => void | Promise<void>;

export class JobQueue {
  private readonly jobs: Job[] = [];
  private running = false;

  /** @param onError is told what a job throws; the jobs behind it are done all the same */
  constructor(private readonly onError: (error: unknown) => void) {}

  run(job: Job): void {
    this.jobs.push(job);
    if (!this.running) void this.drain();
  }

  private async drain(): Promise<void> {
    this.running = true;
    for (let job = this.jobs.shift(); job; job = this.jobs.shift()) {
      try {
        const wait = job();
        if (wait) await wait;
      } catch (error) {
        this.onError(error);
      }
    }
    this.running = false;
  }
}
