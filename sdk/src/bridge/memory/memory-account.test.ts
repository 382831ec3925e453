/** What the daemon lends to peers, and takes back. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cpuSchema } from '../../../../test/support/schemas.js';
import { SessionStatus } from '../../format/session-chunk.js';
import { stateLayout } from '../../state/layout.js';
import { memoryNeed } from '../../writer/frames/memory-need.js';
import { unusedWriterBytes } from '../../writer/frames/writer-memory.js';
import { RecordWriter } from '../../writer/index.js';
import { MemoryAccount } from './memory-account.js';

const MiB = 1024 * 1024;
let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-account-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** Nothing of the writer is known any more when it resolves. */
async function writeTrace(name: string): Promise<void> {
  const path = join(directory, `${name}.uscope`);
  const writer = await RecordWriter.create({ path, schema: cpuSchema() });
  await writer.close({ status: SessionStatus.CLOSED });
}

describe('an account', () => {
  it('grants up to its limit, and refuses with numbers and advice', async () => {
    const account = new MemoryAccount(unusedWriterBytes() + 100 * MiB);
    const first = account.open('the trace "a"');
    await first.grant(80 * MiB);
    await expect(account.open('the trace "b"').grant(30 * MiB)).rejects.toThrow(
      /BRIDGE_NO_MEMORY: the trace "b" needs 31.5 MB; .* are taken: wait for other traces to end/,
    );
    first.release();
    await account.open('the trace "b"').grant(30 * MiB);
  });

  it('says that waiting is in vain for what can never be', () => {
    const account = new MemoryAccount(MiB);
    expect(() => account.open('the trace "a"').extend(2 * MiB)).toThrow(
      /are taken: reduce the slots or fields of its schema, or start the daemon with a larger --max-memory/,
    );
  });

  it('takes a grant back once', () => {
    const account = new MemoryAccount(unusedWriterBytes() + 10 * MiB);
    const grant = account.open('the trace "a"');
    grant.extend(8 * MiB);
    expect([grant.bytes, account.free]).toEqual([8 * MiB, 2 * MiB]);
    grant.release();
    grant.release();
    grant.extend(MiB);
    expect([grant.bytes, account.used]).toEqual([0, unusedWriterBytes()]);
  });

  it('counts what writers that are over have left, and gives it up when it is needed', async () => {
    await writeTrace('a');
    const left = unusedWriterBytes();
    expect(left).toBeGreaterThan(0);
    const account = new MemoryAccount(left);
    expect(account.free).toBe(0);
    await account.open('the trace "b"').grant(left - 1);
  });
});

describe('a writer', () => {
  it('that is refused its memory has made no file', async () => {
    const account = new MemoryAccount(MiB);
    const path = join(directory, 'refused.uscope');
    const budget = account.open('the trace "refused"');
    await expect(RecordWriter.create({ path, schema: cpuSchema(), budget })).rejects.toThrow(
      'BRIDGE_NO_MEMORY',
    );
    await expect(
      RecordWriter.create({ path, schema: cpuSchema() }).then((w) => w.close({ status: 1 })),
    ).resolves.toMatchObject({ path });
  });

  it('takes no more than it was granted until its segments grow', async () => {
    const need = memoryNeed(stateLayout(cpuSchema())).total;
    const account = new MemoryAccount(unusedWriterBytes() + need + MiB);
    const budget = account.open('the trace "b"');
    const writer = await RecordWriter.create({
      path: join(directory, 'b.uscope'),
      schema: cpuSchema(),
      budget,
    });
    expect(budget.bytes).toBe(need);
    await writer.close({ status: SessionStatus.CLOSED });
  });
});
