import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeDataHeader } from '../../../../test/support/data-header.js';
import { isUscopeError } from '../../base/errors.js';
import { decodeClientMessage, decodeDaemonMessage, encodeControl } from './codec.js';
import { decodeDataHeader, payloadWords } from './data-header.js';
import type { ControlMessage } from './protocol.js';

const VECTORS = new URL('../../../../test/vectors/bridge/', import.meta.url);

interface Vector {
  kind: 'control' | 'data-header' | 'records';
  direction: 'to-daemon' | 'to-client';
  message?: Record<string, unknown>;
  header?: Record<string, unknown>;
  decodeOnly?: boolean;
  error?: string;
  payloadSize?: number;
}

const vectors = readdirSync(VECTORS)
  .filter((file) => file.endsWith('.bin'))
  .map((file) => {
    const name = file.replace(/\.bin$/, '');
    const vector = JSON.parse(readFileSync(new URL(`${name}.json`, VECTORS), 'utf8')) as Vector;
    return { name, vector, bytes: readFileSync(new URL(file, VECTORS)) };
  });

/** The JSON form of the vectors: 64-bit quantities as decimal strings, bytes as { hex }. */
function toJson(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (value instanceof Uint8Array) return { hex: Buffer.from(value).toString('hex') };
  if (Array.isArray(value)) return Object.fromEntries(value.map(([key, entry]) => [key, toJson(entry)]));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, toJson(entry)]));
}

const MAPS = new Set(['dut', 'vars', 'reasons', 'disabled', 'traces']);
const WIDE = new Set([
  'start',
  'frames',
  'strings',
  'interval_ps',
  'rejected',
  'items',
  'bytes',
  'total_time_ps',
  'lost',
  'skipped',
  'time_ps',
  'unacked',
  'rate',
]);

/** The inverse: the message a program would build. */
function fromJson(value: unknown, key = ''): unknown {
  if (typeof value === 'string') return WIDE.has(key) ? BigInt(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  if ('hex' in value) return new Uint8Array(Buffer.from(value.hex as string, 'hex'));
  const wide = key === 'reasons' ? 'frames' : '';
  const entries = Object.entries(value).map(
    ([name, entry]) => [name, fromJson(entry, wide || name)] as const,
  );
  return MAPS.has(key) ? entries : Object.fromEntries(entries);
}

const decode = (direction: Vector['direction'], bytes: Uint8Array): ControlMessage =>
  direction === 'to-daemon' ? decodeClientMessage(bytes) : decodeDaemonMessage(bytes);

function codeOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (isUscopeError(error)) return error.code;
    throw error;
  }
  return 'no error';
}

describe('golden control messages', () => {
  const good = vectors.filter(({ vector }) => vector.kind === 'control' && !vector.error);

  it('has every type of message of the contract', () => {
    const types = new Set(good.map(({ vector }) => vector.message?.t));
    const wanted =
      'ack close closed control controlled ctl ctl_done error flush hello open opened ping pong stalled welcome';
    expect([...types].sort().join(' ')).toBe(wanted);
  });

  it.each(good)('$name is decoded', ({ vector, bytes }) => {
    expect(toJson(decode(vector.direction, bytes))).toEqual(vector.message);
  });

  it.each(good.filter(({ vector }) => !vector.decodeOnly))('$name is encoded', ({ vector, bytes }) => {
    const message = fromJson(vector.message) as ControlMessage;
    expect(Buffer.from(encodeControl(message)).toString('hex')).toBe(bytes.toString('hex'));
  });

  const bad = vectors.filter(({ vector }) => vector.kind === 'control' && vector.error);
  it.each(bad)('$name is refused', ({ vector, bytes }) => {
    expect(codeOf(() => decode(vector.direction, bytes))).toBe(vector.error);
  });
});

describe('golden data headers', () => {
  const good = vectors.filter(({ vector }) => vector.kind === 'data-header' && !vector.error);
  const bad = vectors.filter(({ vector }) => vector.kind === 'data-header' && vector.error);

  it.each(good)('$name is decoded and encoded', ({ vector, bytes }) => {
    const payload = vector.header?.offset === undefined ? (vector.header?.payload_size as number) : null;
    const header = decodeDataHeader(bytes, payload);
    const { flags, trace, epoch, seq, firstFrame, payloadSize } = header;
    const json = {
      flags,
      trace,
      epoch,
      seq: String(seq),
      first_frame: String(firstFrame),
      payload_size: payloadSize,
      ...(header.memoryOffset === undefined ? {} : { offset: String(header.memoryOffset) }),
    };
    expect(json).toEqual(vector.header);
    expect(Buffer.from(encodeDataHeader(header)).equals(bytes)).toBe(true);
  });

  it.each(bad)('$name is refused', ({ vector, bytes }) => {
    expect(codeOf(() => decodeDataHeader(bytes, vector.payloadSize as number))).toBe(vector.error);
  });
});

