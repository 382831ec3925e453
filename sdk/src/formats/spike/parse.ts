/** Lines of Spike's log (`spike -l --log-commits`), in whichever of its forms: instructions, commits, exceptions. */
import { UscopeError } from '../../base/errors.js';
import type { RetiredParser } from '../pipeline/retired-log.js';
import type { RetiredRecord, Says } from '../pipeline/retired-trace.js';

const LINE = /^(?:\(spike\) |: )?core\s+(\d+):(.*)$/;
const COMMIT = /^ ([013]) 0x([0-9a-f]{8,16}) \(0x([0-9a-f]{1,16})\)(.*)$/;
const INSTRUCTION = /^ 0x([0-9a-f]{8,16}) \(0x([0-9a-f]{1,16})\)\s*(.*)$/;
const EXCEPTION = /^ exception (.+?), epc 0x([0-9a-f]+)\s*$/;
const VALUE = /^\s+tval 0x([0-9a-f]+)\s*$/;
const SYMBOL = /^ >>>>/;
/** What a commit line says after the instruction. */
const EFFECT =
  /\s*(?:([xf])\s*(\d{1,2})\s+0x([0-9a-f]+)|c(\d+)_(\S+)\s+0x([0-9a-f]+)|mem 0x([0-9a-f]+)(?: 0x([0-9a-f]+))?|(v\d+\s+0x[0-9a-f]+|e\d+ m\S+ l\d+))/y;
const CAUSES: readonly string[] = [
  'instruction_address_misaligned',
  'instruction_access_fault',
  'illegal_instruction',
  'breakpoint',
  'load_address_misaligned',
  'load_access_fault',
  'store_address_misaligned',
  'store_access_fault',
  'user_ecall',
  'supervisor_ecall',
  'virtual_supervisor_ecall',
  'machine_ecall',
  'instruction_page_fault',
  'load_page_fault',
  '',
  'store_page_fault',
];
const INTERRUPT = /^interrupt #(\d+)$/;
const XLEN_64_DIGITS = 16;

type Draft = { -readonly [K in keyof RetiredRecord]: RetiredRecord[K] };

/** What a hart waits for. */
interface Hart {
  /** An instruction whose commit, or exception, has not come yet. */
  waiting: Draft | null;
  /** One that trapped, whose tval may follow. */
  trapped: Draft | null;
  interrupt: RetiredRecord['interrupt'];
}

export const isSpikeLine = (line: string): boolean => {
  const [, , rest = ''] = LINE.exec(line) ?? [];
  return COMMIT.test(rest) || INSTRUCTION.test(rest);
};

export class SpikeParser implements RetiredParser {
  readonly records: RetiredRecord[] = [];
  foreign = 0;
  xlen: 32 | 64 = 32;
  private hasCommits = false;
  private readonly harts = new Map<number, Hart>();

  get says(): Says {
    return { registers: this.hasCommits, memory: this.hasCommits };
  }

  take(line: string): void {
    const [, number, rest] = LINE.exec(line) ?? [];
    if (rest === undefined) {
      if (line.trim() !== '') this.foreign++;
      return;
    }
    const hart = Number(number);
    if (hart > 0xffff) throw new UscopeError('CONVERT_FORMAT', `a hart numbered ${number}`);
    const state = this.hart(hart);
    const value = VALUE.exec(rest);
    if (value) {
      this.trapValue(state, BigInt(`0x${value[1]}`));
      return;
    }
    this.leave(state);
    const commit = COMMIT.exec(rest);
    if (commit) {
      this.commit(hart, state, commit);
      return;
    }
    const instruction = INSTRUCTION.exec(rest);
    if (instruction) {
      this.instruction(hart, state, instruction);
      return;
    }
    const exception = EXCEPTION.exec(rest);
    if (exception) {
      this.exception(hart, state, exception[1], BigInt(`0x${exception[2]}`));
      return;
    }
    if (SYMBOL.test(rest)) this.foreign++;
    else throw new UscopeError('CONVERT_FORMAT', `"${line.slice(0, 80)}" is no line of a Spike log`);
  }

  end(): void {
    for (const state of this.harts.values()) {
      this.leave(state);
      this.flush(state);
    }
  }

  private hart(number: number): Hart {
    let state = this.harts.get(number);
    if (!state) {
      state = { waiting: null, trapped: null, interrupt: null };
      this.harts.set(number, state);
    }
    return state;
  }

  private instruction(hart: number, state: Hart, [, pc, bits, text]: RegExpExecArray): void {
    this.flush(state);
    state.waiting = this.draft(hart, pc, bits, text.trim());
  }

