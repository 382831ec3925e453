/**
 * Lines of QEMU's log for RISC-V (`-d in_asm,exec,cpu`): `IN:` lists the code of a block when it is translated, `Trace` says that a block is
 * run, and the registers after it are those with which it begins. What an instruction wrote is seen in those of the next block.
 */
import type { ConversionContext } from '../common/foreign-format.js';
import type { RetiredParser } from '../retired/log.js';
import { type Interrupt, MAX_HART, type RetiredSink, type Says, UNKNOWN } from '../retired/sink.js';
import { HexColumn, NumberColumn, startsWith, TextBytes } from '../text/columns.js';
import { CR, LF, UnknownLines } from '../text/lines.js';
import { type Block, Blocks } from './blocks.js';

const BLANK = 0x20;
const LETTER_X = 0x78;
const SLASH = 0x2f;
const OPEN = 0x5b;
const COLON = 0x3a;
const CODE = /^0x([0-9a-f]{8,16}):\s+([0-9a-f]{4}|[0-9a-f]{8})\s+(.*)$/;
const PRIVILEGE = /^Priv: ([013]);/;
/** With `-d int`: what a block ended with, or was preceded by. */
const TRAP =
  /^riscv_cpu_do_interrupt: hart:(\d{1,5}), async:([01]), cause:([0-9a-f]{1,16}), epc:0x([0-9a-f]{1,16}), tval:0x([0-9a-f]{1,16})/;
/** The block that was announced did not run. */
const STOPPED = 'Stopped execution of TB chain before ';
/** Headers, and lines of registers that have no events. */
const KNOWN =
  /^(-+|IN:.*|Priv: .*|cpu_io_recompile.*|Linking .*| \S+\s+=?\s*[0-9a-f]+| f\d+\/.*|OBJD.*|PROLOGUE.*)?$/;
/** What begins like data. */
const DATA = /^(Trace \d|0x[0-9a-f]{8,16}:| x\d+\/|riscv_cpu_do_interrupt: )/;
const XLEN_64_DIGITS = 16;
const NO_TRACE =
  'it lists code, and no "Trace" says what of it ran: log with `-d in_asm,exec,cpu,nochain`, exec included';
const NO_CODE =
  'no "IN:" lists the code of the blocks that ran: log with `-d in_asm,exec,cpu,nochain` from the beginning on';

class Cpu {
  /** The block that runs; its registers at the beginning are known, or not. */
  block: Block | null = null;
  hasRegisters = false;
  /** The block that is announced, while the registers come that the one before left. */
  next: Block | null = null;
  trap: { readonly epc: bigint; readonly cause: bigint; readonly value: bigint } | null = null;
  /** Of `block`, and of what comes after it. */
  interrupt: Interrupt | null = null;
  nextInterrupt: Interrupt | null = null;

  constructor(readonly number: number) {}
}

export class QemuParser implements RetiredParser {
  foreign = 0;
  understood = 0;
  xlen: 32 | 64 = 32;
  readonly repeats = 0;
  readonly leftOut = 0;
  readonly isStale = false;
  readonly unknown = new UnknownLines();
  private hasRegisters = false;
  private readonly blocks = new Blocks();
  private readonly cpus = new Map<number, Cpu>();
  /** The processor whose registers follow. */
  private cpu = new Cpu(0);
  /** Its registers are awaited: they follow a `Trace`. */
  private isAwaited = false;
  /** Lines before the dump that were not understood, or foreign. */
  private odd = 0;
  private readonly dump = new RegisterDump();
  private readonly number = new NumberColumn();
  private readonly host = new HexColumn();
  private readonly pc = new HexColumn();
  private readonly text = new TextBytes();

  constructor(private readonly sink: RetiredSink) {}

  get says(): Says {
    return { registers: this.hasRegisters, memory: false };
  }

  get missing(): string | null {
    if (this.blocks.withoutCode > 0) return NO_CODE;
    return this.blocks.isEmpty ? null : NO_TRACE;
  }

