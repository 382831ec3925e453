/** How a pool gives requests to threads; the threads are made up here and answer when the test says so. */
import { describe, expect, it, vi } from 'vitest';
import type { FromThread, RequestMessage, ToThread } from './messages.js';
import { type WorkerOptions, WorkerPool } from './pool.js';
import type { StartThread, ThreadListener } from './thread.js';

class FakeThread {
  readonly posted: ToThread[] = [];
  isEnded = false;

  constructor(readonly listener: ThreadListener) {}

  get requests(): RequestMessage[] {
    return this.posted.filter((message) => message.type === 'request');
  }

  get cancelled(): number[] {
    return this.posted.flatMap((message) => (message.type === 'cancel' ? [message.id] : []));
  }

  say(message: FromThread): void {
    this.listener.message(message);
  }

  answer(index: number, value: unknown, bytes = 0): void {
    this.say({ type: 'answer', id: this.requests[index]!.id, value, bytes });
  }
}

function poolOf(threads: number, options: WorkerOptions = {}) {
  const started: FakeThread[] = [];
  const start: StartThread = (listener) => {
    const thread = new FakeThread(listener);
    started.push(thread);
    return {
      post: (message) => void thread.posted.push(message as ToThread),
      end: () => {
        thread.isEnded = true;
      },
    };
  };
  const pool = new WorkerPool({ kind: 'place', place: 'x' }, start, threads, options);
  return { pool, started };
}

/** One question among others. */
const at = (time: number) => ({ timePs: BigInt(time) });

describe('a pool', () => {
  it('starts threads when there is work for them, and gives each one request at a time', async () => {
    const { pool, started } = poolOf(2);
    expect(started).toHaveLength(0);
    const answers = [1, 2, 3].map((work) => pool.request('state', at(work)));
    expect(started.map(({ posted }) => posted.map(({ type }) => type))).toEqual([
      ['open', 'request'],
      ['open', 'request'],
    ]);
    started[1]!.answer(0, 'second');
    started[1]!.answer(1, 'third');
    started[0]!.answer(0, 'first');
    expect(await Promise.all(answers)).toEqual(['first', 'second', 'third']);
  });

  it('serves higher priorities first, also beside what is being done', () => {
    const { pool, started } = poolOf(1);
    for (const [work, priority] of [
      [1, 0],
      [2, -1],
      [3, 0],
      [4, 5],
      [5, 5],
    ] as const)
      void pool.request('state', at(work), { priority });
    const [thread] = started;
    const works = () => thread!.requests.map(({ params }) => Number((params as { timePs: bigint }).timePs));
    expect(works()).toEqual([1, 4]);
    thread!.answer(1, null);
    expect(works()).toEqual([1, 4, 5]);
    thread!.answer(2, null);
    thread!.answer(0, null);
    thread!.answer(3, null);
    expect(works()).toEqual([1, 4, 5, 3, 2]);
  });

  it('drops a waiting request at once when its signal is raised', async () => {
    const { pool, started } = poolOf(1);
    const first = pool.request('state', at(1));
    const controller = new AbortController();
    const second = pool.request('state', at(2), { signal: controller.signal });
    controller.abort(new Error('no longer wanted'));
    await expect(second).rejects.toThrow('no longer wanted');
    started[0]!.answer(0, 'one');
    expect(await first).toBe('one');
    expect(started[0]!.requests).toHaveLength(1);
    expect(started[0]!.cancelled).toEqual([]);
  });

  it('tells the thread of a running one, and replaces a thread that does not react', async () => {
    vi.useFakeTimers();
    try {
      const { pool, started } = poolOf(1);
      const controller = new AbortController();
      const hanging = pool.request('state', at(1), { signal: controller.signal });
      const urgent = pool.request('state', at(2), { priority: 1 });
      controller.abort(new Error('stop'));
      await expect(hanging).rejects.toThrow('stop');
      const [thread] = started;
      expect(thread!.cancelled).toEqual([thread!.requests[0]!.id]);
      vi.advanceTimersByTime(5000);
      expect(thread!.isEnded).toBe(true);
      expect(started[1]!.requests.map(({ params }) => params)).toEqual([at(2)]);
      started[1]!.answer(0, 'two');
      expect(await urgent).toBe('two');
    } finally {
      vi.useRealTimers();
    }
  });

  it('fails what a thread was doing when it died, says why, and starts another for the next request', async () => {
    const { pool, started } = poolOf(1);
    const lost = pool.request('state', at(1));
    started[0]!.listener.died('out of memory');
    await expect(lost).rejects.toMatchObject({
      code: 'READER_THREAD',
      detail: expect.stringContaining('out of memory'),
    });
    const next = pool.request('state', at(2));
    started[1]!.answer(0, 'again');
    expect(await next).toBe('again');
  });

  it('has errors keep code and place', async () => {
    const { pool, started } = poolOf(1);
    const failed = pool.request('state', { timePs: 5n });
    const error = { code: 'READER_RANGE', detail: 'too early', place: { file: 'x', offset: 7 } } as const;
    started[0]!.say({ type: 'error', id: started[0]!.requests[0]!.id, error });
    await expect(failed).rejects.toMatchObject(error);
  });

  it('asks once for several callers, and keeps the answer as long as there is room', async () => {
    const { pool, started } = poolOf(1, { answerBytes: 100 });
    const controller = new AbortController();
    const ask = (timePs: bigint, signal?: AbortSignal) => pool.request('state', { timePs }, { signal });
    const [both, given] = [ask(1n), ask(1n, controller.signal)];
    controller.abort();
    await expect(given).rejects.toThrow();
    const [thread] = started;
    expect(thread!.cancelled).toEqual([]);
    thread!.answer(0, 'a', 60);
    expect([await both, await ask(1n)]).toEqual(['a', 'a']);
    expect(thread!.requests).toHaveLength(1);
    const other = ask(2n);
    thread!.answer(1, 'b', 60);
    await other;
    expect(pool.answerBytes).toBe(60);
    void ask(1n);
    expect(thread!.requests).toHaveLength(3);
  });

  it('tells subscribers of growth, and forgets answers about what has grown', async () => {
    const { pool, started } = poolOf(1);
    const grown: unknown[] = [];
    const polled = pool.poll();
    const [thread] = started;
    thread!.answer(0, { segments: 3, totalTimePs: 30n, isComplete: false });
    expect(await polled).toMatchObject({ newSegments: 3, finalized: false });
    const state = pool.request('state', { timePs: 1n });
    thread!.answer(1, 'a', 8);
    await state;
    const end = pool.subscribe({ grown: (growth) => grown.push(growth) }, 1);
    await vi.waitFor(() => expect(thread!.requests.length).toBe(3), { timeout: 15_000 });
    expect(thread!.requests[2]).toMatchObject({ kind: 'poll', known: { segments: 3, isComplete: false } });
    thread!.answer(2, { segments: 5, totalTimePs: 50n, isComplete: true });
    await vi.waitFor(() => expect(grown).toHaveLength(1), { timeout: 15_000 });
    expect(grown).toEqual([
      { segments: 5, newSegments: 2, totalTimePs: 50n, isComplete: true, finalized: true },
    ]);
    expect(pool.answerBytes).toBe(0);
    end();
  });

  it('fails what waits and what is asked after it was closed', async () => {
    const { pool, started } = poolOf(1);
    const asked = [1, 2].map((work) => pool.request('state', at(work)));
    pool.close();
    for (const answer of [...asked, pool.request('info', null)])
      await expect(answer).rejects.toMatchObject({ code: 'READER_THREAD' });
    expect(started[0]!.isEnded).toBe(true);
  });
});