  private commit(hart: number, state: Hart, [, privilege, pc, bits, effects]: RegExpExecArray): void {
    const address = BigInt(`0x${pc}`);
    // With `-l` the instruction itself came on the line before.
    if (state.waiting && state.waiting.pc !== address) this.flush(state);
    const record = state.waiting ?? this.draft(hart, pc, bits, null);
    state.waiting = null;
    this.hasCommits = true;
    record.privilege = Number(privilege);
    addEffects(record, effects);
    this.push(state, record);
  }

  private exception(hart: number, state: Hart, name: string, epc: bigint): void {
    const interrupt = INTERRUPT.exec(name);
    if (interrupt) {
      this.flush(state);
      state.interrupt = { cause: BigInt(interrupt[1]), epc };
      return;
    }
    if (state.waiting && state.waiting.pc !== epc) this.flush(state);
    // A fetch that failed has no line of its instruction.
    const record = state.waiting ?? this.draft(hart, epc.toString(16).padStart(8, '0'), null, null);
    state.waiting = null;
    record.trap = { cause: causeOf(name), value: 0n };
    state.trapped = record;
  }

  private trapValue({ trapped }: Hart, value: bigint): void {
    if (!trapped?.trap) throw new UscopeError('CONVERT_FORMAT', 'a tval that belongs to no exception');
    trapped.trap = { ...trapped.trap, value };
  }

  /** Another line follows: the tval of a trap has come, or does not. */
  private leave(state: Hart): void {
    if (!state.trapped) return;
    this.push(state, state.trapped);
    state.trapped = null;
  }

  /** An instruction without a commit line: the log has none (`-l` alone), and it did not trap. */
  private flush(state: Hart): void {
    if (state.waiting) this.push(state, state.waiting);
    state.waiting = null;
  }

  private push(state: Hart, record: Draft): void {
    record.interrupt = state.interrupt;
    state.interrupt = null;
    this.records.push(record);
  }

  private draft(hart: number, pc: string, bits: string | null, text: string | null): Draft {
    if (pc.length === XLEN_64_DIGITS) this.xlen = 64;
    return {
      ...{ hart, pc: BigInt(`0x${pc}`), text, privilege: null, trap: null, interrupt: null },
      ...{ bits: bits === null ? null : codeOf(bits) },
      ...{ registers: [], csrs: [], stores: [], loads: [], notes: [] },
    };
  }
}

/** Of a compressed instruction 16 bits, however many digits the version prints. */
function codeOf(digits: string): number {
  const bits = Number(BigInt(`0x${digits}`) & 0xffff_ffffn);
  return (bits & 3) === 3 ? bits : bits & 0xffff;
}

/** @throws UscopeError CONVERT_FORMAT */
function addEffects(record: Draft, text: string): void {
  const trimmed = text.trimEnd();
  const registers: RetiredRecord['registers'][number][] = [];
  const csrs: RetiredRecord['csrs'][number][] = [];
  const stores: RetiredRecord['stores'][number][] = [];
  const loads: bigint[] = [];
  const notes: string[] = [];
  EFFECT.lastIndex = 0;
  while (EFFECT.lastIndex < trimmed.length) {
    const from = EFFECT.lastIndex;
    const match = EFFECT.exec(trimmed);
    if (!match)
      throw new UscopeError(
        'CONVERT_FORMAT',
        `"${trimmed.slice(from).trim().slice(0, 60)}" is nothing that an instruction commits`,
      );
    const [, file, index, value, csr, name, content, address, stored, note] = match;
    if (file !== undefined) {
      if (Number(index) > 31) throw new UscopeError('CONVERT_FORMAT', `there is no register ${file}${index}`);
      registers.push({ file: file as 'x' | 'f', index: Number(index), value: wordOf(value) });
    } else if (csr !== undefined) csrs.push({ number: Number(csr) & 0xfff, name, value: wordOf(content) });
    else if (address === undefined) notes.push(note.replace(/\s+/g, ' '));
    else if (stored === undefined) loads.push(wordOf(address));
    else
      stores.push({
        address: wordOf(address),
        bytes: Math.min(8, Math.ceil(stored.length / 2)),
        value: wordOf(stored),
      });
  }
  Object.assign(record, { registers, csrs, stores, loads, notes });
}

const wordOf = (digits: string): bigint => BigInt.asUintN(64, BigInt(`0x${digits}`));

function causeOf(name: string): bigint {
  const known = CAUSES.indexOf(name.replace(/^trap_/, ''));
  const [, number] = /#(\d+)/.exec(name) ?? [];
  if (known >= 0) return BigInt(known);
  if (number !== undefined) return BigInt(number);
  throw new UscopeError('CONVERT_FORMAT', `the exception "${name.slice(0, 60)}" is unknown`);
}
