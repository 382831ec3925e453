/** Copies of traces in other formats: of which, when, and what the daemon reports when there is none. */
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { SchemaBuilder, TraceWriter } from '../../index.js';
import type { HostMessage } from '../report/host-messages.js';
import { COPY_PROPERTY, copyLimitMs, TraceCopies } from './trace-copies.js';

const directory = mkdtempSync(join(tmpdir(), 'uscope-copies-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function traceWith(name: string, dut: readonly (readonly [string, string])[]): Promise<string> {
  const path = join(directory, `${name}.uscope`);
  const builder = new SchemaBuilder();
  builder.clock('clk', 1000);
  await (await TraceWriter.create({ path, schema: builder.build().schema, dut })).close();
  return path;
}
const ended = (path: string, failure: unknown = null) =>
  ({ type: 'ended', name: 'one', path, failure }) as unknown as HostMessage;

it('are made of complete traces that want one, one after the other', async () => {
  const made: string[][] = [];
  const told: HostMessage[] = [];
  let running = 0;
  const copies = new TraceCopies(
    async (path, output) => {
      expect(running++).toBe(0);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      made.push([path, output]);
    },
    (message) => told.push(message),
  );
  const [first, second, plain] = [
    await traceWith('first', [[COPY_PROPERTY, 'ftr']]),
    await traceWith('second', [[COPY_PROPERTY, 'ftr']]),
    await traceWith('plain', []),
  ];
  for (const path of [first, plain, second]) copies.tell(ended(path));
  copies.tell(ended(first, { code: 'WRITER_IO' }));
  await copies.settled();
  expect(made).toEqual([
    [first, join(directory, 'first.ftr')],
    [second, join(directory, 'second.ftr')],
  ]);
  expect(told.map(({ type }) => type)).toEqual(['ended', 'ended', 'ended', 'ended']);
});

it('that cannot be made are reported with a code, and the next one is made', async () => {
  const told: HostMessage[] = [];
  let calls = 0;
  const copies = new TraceCopies(
    async () => {
      if (calls++ === 0) throw new Error('no room');
    },
    (message) => message.type === 'uncopied' && told.push(message),
  );
  const broken = join(directory, 'broken.uscope');
  writeFileSync(broken, 'no trace');
  copies.tell(ended(await traceWith('wav', [[COPY_PROPERTY, 'wav']])));
  copies.tell(ended(broken));
  copies.tell(ended(await traceWith('full', [[COPY_PROPERTY, 'ftr']])));
  copies.tell(ended(await traceWith('next', [[COPY_PROPERTY, 'ftr']])));
  await copies.settled();
  expect(told.map((one) => one.type === 'uncopied' && one.failure.code)).toEqual([
    'CONVERT_UNKNOWN',
    expect.stringMatching(/^(FORMAT|READER)_/),
    'CONVERT_SOURCE',
  ]);
  expect(calls).toBe(2);
});

/** One that ends only when it is aborted. */
const endless = (_path: string, _output: string, signal: AbortSignal) =>
  new Promise<void>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
const messageOf = (one: HostMessage | undefined) => one?.type === 'uncopied' && one.failure.message;

it('that take longer than their limit are ended, and the next one is made', async () => {
  const told: HostMessage[] = [];
  const sizes: number[] = [];
  const copies = new TraceCopies(
    (path, output, signal) => (path.includes('slow') ? endless(path, output, signal) : Promise.resolve()),
    (message) => message.type === 'uncopied' && told.push(message),
    (bytes) => (sizes.push(bytes) === 1 ? 1 : 60_000),
  );
  const slow = await traceWith('slow', [[COPY_PROPERTY, 'ftr']]);
  copies.tell(ended(slow));
  copies.tell(ended(await traceWith('quick', [[COPY_PROPERTY, 'ftr']])));
  await copies.settled();
  expect(told).toHaveLength(1);
  expect(messageOf(told[0])).toContain('the copy took more than 0 s and was ended');
  expect(sizes[0]).toBe(statSync(slow).size);
  expect(copyLimitMs(1e9) / 1000).toBe(10_060);
});

it('are ended when they are aborted, and those that wait are not made', async () => {
  const told: HostMessage[] = [];
  let calls = 0;
  const copies = new TraceCopies(
    (path, output, signal) => {
      if (calls++ === 0) setImmediate(() => copies.abort());
      return endless(path, output, signal);
    },
    (message) => message.type === 'uncopied' && told.push(message),
  );
  for (const name of ['one', 'two']) copies.tell(ended(await traceWith(name, [[COPY_PROPERTY, 'ftr']])));
  await copies.settled();
  expect(told.map(messageOf)).toEqual(Array(2).fill(expect.stringContaining('ended by a signal')));
  expect(calls).toBe(1);
});