  repeat(): void {}

  take(bytes: Uint8Array, at: number, end: number, offset: number): number {
    if (this.isAwaited) {
      const after = this.dump.takeAll(bytes, at, end);
      if (after > at) {
        this.understood += this.dump.lines;
        this.dumped();
        return after;
      }
    }
    const after = bytes.indexOf(LF, at) + 1 || end;
    let to = after - 1;
    if (to > at && bytes[to - 1] === CR) to--;
    if (this.isAwaited) this.dump.line(bytes, at, after);
    if (this.frequent(bytes, at, to)) this.understood++;
    else this.rare(bytes, at, to, offset);
    return after;
  }

  end(): void {
    for (const cpu of this.cpus.values()) {
      this.ran(cpu, false);
      this.begin(cpu, cpu.next);
      this.ran(cpu, false);
    }
  }

  tell({ report, onWarning }: ConversionContext): void {
    const { withoutCode, byGuest } = this.blocks;
    if (withoutCode > 0) onWarning?.(`${withoutCode} blocks ran without their code in the log: ${NO_CODE}`);
    report.dropped('runs of blocks', 'no "IN:" lists their code').count += withoutCode;
    report.approximated(
      'runs of blocks',
      'a host address without an "IN:": the code is the last that was listed at the guest address',
    ).count += byGuest;
  }

  /** False: no line of those that most are. */
  private frequent(bytes: Uint8Array, at: number, to: number): boolean {
    if (bytes[at] === BLANK && bytes[at + 1] === LETTER_X) return this.registers(bytes, at, to);
    return startsWith(bytes, at, 'Trace ') && this.trace(bytes, at + 6);
  }

  private rare(bytes: Uint8Array, at: number, to: number, offset: number): void {
    const line = String(this.text.point(bytes, at, to));
    const code = CODE.exec(line);
    const trap = TRAP.exec(line);
    if (code && this.blocks.code(code[1], code[2], code[3])) this.understood++;
    else if (trap && Number(trap[1]) <= MAX_HART) this.trap(trap);
    else if (line.startsWith('IN:')) this.blocks.list();
    else if (line.startsWith('Priv: ')) this.blocks.privilege(Number(PRIVILEGE.exec(line)?.[1] ?? UNKNOWN));
    else if (line.startsWith(STOPPED)) this.stopped();
    else if (DATA.test(line)) this.unknown.note(bytes, at, to, offset + at);
    else if (!KNOWN.test(line)) this.foreign++;
  }

  /** `Trace N: 0xHOST [CS/PC/…`. */
  private trace(bytes: Uint8Array, from: number): boolean {
    const { number, host, pc } = this;
    if (!number.take(bytes, from) || bytes[number.at] !== COLON || number.value > MAX_HART) return false;
    if (!host.takePrefixed(bytes, number.at + 2) || bytes[host.at + 1] !== OPEN) return false;
    if (!pc.take(bytes, host.at + 2) || bytes[pc.at] !== SLASH || !pc.take(bytes, pc.at + 1)) return false;
    if (bytes[pc.at] !== SLASH) return false;
    if (pc.digits === XLEN_64_DIGITS) this.xlen = 64;
    this.isAwaited = false;
    this.runs(this.cpuOf(number.value), this.blocks.run(host, pc, this.xlen));
    return true;
  }

  private cpuOf(number: number): Cpu {
    if (this.cpu.number === number && this.cpus.size > 0) return this.cpu;
    const cpu = this.cpus.get(number) ?? new Cpu(number);
    this.cpus.set(number, cpu);
    return cpu;
  }

  private runs(cpu: Cpu, block: Block): void {
    this.cpu = cpu;
    // Registers that did not come (exec alone): what was announced before is over now.
    if (cpu.next) {
      this.ran(cpu, false);
      this.begin(cpu, cpu.next);
    }
    if (!cpu.hasRegisters) this.ran(cpu, false);
    if (cpu.block) cpu.next = block;
    else this.begin(cpu, block);
    this.isAwaited = true;
    this.odd = this.foreign + this.unknown.count;
    this.dump.begin();
  }

