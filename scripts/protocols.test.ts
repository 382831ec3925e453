/** The contracts of sdk/protocols, and what in other languages and schemas repeats their names: both say the same. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { OPTIONAL } from '../sdk/src/formats/vcd/rvfi/plan.js';
import { parseSchema } from '../sdk/src/schema/index.js';
import { FINDING_KINDS } from '../sdk/src/tools/doctor/finding.js';
import { contracts, protocolFiles } from './protocols.mjs';
import { ROOT } from './step.mjs';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const CONTRACTS = contracts();

/** Words that the contracts may have at a place: a mistyped key would say nothing. */
const KEYS = {
  contract:
    'protocol version title says clock id entry prefix isExact properties enums storages shapes counters summary events rules checks reserved',
  part: 'origin presence isFollowed step kind slots example says without fields',
  field: 'type enum presence origin unit byPosition says without',
};

/** A part of a contract, or a field of one. */
interface Entry {
  readonly origin: string;
  readonly says: string;
  readonly presence?: string;
  readonly without?: string;
  readonly type: string;
  readonly enum?: string;
  readonly byPosition?: boolean;
  readonly fields: Readonly<Record<string, Entry>>;
}

const unknownKeys = (value: object, words: string): string[] =>
  Object.keys(value).filter((key) => !words.split(' ').includes(key));

it('the generated files are those of the contracts (else: npm run protocols)', () => {
  const stale = [...protocolFiles()].filter(([path, text]) => read(path) !== text);
  expect(stale.map(([path]) => path)).toEqual([]);
});

describe.each([...CONTRACTS])('the contract of %s', (_, contract) => {
  const parts = [contract.storages, contract.shapes, contract.events].flatMap((one) =>
    Object.entries<Entry>(one),
  );

  it('has no key that nobody reads', () => {
    expect(unknownKeys(contract, KEYS.contract)).toEqual([]);
    for (const [name, part] of parts) {
      expect([name, ...unknownKeys(part, KEYS.part)]).toEqual([name]);
      for (const [field, one] of Object.entries<object>(part.fields))
        expect([name, field, ...unknownKeys(one, KEYS.field)]).toEqual([name, field]);
    }
  });

  it('says of every part who defines it and what it means, and of what is expected what its absence costs', () => {
    const fields = parts.flatMap(([, { fields }]) => Object.entries<Entry>(fields));
    for (const [name, { origin, says, presence, without }] of [...parts, ...fields]) {
      expect([name, ['upstream', 'uscope'].includes(origin), typeof says]).toEqual([name, true, 'string']);
      if (presence === 'expected') expect([name, typeof without]).toEqual([name, 'string']);
    }
  });

  it('names enums that it has', () => {
    const used = parts.flatMap(([, { fields }]) =>
      Object.values<Entry>(fields).flatMap((field) => field.enum ?? []),
    );
    expect(used.filter((name) => !(name in contract.enums))).toEqual([]);
  });

  it('keeps no name for later that it has', () => {
    expect(Object.keys(contract.reserved.events).filter((name) => name in contract.events)).toEqual([]);
  });
});

it('doctor has the checks of the contract', () => {
  expect(Object.keys(CONTRACTS.get('cpu').checks)).toEqual(FINDING_KINDS);
});

/** `catalog_bind(c, "flush", …, (const char *const[]){"entity_id", "reason"})`: event -> fields; NULL is a field by position. */
function boundEvents(path: string): [string, string[]][] {
  return [...read(path).matchAll(/catalog_bind\(\w+, "(\w+)",[^;]*?\{([^}]*)\}\)/g)].map(
    ([, event, fields]) => [event!, fields!.split(',').map((field) => field.trim().replaceAll('"', ''))],
  );
}

describe.each([
  ['cpu', 'dpi/src/protocols/cpu.c', 6],
  ['noc', 'dpi/src/protocols/noc.c', 7],
] as const)('the helper for %s in C', (name, path, count) => {
  const { events } = CONTRACTS.get(name);
  const bound = boundEvents(path);

  it('fills events and fields of the contract', () => {
    expect(bound).toHaveLength(count);
    for (const [event, fields] of bound) {
      expect(events).toHaveProperty(event);
      const wanted = Object.entries<Entry>(events[event].fields).filter(([, { byPosition }]) => !byPosition);
      const named = fields.filter((field) => field !== 'NULL');
      expect(named.filter((field) => !wanted.some(([own]) => own === field))).toEqual([]);
      const required = wanted.filter(([, { presence }]) => presence === 'required').map(([own]) => own);
      expect(required.filter((field) => !named.includes(field))).toEqual([]);
    }
  });
});

