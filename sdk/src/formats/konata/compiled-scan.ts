/** The first pass over a log by compiled code (sdk/kernel/pipeline/kanata_scan.c). `Scan` (scan.ts) is the reference. */

import { NotCompiled } from '../pipeline/kernel/not-compiled.js';
import type { PipelineKernel } from '../pipeline/kernel/pipeline-kernel.js';
import type { TextBytes } from '../text/text-bytes.js';
import { CommandKind, putCommand, putTextCommand, Status } from './kernel-command.js';
import type { KanataSummary } from './scan.js';
import { exactCycle, type KanataVisitor } from './visitor.js';

/** Places in `struct scan`. */
const [CYCLE, FIRST_CYCLE, COUNTS] = [0, 8, 16];
const [HAS_FIRST, MOST_IN_FLIGHT, UNFINISHED, NUM_STAGES] = [64, 68, 72, 76];
const [LANES, THREADS, NAME_ENDS] = [80, 600, 1120];
const NAMES = NAME_ENDS + 4 * 256;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** @throws NotCompiled for a log with more stages, lanes, threads or instructions in flight than there is room for */
export class CompiledScan implements KanataVisitor {
  readonly isFull = false;

  constructor(private readonly kernel: PipelineKernel) {}

  async push(): Promise<void> {}

  takeLines(bytes: Uint8Array, from: number, end: number): number {
    return this.kernel.takeLines(bytes, from, end, this.kernel.code.kanata_scan);
  }

  cycle(cycle: number): void {
    this.take(putCommand(this.kernel, CommandKind.CYCLE, cycle));
  }

  advance(cycles: number): void {
    exactCycle(
      Number(this.kernel.view.getBigInt64(this.kernel.code.kanata_scan_at() + CYCLE, true)) + cycles,
    );
    this.take(putCommand(this.kernel, CommandKind.ADVANCE, cycles));
  }

  begin(id: number, gid: number | bigint, tid: number): void {
    this.take(putCommand(this.kernel, CommandKind.BEGIN, id, gid, tid));
  }

  label(id: number, type: number, _text: TextBytes): void {
    this.take(putCommand(this.kernel, CommandKind.LABEL, id, type));
  }

  start(id: number, lane: number, stage: string): void {
    this.stage(CommandKind.START, id, lane, stage);
  }

  end(id: number, lane: number, stage: string): void {
    this.stage(CommandKind.END, id, lane, stage);
  }

  retire(id: number, rid: number | bigint, type: number): void {
    this.take(putCommand(this.kernel, CommandKind.RETIRE, id, rid, type));
  }

  dependency(consumer: number, producer: number, type: number): void {
    this.take(putCommand(this.kernel, CommandKind.DEPENDENCY, consumer, producer, type));
  }

  summary(): Omit<KanataSummary, 'cut'> {
    const at = this.kernel.code.kanata_scan_at();
    const { view } = this.kernel;
    const count = (index: number): number => Number(view.getBigUint64(at + COUNTS + 8 * index, true));
    const [begin, retired, flushed, label, stage, dependency] = [0, 1, 2, 3, 4, 5].map(count);
    const hasFirst = view.getUint32(at + HAS_FIRST, true) !== 0;
    return {
      counts: { begin, retired, flushed, label, stage, dependency },
      stages: this.stages(at),
      lanes: this.numbers(at + LANES),
      threads: this.numbers(at + THREADS),
      firstCycle: hasFirst ? view.getBigInt64(at + FIRST_CYCLE, true) : null,
      lastCycle: view.getBigInt64(at + CYCLE, true),
      maxInFlight: view.getUint32(at + MOST_IN_FLIGHT, true),
      unfinished: view.getUint32(at + UNFINISHED, true),
    };
  }

  private stage(kind: CommandKind, id: number, lane: number, stage: string): void {
    const name = encoder.encode(stage);
    this.take(putTextCommand(this.kernel, kind, id, lane, name, 0, name.length));
  }

  private take(command: number): void {
    if (this.kernel.code.kanata_scan_command(command) !== Status.TAKEN) throw new NotCompiled();
  }

  private stages(at: number): string[] {
    const { view } = this.kernel;
    const found: string[] = [];
    let from = 0;
    for (let stage = 0; stage < view.getUint32(at + NUM_STAGES, true); stage++) {
      const end = view.getUint32(at + NAME_ENDS + 4 * stage, true);
      found.push(decoder.decode(new Uint8Array(view.buffer, at + NAMES + from, end - from)));
      from = end;
    }
    return found;
  }

  private numbers(at: number): number[] {
    const { view } = this.kernel;
    const count = view.getUint32(at, true);
    const values = Array.from({ length: count }, (_, index) =>
      Number(view.getBigUint64(at + 8 + 8 * index, true)),
    );
    return values.sort((a, b) => a - b);
  }
}
