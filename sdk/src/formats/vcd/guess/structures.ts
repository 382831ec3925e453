/** Structures that a scope's names give away: FIFOs, memories, state machines, channels. */
import type { VcdSignal } from '../read/header.js';
import { conditionName } from '../sampling/condition.js';

/** An entry of a map: its section, its name, and its value as YAML. */
export interface Proposal {
  readonly section: 'words' | 'fsms' | 'channels' | 'fifos';
  readonly name: string;
  readonly value: string;
  /** Codes of the nets that make it what it is: the same nets seen from another scope are the same structure. */
  readonly codes: readonly number[];
}

const WRITE =
  /^(.*?)(write|wr|w|push|enq|enqueue|tail|in|alloc|allocate)(_?(?:ptr|pointer|idx|index)(?:_(?:q|r|reg|o))?)$/i;
const READS: Readonly<Record<string, readonly string[]>> = {
  write: ['read'],
  wr: ['rd'],
  w: ['r'],
  push: ['pop'],
  enq: ['deq'],
  enqueue: ['dequeue'],
  tail: ['head'],
  in: ['out'],
  alloc: ['retire', 'free', 'commit'],
  allocate: ['retire', 'free', 'commit'],
};
/** `incr_wptr` says that a pointer moves, `wptr_en` the same. */
const STEP = /incr?_|next_|clr_|_d_/i;
const QUEUE_SCOPE = /fifo|queue|buffer/i;
const VALIDS = /^(entry_)?valids?(_q|_r|_reg)?$/i;
const DATA = /^(r?data|entr(?:y|ies)|mem|storage|payload)(_q|_r|_reg)?$/i;
const STATE = /(^|_)(state|fsm)(_q|_r|_reg|_cs)?$|_fsm_cs$/i;
const WORD = /^(.+)\[(\d+)\]$/;
const MAX_POINTER_BITS = 12;
const MAX_WORDS = 4096;
const MIN_WORDS = 4;
const MAX_STATE_BITS = 4;
const MAX_FIELDS = 8;

export function structuresOf(scope: Scope): Proposal[] {
  return [
    ...fifosByPointers(scope),
    ...fifosByBits(scope),
    ...memories(scope),
    ...machines(scope),
    ...channels(scope),
  ];
}

function fifosByPointers({ signals }: Scope): Proposal[] {
  const found: Proposal[] = [];
  for (const [name, write] of signals) {
    const [, prefix, word, suffix] = WRITE.exec(name) ?? [];
    if (word === undefined || write.width > MAX_POINTER_BITS || STEP.test(prefix)) continue;
    const reads = READS[word.toLowerCase()] ?? [];
    const read = reads
      .map((other) => `${prefix}${matchCase(word, other)}${suffix}`)
      .find((other) => signals.get(other)?.width === write.width);
    if (read === undefined) continue;
    const full = ['full', `${prefix}full`, 'full_o'].find((other) => signals.get(other)?.width === 1);
    const own = `${prefix}fifo`.replace(/_+/g, '_');
    found.push({
      section: 'fifos',
      name: own,
      value: `{write: ${quoted(name)}, read: ${quoted(read)}${full === undefined ? '' : `, full: ${quotedCondition(full)}`}}`,
      codes: [write.code, (signals.get(read) as VcdSignal).code],
    });
  }
  return found;
}

function matchCase(like: string, word: string): string {
  return like === like.toUpperCase() && like !== like.toLowerCase() ? word.toUpperCase() : word;
}

/** A bit per entry, in a scope that is called like a queue. */
function fifosByBits({ path, signals }: Scope): Proposal[] {
  if (!QUEUE_SCOPE.test(path.slice(path.lastIndexOf('.') + 1))) return [];
  for (const [name, valid] of signals) {
    if (!VALIDS.test(name) || valid.width < 2 || valid.width > 1024) continue;
    const data = [...signals].find(
      ([other, { width }]) => DATA.test(other) && width > valid.width && width % valid.width === 0,
    );
    const packed = data ? `, packed: ${quoted(data[0])}, bits: ${data[1].width / valid.width}` : '';
    return [
      { section: 'fifos', name: 'entries', value: `{valid: ${quoted(name)}${packed}}`, codes: [valid.code] },
    ];
  }
  return [];
}