  private begin(cpu: Cpu, block: Block | null): void {
    cpu.block = block;
    cpu.next = null;
    cpu.hasRegisters = false;
    cpu.interrupt = cpu.nextInterrupt;
    cpu.nextInterrupt = null;
  }

  /** False: it is not understood. Registers that no `Trace` precedes are those of a reset. */
  private registers(bytes: Uint8Array, at: number, to: number): boolean {
    if (!this.dump.registers(bytes, at, to)) return false;
    if (!this.isAwaited) return true;
    this.dump.ended(this.odd === this.foreign + this.unknown.count);
    if (this.dump.isWhole) this.dumped();
    return true;
  }

  private dumped(): void {
    const { cpu } = this;
    this.isAwaited = false;
    if (cpu.next) {
      this.ran(cpu, true);
      this.begin(cpu, cpu.next);
    }
    cpu.hasRegisters = true;
  }

  private stopped(): void {
    if (this.cpu.next) this.cpu.next = null;
    else this.cpu.block = null;
    this.isAwaited = false;
  }

  /** The block is over. @param isSeen the dump has the registers that it left */
  private ran(cpu: Cpu, isSeen: boolean): void {
    const { block, hasRegisters, trap } = cpu;
    cpu.block = null;
    cpu.trap = null;
    if (block) {
      const trapped = trap ? block.indexOf(trap.epc) : UNKNOWN;
      // What comes after an instruction that trapped did not run.
      const count = trapped < 0 ? block.size : trapped + 1;
      for (let index = 0; index < count; index++) {
        if (index === trapped && trap) this.trapped(cpu, trap, block.bits[index], block.texts[index]);
        else this.retired(cpu, block, index);
      }
      if (isSeen && hasRegisters && block.size === 1 && trapped < 0) this.wrote(block.destination);
      if (trapped >= 0) return;
    }
    // A fetch that failed is in no block.
    if (trap) this.trapped(cpu, trap, UNKNOWN, null);
  }

  private retired(cpu: Cpu, { pcLow, pcHigh, bits, texts, privilege }: Block, index: number): void {
    this.sink.begin(cpu.number, pcLow[index], pcHigh[index], bits[index], texts[index], privilege);
    this.interrupted(cpu);
  }

  private trapped(cpu: Cpu, trap: NonNullable<Cpu['trap']>, bits: number, text: string | null): void {
    const { epc, cause, value } = trap;
    const [low, high] = [Number(epc & 0xffff_ffffn), Number(epc >> 32n)];
    this.sink.trap(cpu.number, low, high, bits, text, cause, value);
    this.interrupted(cpu);
  }

  private interrupted(cpu: Cpu): void {
    if (cpu.interrupt) this.sink.interrupt(cpu.interrupt);
    cpu.interrupt = null;
  }

  private wrote(destination: number): void {
    this.hasRegisters = true;
    if (destination === 0) return;
    this.dump.read(destination);
    this.sink.register(false, destination, this.dump.low, this.dump.high);
  }

  private trap([, hart, isAsync, cause, epc, value]: RegExpExecArray): void {
    this.understood++;
    const cpu = this.cpuOf(Number(hart));
    const [address, number] = [BigInt(`0x${epc}`), BigInt(`0x${cause}`)];
    if (isAsync === '1') cpu.nextInterrupt = { cause: number, epc: address };
    else cpu.trap = { epc: address, cause: number, value: BigInt(`0x${value}`) };
  }
}

// The registers that follow a `Trace`. All dumps of a log have the same lines, at the same distances: after the first one, the places are
// checked and only the register that is asked for is read.

const REGISTERS = 32;
const MOST_LINES = 512;

/** What all dumps have in common. */
interface Form {
  /** Beginning of its first line and of those of registers, and the two letters after the blank there: what the others hold has no events. */
  readonly starts: readonly number[];
  readonly heads: readonly number[];
  /** Places of the digits of each register. */
  readonly places: readonly number[];
  readonly digits: number;
  readonly size: number;
}

