import { describe, expect, it } from 'vitest';
import { JobQueue } from './job-queue.js';

describe('a job queue', () => {
  const log: string[] = [];
  const queue = () => {
    log.length = 0;
    return new JobQueue((error) => log.push(`error ${(error as Error).message}`));
  };
  /** A job that waits until it is let go, or refused. */
  function waiting(name: string): { job: () => Promise<void>; end(error?: Error): void } {
    let end!: (error?: Error) => void;
    const wait = new Promise<void>((resolve, reject) => {
      end = (error) => (error ? reject(error) : resolve());
    });
    const job = (): Promise<void> => {
      log.push(`${name} begins`);
      return wait.then(() => void log.push(`${name} ends`));
    };
    return { job, end };
  }
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('does at once what need not wait', () => {
    const jobs = queue();
    jobs.run(() => void log.push('a'));
    jobs.run(() => void log.push('b'));
    expect(log).toEqual(['a', 'b']);
  });

  it('makes the jobs after a waiting job wait too', async () => {
    const jobs = queue();
    const [first, second] = [waiting('first'), waiting('second')];
    jobs.run(first.job);
    jobs.run(second.job);
    jobs.run(() => void log.push('third'));
    await turn();
    expect(log).toEqual(['first begins']);
    second.end();
    await turn();
    expect(log).toEqual(['first begins']);
    first.end();
    await turn();
    expect(log).toEqual(['first begins', 'first ends', 'second begins', 'second ends', 'third']);
  });

  it('does in their order what jobs ask for while they run', () => {
    const jobs = queue();
    jobs.run(() => {
      jobs.run(() => void log.push('inner'));
      log.push('outer');
    });
    expect(log).toEqual(['outer', 'inner']);
  });

  it('says what a job throws, or rejects with, and continues', async () => {
    const jobs = queue();
    const refused = waiting('refused');
    jobs.run(() => {
      throw new Error('thrown');
    });
    jobs.run(refused.job);
    jobs.run(() => void log.push('next'));
    refused.end(new Error('rejected'));
    await turn();
    expect(log).toEqual(['error thrown', 'refused begins', 'error rejected', 'next']);
    jobs.run(() => void log.push('later'));
    expect(log.at(-1)).toBe('later');
  });
});
