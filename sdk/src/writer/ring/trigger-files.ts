/** The files of triggers: each is made of what is kept when its last segment is durable, one after the other, while recording continues. */
import { UscopeError } from '../../base/errors.js';
import { SessionStatus } from '../../format/session-chunk.js';
import type { TriggerFile } from '../contract/ring-report.js';
import type { FileMaker, SpoolTrace } from './file-maker.js';
import { triggerPath } from './layout.js';
import type { RingOptions } from './options.js';
import type { Trigger } from './ring-record.js';
import type { SpoolFiles } from './spool-files.js';
import type { SpoolUsage } from './spool-usage.js';
import type { SpoolEntry } from './spooled-segment.js';
import { stringsOf } from './string-file.js';
import type { StringKeeper } from './string-keeper.js';

interface Request {
  readonly trigger: Trigger;
  /** Its file ends with this segment. */
  readonly upTo: number;
}

interface Job extends Request {
  readonly segments: readonly SpoolEntry[];
  /** Segments up to this ordinal are in the file. */
  written: number;
}

export class TriggerFiles {
  private readonly requests: Request[] = [];
  private readonly jobs: Job[] = [];
  private running: Promise<void> | null = null;
  private readonly made: TriggerFile[] = [];
  private readonly failed: string[] = [];
  /** Called when segments that were wanted are not any more. */
  onRelease: () => Promise<void> = async () => {};

  constructor(
    private readonly files: SpoolFiles,
    private readonly strings: StringKeeper,
    private readonly usage: SpoolUsage,
    private readonly maker: FileMaker,
    private readonly trace: SpoolTrace,
    private readonly onFile: RingOptions['onTriggerFile'],
  ) {}

  get list(): TriggerFile[] {
    return [...this.made];
  }

  /** Of those whose file could not be made. */
  get failures(): string[] {
    return [...this.failed];
  }

  /** Resolves when the files under way are made; null: there are none. */
  get underWay(): Promise<void> | null {
    return this.running;
  }

  /** Files that are being made or wait for that. */
  get numJobs(): number {
    return this.jobs.length;
  }

  /** A file that was made before the daemon was killed. */
  alreadyMade(file: TriggerFile): void {
    this.made.push(file);
  }

  request(trigger: Trigger, upTo: number): void {
    this.requests.push({ trigger, upTo });
  }

  /** A segment is part of a file that is not there yet. */
  isWanted({ ordinal }: SpoolEntry): boolean {
    return this.jobs.some(({ segments, written }) => ordinal >= segments[0].ordinal && ordinal > written);
  }

  /** @param live the segments kept @param committed ordinal after those that are durable */
  startDue(live: readonly SpoolEntry[], committed: number): void {
    for (let i = 0; i < this.requests.length; ) {
      const { upTo } = this.requests[i];
      if (upTo >= committed) {
        i++;
        continue;
      }
      const [request] = this.requests.splice(i, 1);
      const segments = live.filter(({ ordinal }) => ordinal <= upTo);
      if (segments.length > 0) this.jobs.push({ ...request, segments, written: -1 });
      else this.failed.push(`trigger ${request.trigger.number}: nothing had been recorded`);
    }
    if (this.jobs.length > 0) this.running ??= this.runJobs();
  }

  private async runJobs(): Promise<void> {
    try {
      await this.strings.settled();
      for (let job = this.jobs[0]; job; job = this.jobs[0]) {
        await this.carryOut(job);
        this.jobs.shift();
        await this.onRelease();
      }
    } finally {
      this.running = null; // at once, not when the promise is settled: a job that came between would wait for the next one
    }
  }

  private async carryOut(job: Job): Promise<void> {
    const { trigger, segments } = job;
    const path = triggerPath(this.trace.path, trigger.number);
    const what = `trigger-${trigger.number}`;
    const { timePs } = trigger;
    let label = String(trigger.label);
    try {
      label = await this.labelOf(trigger, segments);
      const dut = [
        ...this.trace.source.dut,
        ['uscope.trigger', label] as const,
        ['uscope.trigger_time_ps', String(timePs)] as const,
      ];
      const session = { ...this.trace.session, status: SessionStatus.RING, endTimeMs: BigInt(Date.now()) };
      const onWritten = (ordinal: number): Promise<void> => {
        job.written = ordinal;
        return this.onRelease();
      };
      const bytes = await this.maker.make({ what, path, segments, session, dut, onWritten });
      const file = { path, label, timePs, bytes };
      this.made.push(file);
      this.onFile?.(file, null);
    } catch (cause) {
      const error =
        cause instanceof UscopeError ? cause : new UscopeError('WRITER_IO', String(cause), { file: path });
      this.failed.push(`trigger ${trigger.number} ("${label}"): ${error.message}`);
      this.onFile?.({ path, label, timePs, bytes: 0 }, error);
      await this.maker.discard(what);
    } finally {
      this.usage.assembled();
    }
  }

  private async labelOf({ label }: Trigger, segments: readonly SpoolEntry[]): Promise<string> {
    if (typeof label === 'string') return label;
    for await (const { index, text } of stringsOf(this.files, this.strings, segments))
      if (index === label) return new TextDecoder().decode(text);
    return `#${label}`;
  }
}
