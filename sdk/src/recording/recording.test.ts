/** Transactions recorded through the frontend: every backend reports the same. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contentOf } from '../../../test/support/ftr-fixtures.js';
import { limitOfFile, MANY_CASES_MS } from '../../../test/support/limits.js';
import { ConversionReport } from '../formats/common/report.js';
import { FORMAT } from '../formats/ftr/format.js';
import { MemoryOutput } from '../formats/ftr/index.js';
import { memorySource } from '../reader/index.js';
import { openTraceFile } from '../reader/node.js';
import { parseSchema } from '../schema/index.js';
import { FtrBackend, FtrType, TxDatabase, transactionSchema, tx, UscopeBackend } from './index.js';

// Hundreds of cases are tried, which a busy machine takes long for.
limitOfFile(MANY_CASES_MS);

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'uscope-recording-'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A bus as LWTR4SC's example records it, and a value of every type. */
function record(database: TxDatabase): void {
  const bus = database.fiber('tr.pipelined', 'transactor');
  const read = bus.generator('read', {
    begin: [{ name: 'addr', type: FtrType.UNSIGNED }],
    end: [{ name: 'result', type: FtrType.STRING }],
  });
  const one = read.begin(100_000n, { addr: 0 });
  one.record('data_size', 24);
  const late = database.fiber('tr.addr', 'transactor').generator('addr');
  const two = late.begin(100_000n, [
    ['x', true],
    ['x', -5],
  ]);
  one.relate('addr_phase', two);
  two.record('e', tx.enumeration('RED')).record('i', tx.integer(5)).record('f', 1.5).record('d', tx.float(3));
  two.record('bv', tx.bits('0101')).record('lv', tx.logic('01XZ')).record('fx', tx.fixed(-2.25));
  two.record('ufx', tx.unsignedFixed(2.25)).record('p', tx.pointer(0x7ffdn)).record('t', tx.time(12_345));
  two.record('u', (1n << 64n) - 1n).record('s', 'a "b"\nµ\0');
  two.end(180_500n);
  one.end(2_000_000n, { result: 'ok' });
  late.begin(3_000_000_000n);
}

async function throughFtr(fill: (database: TxDatabase) => void): Promise<Uint8Array> {
  const output = new MemoryOutput();
  const database = new TxDatabase('run').register(new FtrBackend(output, { epoch: 0n }));
  fill(database);
  await database.close();
  return output.bytes;
}

let count = 0;
async function throughUscope(fill: (database: TxDatabase) => void): Promise<Uint8Array> {
  const path = join(directory, `${count++}.uscope`);
  const database = new TxDatabase('run').register(await UscopeBackend.create({ path }));
  fill(database);
  await database.close();
  const trace = await openTraceFile(path);
  const output = new MemoryOutput();
  await FORMAT.write!(trace, { open: async () => output }, '.ftr', {
    options: new Map(),
    report: new ConversionReport(),
  });
  await trace.close();
  return output.bytes;
}

describe('a recording', () => {
  it('as FTR and as µScope says the same', async () => {
    const [ftr, uscope] = [
      await contentOf(memorySource(await throughFtr(record))),
      await contentOf(memorySource(await throughUscope(record))),
    ];
    expect({ ...uscope, info: ftr.info }).toEqual(ftr);
    expect(
      ftr.transactions.map(({ id, stream, generator, start, end }) => [id, stream, generator, start, end]),
    ).toEqual([
      [1n, 1n, 2n, 100_000n, 2_000_000n],
      [2n, 3n, 4n, 100_000n, 180_500n],
      [3n, 3n, 4n, 3_000_000_000n, 3_000_000_000n],
    ]);
    expect(
      ftr.transactions[1].attributes.map(({ phase, name, type, value }) => [phase, name, type, value]),
    ).toEqual([
      [0, 'x', FtrType.BOOLEAN, true],
      [0, 'x', FtrType.INTEGER, -5n],
      [1, 'e', FtrType.ENUMERATION, 'RED'],
      [1, 'i', FtrType.INTEGER, 5n],
      [1, 'f', FtrType.FLOATING_POINT_NUMBER, 1.5],
      [1, 'd', FtrType.FLOATING_POINT_NUMBER, 3],
      [1, 'bv', FtrType.BIT_VECTOR, '0101'],
      [1, 'lv', FtrType.LOGIC_VECTOR, '01XZ'],
      [1, 'fx', FtrType.FIXED_POINT_INTEGER, -2.25],
      [1, 'ufx', FtrType.UNSIGNED_FIXED_POINT_INTEGER, 2.25],
      [1, 'p', FtrType.POINTER, 0x7ffdn],
      [1, 't', FtrType.TIME, 12_345n],
      [1, 'u', FtrType.UNSIGNED, (1n << 64n) - 1n],
      [1, 's', FtrType.STRING, 'a "b"\nµ\0'],
    ]);
    expect(ftr.relations).toEqual([
      { name: 'addr_phase', source: 1n, sink: 2n, sourceStream: 1n, sinkStream: 3n },
    ]);
  });

  it('of any acts says the same as FTR and as µScope', async () => {
    const act = fc.oneof(
      fc.record({ kind: fc.constant('begin' as const), wait: fc.nat(50), value: fc.double() }),
      fc.record({ kind: fc.constant('end' as const), wait: fc.nat(50), at: fc.nat(), text: fc.string() }),
      fc.record({ kind: fc.constant('relate' as const), at: fc.nat(), to: fc.nat() }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 30 }), async (acts) => {
        const play = (database: TxDatabase): void => {
          const generator = database.fiber('f', 'k').generator('g');
          const all = [generator.begin(0n)];
          let now = 0n;
          for (const one of acts) {
            if (one.kind === 'relate') all[one.at % all.length].relate('r', all[one.to % all.length]);
            else {
              now += BigInt(one.wait);
              const open = all.filter(({ endPs }) => endPs === undefined);
              if (one.kind === 'begin') all.push(generator.begin(now, { v: one.value }));
              else if (open.length > 0) open[one.at % open.length].end(now, { s: one.text });
            }
          }
        };
        const ftr = await contentOf(memorySource(await throughFtr(play)));
        expect({ ...(await contentOf(memorySource(await throughUscope(play)))), info: ftr.info }).toEqual(
          ftr,
        );
      }),
      { numRuns: 25 },
    );
  });
});

describe('misuse', () => {
  it('is refused with a code', async () => {
    const database = new TxDatabase('run');
    const generator = database.fiber('f').generator('g');
    const one = generator.begin(10);
    expect(() => database.register({})).toThrow(/CONVERT_SOURCE/);
    expect(() => generator.begin(5)).toThrow(/CONVERT_SOURCE.*5 ps/);
    expect(() => one.record('v', tx.unsigned(-1))).toThrow(/CONVERT_SOURCE.*UNSIGNED/);
    expect(() => one.record('v', { type: FtrType.STRING, value: 3 })).toThrow(/CONVERT_SOURCE.*STRING/);
    one.end(20);
    expect(() => one.end(30)).toThrow(/CONVERT_SOURCE.*has ended/);
    await database.close();
    expect(() => generator.begin(40)).toThrow(/CONVERT_SOURCE.*closed/);
  });
});

describe('the schema of testbenches', () => {
  it('has the events that are read', () => {
    const text = readFileSync(fileURLToPath(new URL('../../../sv/uscope_tr.yaml', import.meta.url)), 'utf8');
    const { schema } = parseSchema(text);
    expect(schema).toEqual(transactionSchema('transactions').schema);
  });
});
