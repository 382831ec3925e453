/** What happens to a session, one after the other: a job that waits lets those after it wait, and nobody else. */

export type Job = () => void | Promise<void>;

export class JobQueue {
  private readonly jobs: Job[] = [];
  private running = false;
  private readonly next = (): void => this.drain();

  /** @param onError gets what a job throws; the jobs after it are done all the same */
  constructor(private readonly onError: (error: unknown) => void) {}

  run(job: Job): void {
    this.jobs.push(job);
    if (!this.running) this.drain();
  }

  /** Nearly all jobs are done at once and need no promise. */
  private drain(): void {
    this.running = true;
    for (let job = this.jobs.shift(); job; job = this.jobs.shift()) {
      const wait = this.start(job);
      if (!wait) continue;
      wait.then(this.next, (error) => {
        this.onError(error);
        this.drain();
      });
      return;
    }
    this.running = false;
  }

  private start(job: Job): void | Promise<void> {
    try {
      return job();
    } catch (error) {
      this.onError(error);
    }
  }
}
