/**
 * Lines of QEMU's log for RISC-V (`-d in_asm,exec,cpu`): `IN:` lists the code of a block when it is translated, `Trace` says that a block is
 * run, and the registers after it are those with which it begins. What an instruction wrote is seen in those of the next block.
 */
import { UscopeError } from '../../base/errors.js';
import type { RetiredParser } from '../pipeline/retired-log.js';
import type { RetiredRecord, Says } from '../pipeline/retired-trace.js';
import { destinationOf } from './destination.js';

const TRACE = /^Trace (\d+): \S+ \[([0-9a-f]+)\/([0-9a-f]+)\//;
const CODE = /^0x([0-9a-f]+):\s+([0-9a-f]{4}|[0-9a-f]{8})\s+(.*)$/;
const PC = /^ pc\s+([0-9a-f]{8,16})$/;
const REGISTERS = /^ x\d+\/\S+\s/;
const REGISTER = / x(\d+)\/\S+\s+([0-9a-f]+)/g;
/** With `-d int`: what a block ended with, or was preceded by. */
const TRAP =
  /^riscv_cpu_do_interrupt: hart:(\d+), async:([01]), cause:([0-9a-f]+), epc:0x([0-9a-f]+), tval:0x([0-9a-f]+)/;
/** The block that was announced did not run. */
const STOPPED = /^Stopped execution of TB chain before /;
/** Headers, and lines of registers that have no events. */
const KNOWN =
  /^(-+|IN:.*|Priv: .*|cpu_io_recompile.*|Linking .*| \S+\s+=?\s*[0-9a-f]+| f\d+\/.*|OBJD.*|PROLOGUE.*)?$/;
const XLEN_64_DIGITS = 16;

interface Instruction {
  readonly pc: bigint;
  readonly bits: number;
  readonly text: string;
}

interface Cpu {
  /** The block that runs, with its registers as they were at its beginning. */
  block: readonly Instruction[] | null;
  registers: bigint[] | null;
  trap: { readonly epc: bigint; readonly cause: bigint; readonly value: bigint } | null;
  interrupt: RetiredRecord['interrupt'];
}

export class QemuParser implements RetiredParser {
  readonly records: RetiredRecord[] = [];
  foreign = 0;
  xlen: 32 | 64 = 32;
  private hasRegisters = false;
  /** Translated blocks by the address of their first instruction. */
  private readonly blocks = new Map<bigint, Instruction[]>();
  private listing: Instruction[] | null = null;
  private readonly cpus = new Map<number, Cpu>();
  /** The processor whose registers follow. */
  private current = 0;
  /** The block that is announced, while its registers come. */
  private pending: readonly Instruction[] | null = null;
  private values: bigint[] = [];
  private count = 0;
  private isFirst = false;

  get says(): Says {
    return { registers: this.hasRegisters, memory: false };
  }

  take(line: string): void {
    const code = CODE.exec(line);
    if (code) {
      this.code(code);
      return;
    }
    const trace = TRACE.exec(line);
    if (trace) {
      this.trace(Number(trace[1]), trace[3]);
      return;
    }
    if (REGISTERS.test(line)) {
      this.registers(line);
      return;
    }
    const trap = TRAP.exec(line);
    if (trap) {
      this.trap(trap);
      return;
    }
    if (STOPPED.test(line)) {
      const cpu = this.cpus.get(this.current);
      if (cpu) cpu.block = null;
      return;
    }
    if (line.startsWith('IN:')) this.listing = [];
    const pc = PC.exec(line);
    if (pc && pc[1].length === XLEN_64_DIGITS) this.xlen = 64;
    if (!KNOWN.test(line)) this.foreign++;
  }

  end(): void {
    for (const [number, cpu] of this.cpus) this.ran(number, cpu, null);
  }

  private code([, pc, bits, text]: RegExpExecArray): void {
    const one = {
      pc: BigInt(`0x${pc}`),
      bits: Number.parseInt(bits, 16),
      text: text.replace(/\s+/g, ' ').trim(),
    };
    if (!this.listing) throw new UscopeError('CONVERT_FORMAT', 'code that belongs to no "IN:"');
    if (this.listing.length === 0) this.blocks.set(one.pc, this.listing);
    this.listing.push(one);
  }

  private trace(number: number, pc: string): void {
    if (number > 0xffff) throw new UscopeError('CONVERT_FORMAT', `a processor numbered ${number}`);
    const block = this.blocks.get(BigInt(`0x${pc}`));
    if (!block)
      throw new UscopeError(
        'CONVERT_FORMAT',
        `the block at 0x${pc} runs, and no "IN:" lists it: log with in_asm from the beginning on`,
      );
    const cpu = this.cpus.get(number) ?? { block: null, registers: null, trap: null, interrupt: null };
    this.cpus.set(number, cpu);
    this.current = number;
    // Without registers (exec alone) the block before it is over now.
    if (cpu.block && !cpu.registers) this.ran(number, cpu, null);
    this.pending = block;
    this.values = new Array<bigint>(32).fill(0n);
    this.count = 0;
    if (!cpu.block) {
      cpu.block = block;
      cpu.registers = null;
      this.isFirst = true;
    } else this.isFirst = false;
  }

  private registers(line: string): void {
    if (!this.pending) throw new UscopeError('CONVERT_FORMAT', 'registers that belong to no "Trace"');
    for (const [, index, value] of line.matchAll(REGISTER)) {
      if (Number(index) > 31) throw new UscopeError('CONVERT_FORMAT', `there is no register x${index}`);
      this.values[Number(index)] = BigInt(`0x${value}`);
      this.count++;
    }
    if (this.count < 32) return;
    const cpu = this.cpus.get(this.current) as Cpu;
    if (!this.isFirst) this.ran(this.current, cpu, this.values);
    cpu.block = this.pending;
    cpu.registers = this.values;
    this.pending = null;
  }

  /** A block has run. @param after registers with which the next one begins; null: not known */
  private ran(hart: number, cpu: Cpu, after: readonly bigint[] | null): void {
    const { block, registers, trap } = cpu;
    cpu.block = null;
    cpu.trap = null;
    if (!block) return;
    // What comes after an instruction that trapped did not run.
    const trapped = trap ? block.findIndex(({ pc }) => pc === trap.epc) : -1;
    const count = trapped < 0 ? block.length : trapped + 1;
    for (let index = 0; index < count; index++) {
      const { pc, bits, text } = block[index];
      const didTrap = index === trapped;
      const isSeen = block.length === 1 && registers !== null && after !== null && !didTrap;
      const destination = isSeen ? destinationOf(bits, this.xlen === 32) : 0;
      this.hasRegisters ||= isSeen;
      const value = after?.[destination] ?? 0n;
      const interrupt = index === 0 ? cpu.interrupt : null;
      if (index === 0) cpu.interrupt = null;
      this.records.push({
        ...{ hart, pc, bits, text, privilege: null, interrupt },
        ...{ csrs: [], stores: [], loads: [], notes: [] },
        registers: destination > 0 ? [{ file: 'x', index: destination, value }] : [],
        trap: didTrap && trap ? { cause: trap.cause, value: trap.value } : null,
      });
    }
    // A fetch that failed is in no block.
    if (trap && trapped < 0) this.records.push(failedFetch(hart, trap));
  }

  private trap([, hart, isAsync, cause, epc, value]: RegExpExecArray): void {
    const cpu = this.cpus.get(Number(hart));
    if (!cpu) throw new UscopeError('CONVERT_FORMAT', `a trap of hart ${hart}, which has run nothing`);
    const [address, number] = [BigInt(`0x${epc}`), BigInt(`0x${cause}`)];
    if (isAsync === '1') cpu.interrupt = { cause: number, epc: address };
    else cpu.trap = { epc: address, cause: number, value: BigInt(`0x${value}`) };
  }
}

function failedFetch(
  hart: number,
  { epc, cause, value }: { readonly epc: bigint; readonly cause: bigint; readonly value: bigint },
): RetiredRecord {
  return {
    ...{ hart, pc: epc, bits: null, text: null, privilege: null, interrupt: null, registers: [] },
    ...{ csrs: [], stores: [], loads: [], notes: [], trap: { cause, value } },
  };
}
