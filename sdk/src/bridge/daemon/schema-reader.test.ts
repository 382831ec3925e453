/** Schemas are read without holding up the daemon, each peer in its turn, and within bounds. */
import { afterEach, describe, expect, it, vi } from 'vitest';
import { limitOfFile, THREADS_MS } from '../../../../test/support/limits.js';
import { MemoryAccount } from '../memory/memory-account.js';
import type { Peer } from './fair-queue.js';
import { SchemaReader } from './schema-reader.js';
import type { SchemaRequest } from './schema-request.js';

// A thread reads schemas in most tests.
limitOfFile(THREADS_MS);

const HEAD = 'uscope: 1\nclocks: {clk: 1 ns}\n';
const MiB = 1024 * 1024;
const peer = (process: string, connection = '1'): Peer => ({ process, connection });

const readers: SchemaReader[] = [];
afterEach(() => {
  for (const reader of readers.splice(0)) reader.close();
  vi.restoreAllMocks();
});

function readerWith(memory = new MemoryAccount(1024 * MiB), timeLimitMs?: number): SchemaReader {
  const reader = new SchemaReader(memory, timeLimitMs);
  readers.push(reader);
  return reader;
}

const request = (text: string, more: Partial<SchemaRequest> = {}): SchemaRequest => ({
  text,
  file: 'a.yaml',
  variables: {},
  ...more,
});

/** Too much to be read at once: some thousand events. */
const large = (name: string, events = 3000): SchemaRequest =>
  request(`${HEAD}events:\n${Array.from({ length: events }, (_, i) => `  ${name}_${i}: {}\n`).join('')}`);

describe('a schema', () => {
  it('that is large is read in a thread, with the same result', async () => {
    const { schema } = await readerWith().read(large('e'), peer('a'));
    // The daemon's own event follows.
    expect(schema.events.slice(0, 3000).map(({ name }) => name)).toEqual(
      Array.from({ length: 3000 }, (_, i) => `e_${i}`),
    );
  });

  it('leaves the thread that asks free while it is read', async () => {
    const reading = readerWith().read(large('e', 5000), peer('a'));
    let turns = 0;
    let isRead = false;
    void reading.then(() => {
      isRead = true;
    });
    while (!isRead) {
      await new Promise((resolve) => setImmediate(resolve));
      turns++;
    }
    expect(turns).toBeGreaterThan(10);
  });

  it('that was read is not read again', async () => {
    const reader = readerWith();
    const first = await reader.read(large('e'), peer('a'));
    expect(await reader.read(large('e'), peer('b'))).toBe(first);
    const other = await reader.read({ ...large('e'), variables: { core: '1' } }, peer('b'));
    expect(other).not.toBe(first);
  });

  it('that is wrong gives the same error from either side', async () => {
    const reader = readerWith();
    const small = request(`${HEAD}storages: {q: {slots: 0, kind: dense, fields: {a: u8}}}\n`);
    const many = large('e');
    const wrong = request(`${many.text}storages: {q: {slots: 0, kind: dense, fields: {a: u8}}}\n`);
    const place = { file: 'a.yaml', column: expect.any(Number) };
    await expect(reader.read(small, peer('a'))).rejects.toMatchObject({ code: 'SCHEMA_RANGE', place });
    await expect(reader.read(wrong, peer('a'))).rejects.toMatchObject({ code: 'SCHEMA_RANGE', place });
  });

  it('of other code than the one given is refused, small or large', async () => {
    const reader = readerWith();
    const sha256 = '0'.repeat(64);
    await expect(reader.read(request(HEAD, { sha256 }), peer('a'))).rejects.toThrow('SCHEMA_MISMATCH');
    await expect(reader.read({ ...large('e'), sha256 }, peer('a'))).rejects.toThrow('SCHEMA_MISMATCH');
  });
});

describe('bounds', () => {
  it('on time: the thread is ended, and another one reads what follows', async () => {
    const reader = readerWith(undefined, 1);
    await expect(reader.read(large('slow', 8000), peer('a'))).rejects.toThrow(
      /SCHEMA_LIMIT: reading the schema takes more than 0.001 s; make it smaller/,
    );
    await expect(reader.read(large('next'), peer('a'))).rejects.toThrow('SCHEMA_LIMIT');
    expect((await reader.read(request(HEAD), peer('a'))).schema.clocks).toHaveLength(1);
  });

  it('on memory: without room for the thread, large schemas are refused and small ones read', async () => {
    const memory = new MemoryAccount(64 * MiB);
    memory.open('something else').extend(60 * MiB);
    const reader = readerWith(memory);
    await expect(reader.read(large('e'), peer('a'))).rejects.toThrow(
      'BRIDGE_NO_MEMORY: the thread that reads schemas needs',
    );
    expect((await reader.read(request(HEAD), peer('a'))).schema.clocks).toHaveLength(1);
  });

  it('on what waits for one connection', async () => {
    const reader = readerWith();
    const reading = Array.from({ length: 20 }, (_, i) => reader.read(large(`e${i}`), peer('a')));
    const results = await Promise.allSettled(reading);
    const refused = results.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
    expect(refused.length).toBe(3); // 16 wait, and one is being read
    for (const { reason } of refused) expect(reason).toMatchObject({ code: 'BRIDGE_LIMIT' });
  });

  it('on small ones, when a peer brings very many in a moment', async () => {
    const memory = new MemoryAccount(1024 * MiB);
    const reader = readerWith(memory);
    vi.spyOn(performance, 'now').mockReturnValue(5000); // it counts by the second, and one may begin here
    const text = (i: number): string => `${HEAD}# ${i}${' '.repeat(15_000)}\n`;
    await Promise.all(Array.from({ length: 15 }, (_, i) => reader.read(request(text(i)), peer('a'))));
    expect(memory.used).toBeGreaterThan(0); // the thread was needed
  });

  it('close ends at once what is being read and what waits', async () => {
    const reader = readerWith();
    const reading = [0, 1, 2].map((i) => reader.read(large(`e${i}`, 8000), peer('a')));
    await new Promise((resolve) => setImmediate(resolve));
    reader.close();
    for (const result of await Promise.allSettled(reading))
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'BRIDGE_FINALIZED' } });
  });
});

it('each process has its turn, however many connections another one has', async () => {
  const reader = readerWith();
  const order: string[] = [];
  const reading: Promise<unknown>[] = [];
  const read = (name: string, from: Peer): void => {
    reading.push(reader.read(large(name), from).then(() => order.push(name)));
  };
  for (let i = 0; i < 10; i++) read(`greedy${i}`, peer('greedy', String(i)));
  for (let i = 0; i < 2; i++) read(`honest${i}`, peer('honest'));
  await Promise.all(reading);
  expect(order.slice(0, 5).filter((name) => name.startsWith('honest'))).toEqual(['honest0', 'honest1']);
});
