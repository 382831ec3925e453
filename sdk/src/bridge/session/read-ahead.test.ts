import { afterEach, describe, expect, it } from 'vitest';
import { UscopeError } from '../../base/errors.js';
import type { DataHeader } from '../wire/data-header.js';
import type { ClientMemory } from './client-memory.js';
import { type AheadRead, ReadAhead } from './read-ahead.js';

const WINDOW_BYTES = 1024 * 1024;
const LARGE = 128 * 1024;

interface Started {
  readonly offset: number;
  readonly size: number;
  readonly window: Uint8Array;
  finish(): void;
  fail(error: Error): void;
}

/** A memory whose reads are pending until the test ends them. */
function heldMemory(): { memory: ClientMemory; started: Started[] } {
  const started: Started[] = [];
  const read = (offset: number, size: number, window: Uint8Array): Promise<Uint32Array> =>
    new Promise((resolve, reject) => {
      const finish = (): void => resolve(new Uint32Array(window.buffer, window.byteOffset, size / 4));
      started.push({ offset, size, window, finish, fail: reject });
    });
  return { memory: { read } as unknown as ClientMemory, started };
}

const opened: ReadAhead[] = [];
afterEach(() => {
  for (const ahead of opened.splice(0)) void ahead.close();
});

function readAhead(windows = 2): { ahead: ReadAhead; started: Started[] } {
  const { memory, started } = heldMemory();
  const ahead = new ReadAhead(
    memory,
    Array.from({ length: windows }, () => new Uint8Array(WINDOW_BYTES)),
  );
  opened.push(ahead);
  return { ahead, started };
}

const message = (memoryOffset: number, payloadSize = LARGE): DataHeader => ({
  flags: 2,
  trace: 1,
  epoch: 7,
  seq: 0n,
  firstFrame: 0n,
  payloadSize,
  memoryOffset,
});

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  const note = (): void => {
    settled = true;
  };
  promise.then(note, note);
  await settle();
  return settled;
}

describe('reading ahead', () => {
  it('reads in the order of the messages, as many at a time as there are windows', async () => {
    const { ahead, started } = readAhead();
    const reads = [0, 1, 2, 3].map((offset) => ahead.ask(message(offset)) as AheadRead);
    expect(started.map(({ offset }) => offset)).toEqual([0, 1]);
    for (const [i, read] of reads.entries()) {
      started[i].finish();
      expect((await read.words).length).toBe(LARGE / 4);
      expect(started).toHaveLength(Math.min(i + 2, 4));
      read.done();
      expect(started).toHaveLength(Math.min(i + 3, 4));
    }
    expect(started.map(({ offset }) => offset)).toEqual([0, 1, 2, 3]);
  });

  it('gives no window to a second message before the first is done with it, though it has been read', async () => {
    const { ahead, started } = readAhead();
    const [first, , third] = [0, 1, 2].map((offset) => ahead.ask(message(offset)) as AheadRead);
    for (const { finish } of started) finish();
    await first.words;
    expect(started).toHaveLength(2);
    expect(started[0].window === started[1].window).toBe(false);
    first.done();
    first.done(); // again: it has nothing any more
    expect(started).toHaveLength(3);
    expect(started[2].window === started[0].window).toBe(true);
    expect(ahead.ask(message(3))).not.toBeNull();
    expect(started).toHaveLength(3);
    started[2].finish();
    expect((await third.words).buffer === started[0].window.buffer).toBe(true);
  });

  it('says why a message could not be read, and continues with its window', async () => {
    const { ahead, started } = readAhead(1);
    const [first, second] = [0, 1].map((offset) => ahead.ask(message(offset)) as AheadRead);
    started[0].fail(new UscopeError('BRIDGE_MESSAGE', 'it is not there'));
    await settle(); // long before it is asked for
    await expect(first.words).rejects.toMatchObject({ code: 'BRIDGE_MESSAGE' });
    first.done();
    started[1].finish();
    expect((await second.words).length).toBe(LARGE / 4);
  });

  it.each([
    ['small', message(0, LARGE - 16)],
    ['empty', message(0, 0)],
    ['larger than a window', message(0, WINDOW_BYTES + 16)],
  ])('leaves a message that is %s to its turn', (_, header) => {
    const { ahead, started } = readAhead();
    expect(ahead.ask(header)).toBeNull();
    expect(started).toEqual([]);
  });

  it('leaves every message to its turn where there are no windows', () => {
    expect(readAhead(0).ahead.ask(message(0))).toBeNull();
  });

  it('is for a few traces at a time: the threads of more may all be at their files', () => {
    const few = Array.from({ length: 3 }, () => readAhead().ahead);
    expect(few[0].ask(message(0))).not.toBeNull();
    const { ahead: another } = readAhead();
    expect([few[0], another].map((ahead) => ahead.ask(message(LARGE)))).toEqual([null, null]);
    void few[2].close();
    void few[2].close();
    expect(another.ask(message(LARGE))).not.toBeNull();
    const { ahead: last } = readAhead();
    expect(last.ask(message(LARGE))).toBeNull();
  });

  it('takes a message of the size of a window', () => {
    const { ahead, started } = readAhead();
    expect(ahead.ask(message(0, WINDOW_BYTES))).not.toBeNull();
    expect(started[0].size).toBe(WINDOW_BYTES);
  });

  it('closed waits for what is under way, drops what waits, and begins nothing', async () => {
    const { ahead, started } = readAhead();
    const [first, second, third] = [0, 1, 2].map((offset) => ahead.ask(message(offset)) as AheadRead);
    const closed = ahead.close();
    expect(ahead.ask(message(3))).toBeNull();
    await expect(third.words).rejects.toThrow('not read any more');
    started[0].finish();
    expect(await isSettled(closed)).toBe(false);
    started[1].fail(new Error('whatever'));
    expect(await isSettled(closed)).toBe(true);
    for (const read of [first, second, third]) read.done();
    expect(started).toHaveLength(2);
  });

  it('closed does not wait for messages that have been read and are not taken yet', async () => {
    const { ahead, started } = readAhead();
    ahead.ask(message(0));
    started[0].finish();
    await ahead.close();
  });
});