/** Packages and parameters hold tables that never change. */
const isConstant = (path: string, name: string): boolean => /_pkg$/.test(path) || /^[A-Z]+[a-z]/.test(name);

function memories({ path, signals }: Scope): Proposal[] {
  const counts = new Map<string, { count: number; width: number; first: number }>();
  for (const [name, { width, code }] of signals) {
    const [, base] = WORD.exec(name) ?? [];
    if (base === undefined || width < 4 || isConstant(path, base)) continue;
    const known = counts.get(base);
    if (known) known.count++;
    else counts.set(base, { count: 1, width, first: code });
  }
  return [...counts].flatMap(([base, { count, first }]): Proposal[] =>
    count < MIN_WORDS || count > MAX_WORDS
      ? []
      : [{ section: 'words', name: clean(base), value: quoted(`${base}[*]`), codes: [first] }],
  );
}

function machines({ signals }: Scope): Proposal[] {
  return [...signals].flatMap(([name, { width, code, kind }]): Proposal[] =>
    STATE.test(name) && width >= 2 && width <= MAX_STATE_BITS && kind !== 'parameter'
      ? [{ section: 'fsms', name: clean(name), value: `{state: ${quoted(name)}}`, codes: [code] }]
      : [],
  );
}

/** Every pair of single bits that differ in `valid` and `ready` only, with what begins like them. */
function channels({ signals }: Scope): Proposal[] {
  const found: Proposal[] = [];
  for (const [name, valid] of signals) {
    const at = name.lastIndexOf('valid');
    if (at < 0 || valid.width !== 1 || name.includes('rvfi')) continue;
    const [before, after] = [name.slice(0, at), name.slice(at + 5)];
    const ready = readyOf(signals, before, after);
    if (ready === null) continue;
    const prefix = before.replace(/_$/, '');
    const fields = [...signals.keys()]
      .filter(
        (other) =>
          prefix !== '' &&
          other.startsWith(before) &&
          other !== name &&
          other !== ready &&
          !/valid|ready/.test(other) &&
          !WORD.test(other),
      )
      .slice(0, MAX_FIELDS);
    const fieldText = fields
      .map((field) => `${clean(field.slice(before.length)) || 'value'}: ${quoted(field)}`)
      .join(', ');
    found.push({
      section: 'channels',
      name: clean(prefix) || 'handshake',
      value: `{valid: ${quotedCondition(name)}, ready: ${quotedCondition(ready)}${fields.length > 0 ? `, fields: {${fieldText}}` : ''}}`,
      codes: [valid.code, (signals.get(ready) as VcdSignal).code],
    });
  }
  return found;
}

/** `in_valid_i` answers to `in_ready_o`. */
function readyOf(signals: ReadonlyMap<string, VcdSignal>, before: string, after: string): string | null {
  const swapped = after === '_i' ? '_o' : after === '_o' ? '_i' : after;
  const name = [swapped, after]
    .map((end) => `${before}ready${end}`)
    .find((one) => signals.get(one)?.width === 1);
  return name ?? null;
}

export const clean = (name: string): string =>
  name.replace(/[^A-Za-z0-9_.-]/g, '_').replace(/^[^A-Za-z_]/, '_$&');
/** A name of the waveform as a YAML scalar, whatever it holds. */
export function quoted(name: string): string {
  if (/^(?!(true|false|null)$)[A-Za-z_][A-Za-z0-9_.$]*$/i.test(name)) return name;
  return JSON.stringify(name).replace(
    NOT_IN_YAML,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

const quotedCondition = (name: string): string => quoted(conditionName(name));

const NOT_IN_YAML = /[\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g;

/** Signals of a waveform by scope. */
export interface Scope {
  readonly path: string;
  /** Signals by the name in the scope; an index may be part of the name. */
  readonly signals: ReadonlyMap<string, VcdSignal>;
}

export function scopesOf(signals: readonly VcdSignal[]): Scope[] {
  const scopes = new Map<string, Map<string, VcdSignal>>();
  for (const signal of signals) {
    const at = signal.path.lastIndexOf('.');
    const path = at < 0 ? '' : signal.path.slice(0, at);
    let members = scopes.get(path);
    if (!members) {
      members = new Map();
      scopes.set(path, members);
    }
    members.set(signal.path.slice(at + 1), signal);
  }
  return [...scopes].map(([path, members]) => ({ path, signals: members }));
}