describe('control messages', () => {
  it('a hello of another version is refused by its version, whatever else it holds', () => {
    const hello = Buffer.from([0x82, 0xa1, 0x74, 0xa5, ...Buffer.from('hello'), 0xa1, 0x76, 2]);
    expect(codeOf(() => decodeClientMessage(hello))).toBe('BRIDGE_VERSION');
  });

  it('a key named __proto__ is an ordinary key', () => {
    const bytes = encodeControl({
      t: 'close',
      trace: 1,
      session: new Uint8Array(16),
      frames: 0n,
      strings: 0n,
      reasons: [['__proto__', 5n]],
    });
    const message = decodeClientMessage(bytes);
    expect(message.t === 'close' && message.reasons).toEqual([['__proto__', 5n]]);
    expect(({} as Record<string, unknown>)['5']).toBeUndefined();
  });

  it('names the key and what is wrong with it', () => {
    const bytes = encodeControl({ t: 'open', req: 1, name: 'a', session: new Uint8Array(15), credit: 1 });
    expect(() => decodeClientMessage(bytes)).toThrow(
      'open.session: BRIDGE_MESSAGE: 15 bytes; exactly 16 are needed',
    );
  });

  it('a schema that does not fit a message is refused where it is sent', () => {
    const schema = 'x'.repeat(4 * 1024 * 1024);
    const open = { t: 'open', req: 1, name: 'a', session: new Uint8Array(16), credit: 1, schema } as const;
    expect(codeOf(() => encodeControl(open))).toBe('BRIDGE_LIMIT');
  });

  it('many tiny map entries are refused before they fill the memory', () => {
    const entry = Buffer.from([0xa0, 0x80]);
    const many = Buffer.concat([
      Buffer.from([0xdd, 0, 3, 0, 0]),
      ...new Array(0x30000).fill(Buffer.concat([Buffer.from([0x81]), entry])),
    ]);
    const bytes = Buffer.concat([
      Buffer.from([0x82, 0xa1, 0x74, 0xa4]),
      Buffer.from('ping'),
      Buffer.from([0xa1, 0x78]),
      many,
    ]);
    expect(codeOf(() => decodeClientMessage(bytes))).toBe('BRIDGE_MESSAGE');
  });
});

describe('hostile bytes', () => {
  const refuses = (bytes: Uint8Array): void => {
    for (const direction of ['to-daemon', 'to-client'] as const) {
      try {
        decode(direction, bytes);
      } catch (error) {
        if (!isUscopeError(error)) throw error;
        expect(error.code).toMatch(/^BRIDGE_(MESSAGE|VERSION)$/);
      }
    }
  };

  it('random bytes are decoded or refused with a code', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), refuses), { numRuns: 2000 });
  });

  it('golden messages with flipped, cut and inserted bytes too', () => {
    const goldens = vectors.filter(({ vector }) => vector.kind === 'control').map(({ bytes }) => bytes);
    const edits = fc.array(fc.tuple(fc.nat(400), fc.nat(255), fc.constantFrom('set', 'cut', 'insert')), {
      maxLength: 4,
    });
    fc.assert(
      fc.property(fc.constantFrom(...goldens), edits, (golden, list) => {
        let bytes: number[] = [...golden];
        for (const [at, value, how] of list) {
          if (how === 'set' && bytes.length > 0) bytes[at % bytes.length] = value;
          else if (how === 'cut') bytes = bytes.slice(0, at % (bytes.length + 1));
          else bytes.splice(at % (bytes.length + 1), 0, value);
        }
        refuses(Uint8Array.from(bytes));
      }),
      { numRuns: 2000 },
    );
  });
});

describe('payloads', () => {
  it('are the same words whether they are aligned or not', () => {
    const memory = new Uint8Array(64).map((_, i) => i);
    const aligned = payloadWords(memory.subarray(16, 48));
    expect(aligned.buffer).toBe(memory.buffer);
    const moved = new Uint8Array(65);
    moved.set(memory.subarray(16, 48), 17);
    const copied = payloadWords(moved.subarray(17, 49));
    expect([...copied]).toEqual([...aligned]);
    expect(aligned[0]).toBe(0x13121110);
  });
});
