/** What `verify` promises of files written by this release: no flipped bit goes unnoticed that changes what a verb prints. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stride } from '../../../test/support/effort.js';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { runUscope } from '../../../test/support/run-cli.js';
import { memorySource } from '../reader/index.js';
import { nodeCodec } from '../reader/node.js';
import { parseSchema } from '../schema/index.js';
import { verifyTrace } from '../tools/verify/index.js';
import { TraceWriter } from '../writer/index.js';
import { createCpuSummarizer } from '../writer/summary/cpu-summarizer.js';

// Hundreds of bits of a file are flipped, and verbs look at it. The long tests flip each.
limitOfFile(MANY_CASES_MS);

const { schema } = parseSchema(`
uscope: 1
clocks: {clk: 1000}
enums: {kind: [load, store]}
scopes:
  core0:
    clock: clk
    storages: {count: {kind: dense, slots: 1, fields: {n: u64}}}
    events: {note: {what: kind, text: string}}
`);

let directory: string;
let path: string;
beforeAll(() => {
  directory = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'uscope-flips-'));
  path = join(directory, 'core0.uscope');
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A trace as small as one with everything can be: two segments, strings, one of them after the last segment, a summary that is empty. */
async function record(): Promise<{ live: Uint8Array; finalized: Uint8Array }> {
  const options = {
    path,
    schema,
    checkpointIntervalPs: 1000,
    maxDelayMs: 0,
    dut: [['dut_name', 'x']] as const,
  };
  const writer = await TraceWriter.create(options);
  for (let cycle = 0; cycle < 2; cycle++) {
    writer.beginCycle(cycle * 1000);
    writer.slotAdd('core0/count', 0, 'n', 1);
    writer.event('core0/note', { what: cycle, text: `text ${cycle}` });
    writer.endCycle();
  }
  await writer.flush();
  const live = new Uint8Array(readFileSync(path));
  writer.string('said at the very end');
  await writer.close();
  return { live, finalized: new Uint8Array(readFileSync(path)) };
}

async function printed(bytes: Uint8Array): Promise<string> {
  writeFileSync(path, bytes);
  const texts: string[] = [];
  for (const args of [['dump'], ['schema'], ['info', '--json'], ['info'], ['stats', '--json']]) {
    const { status, out } = await runUscope([args[0]!, path, ...args.slice(1)]);
    texts.push(`${args.join(' ')}: ${status}\n${out}`);
  }
  return texts.join('\n');
}

const verify = (bytes: Uint8Array) =>
  verifyTrace(memorySource(bytes), { codec: nodeCodec, summarizer: createCpuSummarizer });

/** Flips bits all over the bytes and returns where neither `verify` sees it nor what is printed stays the same. */
async function unnoticed(whole: Uint8Array): Promise<string[]> {
  const expected = await printed(whole);
  const bytes = whole.slice();
  const missed: string[] = [];
  for (let bit = 0; bit < bytes.length * 8; bit += stride(37)) {
    bytes[bit >> 3]! ^= 1 << (bit & 7);
    if ((await verify(bytes)).ok && (await printed(bytes)) !== expected)
      missed.push(`${bit >> 3}.${bit & 7}`);
    bytes[bit >> 3]! ^= 1 << (bit & 7);
  }
  return missed;
}

describe('a flipped bit', () => {
  it('in a finalized trace is found by verify, or changes nothing that is printed', async () => {
    const { finalized } = await record();
    expect((await verify(finalized)).findings).toEqual([]);
    expect(await unnoticed(finalized)).toEqual([]);
  });

  it('in a trace that is being written is found by verify, or changes nothing that is printed', async () => {
    const { live } = await record();
    expect((await verify(live)).ok).toBe(true);
    expect(await unnoticed(live)).toEqual([]);
  });
});