it('the helper for noc in C sets the fields of the catalog', () => {
  const [, list] = /field_names\[NUM_FIELDS\] = \{([^}]*)\}/.exec(read('dpi/src/protocols/noc.c'))!;
  const { fields } = CONTRACTS.get('noc').storages.transactions;
  expect(list!.split(',').map((name) => name.trim().replaceAll('"', ''))).toEqual(
    Object.keys(fields).slice(1),
  );
});

it('the module for RVFI looks up parts of the contract', () => {
  const { storages, events } = CONTRACTS.get('cpu');
  const names = [
    ...read('sv/uscope_rvfi.sv').matchAll(/uscope_(storage|event)_id\(w, \{scope, "(\w+)"\}\)/g),
  ];
  expect(names.length).toBeGreaterThan(10);
  for (const [, kind, name] of names) expect(kind === 'storage' ? storages : events).toHaveProperty(name!);
});

describe('the pins of the RISC-V Formal Interface', () => {
  /** Bits of a pin for each channel, as the module writes them. */
  const BITS = new Map([
    [0, 'XLEN'],
    [-1, 'XLEN/8'],
    [1, ''],
  ]);
  const widthOf = (bits: number): string =>
    ['NRET', BITS.get(bits) ?? bits].filter((one) => one !== '').join('*');
  const known = new Map<string, string>([
    ['valid', widthOf(1)],
    ['insn', 'NRET*ILEN'],
    ['pc_rdata', widthOf(0)],
    ...Object.entries(OPTIONAL).map(([pin, bits]) => [pin, widthOf(bits)] as const),
  ]);

  it('are those of waveforms in the module for SystemVerilog', () => {
    const ports = read('sv/uscope_rvfi.sv').matchAll(/input logic \[(\S+)-1:0\] +rvfi_(\w+)/g);
    expect(Object.fromEntries([...ports].map(([, width, pin]) => [pin, width]))).toEqual(
      Object.fromEntries(known),
    );
  });

  it('are known to the recorder in Python', () => {
    const [, list] = /^_PORTS = \(\n([\s\S]*?)^\)/m.exec(
      read('cocotb-adapter/src/cocotbext/uscope/rvfi.py'),
    )!;
    const pins = [...list!.matchAll(/"(\w+)"/g)].map(([, pin]) => pin!);
    expect(pins.length).toBeGreaterThan(10);
    expect(pins.filter((pin) => !known.has(pin))).toEqual([]);
  });
});

const TYPES = ['', 'u8', 'u16', 'u32', 'u64', 'i8', 'i16', 'i32', 'i64', 'bool', 'string', 'label'];

it.each([
  ['cpu', 'sv/uscope_rvfi.yaml'],
  ['tr', 'sv/uscope_tr.yaml'],
] as const)('the schema of %s for SystemVerilog and Python has the types of the contract', (name, path) => {
  const contract = CONTRACTS.get(name);
  const { schema } = parseSchema(read(path));
  for (const def of [...schema.events, ...schema.storages.filter((one) => one.name in contract.storages)]) {
    const part = contract.events[def.name] ?? contract.storages[def.name];
    const fields = def.fields.map(({ name: field, type }) => [field, TYPES[type]]);
    const wanted = fields.map(([field]) => {
      const { type } = part.fields[field!];
      return [field, type === 'wide' ? 'u64' : type];
    });
    expect([def.name, fields]).toEqual([def.name, wanted]);
  }
});

it('the schema of tr in C++ has the events of the contract', () => {
  const text = read('dpi/include/uscope_sc_tx.hpp');
  const found = [...text.matchAll(/schema\.event\(\s*"tr\/(\w+)",\s*\{([\s\S]*?)\}\);/g)].map(
    ([, event, fields]) => [
      event!,
      [...fields!.matchAll(/\{"(\w+)", "(\w+)"\}/g)].map(([, field, type]) => [field, type]),
    ],
  );
  const wanted = found.map(([event]) => [
    event,
    Object.entries<Entry>(CONTRACTS.get('tr').events[event as string].fields).map(
      ([field, { type, enum: labels }]) => [field, labels ?? type],
    ),
  ]);
  expect(found.length).toBeGreaterThan(5);
  expect(found).toEqual(wanted);
});