export class RegisterDump {
  low = 0;
  high = 0;
  /** All registers have come. */
  isWhole = false;
  /** Lines of registers in the last dump. */
  lines = 0;
  private readonly lows = new Uint32Array(REGISTERS);
  private readonly highs = new Uint32Array(REGISTERS);
  private count = 0;
  private form: Form | null = null;
  /** The form of the dump that comes. */
  private starts: number[] = [];
  private heads: number[] = [];
  private places: number[] = [];
  private digits = 0;
  private size = 0;
  private lineStart = 0;
  /** The dump as bytes, where it has the form; -1: its lines were read. */
  private base = -1;
  private bytes: Uint8Array = new Uint8Array(0);
  private readonly number = new NumberColumn();
  private readonly value = new HexColumn();

  begin(): void {
    this.isWhole = false;
    this.count = 0;
    this.lines = 0;
    this.size = 0;
    this.base = -1;
    if (this.starts.length === 0) return;
    this.starts = [];
    this.heads = [];
    this.places = [];
  }

  /** The whole dump, where it is like the one before it. @returns where the next line begins; `at`: it is not */
  takeAll(bytes: Uint8Array, at: number, end: number): number {
    const { form } = this;
    if (!form || this.size > 0 || at + form.size > end) return at;
    const { starts, heads, size } = form;
    for (let i = 0; i < starts.length; i++) {
      const start = at + starts[i];
      if (headOf(bytes, start) !== heads[i] || (i > 0 && bytes[start - 1] !== LF)) return at;
    }
    if (bytes[at + size - 1] !== LF) return at;
    this.bytes = bytes;
    this.base = at;
    this.isWhole = true;
    this.lines = REGISTERS / 4;
    return at + size;
  }

  /** A line of the dump. @param after where the next one begins */
  line(bytes: Uint8Array, at: number, after: number): void {
    if (this.starts.length < MOST_LINES && (this.size === 0 || bytes[at + 1] === LETTER_X)) {
      this.starts.push(this.size);
      this.heads.push(headOf(bytes, at));
    }
    this.lineStart = this.size;
    this.size += after - at;
  }

  /** ` x0/zero  00000000 x1/ra    80000010 …`. False: it is not understood. */
  registers(bytes: Uint8Array, from: number, to: number): boolean {
    const { number, value } = this;
    let at = from;
    while (at < to) {
      if (bytes[at] !== BLANK || bytes[at + 1] !== LETTER_X || !number.take(bytes, at + 2)) return false;
      if (bytes[number.at] !== SLASH || number.value >= REGISTERS) return false;
      at = number.at;
      while (at < to && bytes[at] !== BLANK) at++;
      while (bytes[at] === BLANK) at++;
      if (!value.take(bytes, at) || value.at > to) return false;
      this.lows[number.value] = value.low;
      this.highs[number.value] = value.high;
      this.places[number.value] = this.lineStart + at - from;
      this.digits = value.digits;
      this.count++;
      at = value.at;
    }
    return true;
  }

  /** After a line: the dump may be whole. @param isClean no line between was odd: the next dump may look the same */
  ended(isClean: boolean): void {
    this.lines++;
    this.isWhole = this.count >= REGISTERS;
    const { starts, heads, places, digits, size } = this;
    if (!this.isWhole || !isClean || starts.length >= MOST_LINES || places.length < REGISTERS) return;
    this.form = { starts, heads, places, digits, size };
  }

  /** Puts a register into `low` and `high`. */
  read(index: number): void {
    const { form, base, value } = this;
    if (base >= 0 && form) value.take(this.bytes, base + form.places[index]);
    this.low = base >= 0 ? value.low : this.lows[index];
    this.high = base >= 0 ? value.high : this.highs[index];
  }
}

function headOf(bytes: Uint8Array, at: number): number {
  return bytes[at + 1] | (bytes[at + 2] << 8);
}
