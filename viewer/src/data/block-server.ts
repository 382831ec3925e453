/** What the drawing worker wants, most urgent first: blocks of instructions, then sums, then the index where the trace has none. */
import { IndexMaker, type TraceIndex } from 'uscope/trace-index';
import { type RowBlock, transferables } from '../model/blocks.js';
import type { Growth } from '../model/growth.js';
import type { SumsPart } from '../model/sums.js';
import type { IndexSums } from './index-sums.js';
import { describeProblem } from './problems.js';
import type { DataMessage, Diagonal, Problem, SumsRange, Want } from './protocol.js';
import type { Session } from './session.js';

/** Of the first picture of the whole run, and of the one that follows. */
const QUICK_INTERVALS = 2048;
const OVERVIEW_INTERVALS = 4096;
const PROGRESS_INTERVAL_MS = 100;
/** Between two looks for more of a trace that is being written; and after one that failed. */
const POLL_MS = 100;
const RETRY_MS = 2000;
/** Between two overviews of a run that continues: the whole of it changes slowly. */
const OVERVIEW_MS = 400;
/** So long a picture of the end may take before there is a newer end. */
const PICTURE_MS = 600;
/** So long a trace may have no writer. */
const PATIENCE_MS = 3000;
/** Of a session, docs/reference/format.md: its daemon finalized it when the client was gone. */
const CLIENT_LOST = 2;

export class BlockServer {
  private wanted: readonly number[] = [];
  /** Blocks whose rows are not known before the index is here. */
  private readonly deferred = new Set<number>();
  private sums: SumsRange | null = null;
  /** Blocks that were posted, and of which no want says yet that they have come. */
  private onTheWay: { readonly segment: number; readonly number: number }[] = [];
  private blocksPosted = 0;
  private current: { segment: number; controller: AbortController } | null = null;
  private wake: (() => void) | null = null;
  private index: IndexSums | null = null;
  /** Rows before each segment, where they are counted one after the other. */
  private readonly rowsBefore: number[] = [];
  /** As far as they are counted: the segment that comes next, and the rows before it. */
  private counted: readonly [segment: number, rows: number] = [0, 0];
  private progressSent = 0;
  /** When to look next for more of the trace. */
  private nextPoll = performance.now() + POLL_MS;
  /** Of a trace that is being written: it is the same file, and can be read. */
  private isFollowed = true;
  private hasFailed = false;
  /** The end is looked at, and is to be drawn up to here, in cycles, before more is looked for; at the latest at `pictureBy`. */
  private following: Want['following'] = null;
  private shownTo = 0;
  private pictureBy = 0;
  /** When the overview is to be made anew; null: it has everything. */
  private overviewAt: number | null = null;
  private overviewMade = Number.NEGATIVE_INFINITY;
  /** Where rows lie in time, as of a number of segments. */
  private described: {
    readonly segmentCount: number;
    readonly diagonal: Diagonal;
    readonly mostInFlight: number;
  } | null = null;
  private abandonedSince: number | null = null;
  private isAbandoned = false;
  /** What remains to be done when nothing is wanted: each call is short. Replaced by what follows it; null: nothing. */
  private background: (() => Promise<void>) | null;
  private isResting = false;
  private isStopped = false;

  constructor(
    private readonly session: Session,
    private readonly post: (message: DataMessage, transfer: Transferable[]) => void,
    private readonly report: (problem: Problem) => void,
    private readonly live: {
      /** The trace has grown. */
      readonly grown: (growth: Growth) => void;
      /** Somebody may still write the file, as far as its server knows. */
      readonly isWritten: () => boolean;
      /** There may be more of the trace: it must be looked at. */
      readonly hasNews: () => Promise<boolean>;
    },
  ) {
    const { ownIndex } = session;
    this.background = ownIndex ? () => this.begin(ownIndex) : () => this.withoutOwnIndex();
  }

  want({ segments, sums, received, segmentCount, following, shownTo }: Omit<Want, 'type'>): void {
    this.following = following;
    this.shownTo = shownTo;
    this.onTheWay = this.onTheWay.filter(({ number }) => number > received);
    const isSent = (segment: number): boolean => this.onTheWay.some((one) => one.segment === segment);
    // The new end comes first, whatever is in sight before it is here. So it does after a want from before the trace had grown.
    const isAhead = following === 'rows' || segmentCount < this.session.segmentCount;
    const end = isAhead ? this.endWanted : [];
    const all = [...new Set([...end, ...segments])];
    if (this.current && !all.includes(this.current.segment)) this.current.controller.abort();
    this.wanted = all.filter(
      (segment) => segment !== this.current?.segment && !this.deferred.has(segment) && !isSent(segment),
    );
    this.sums = sums;
    this.wake?.();
  }

  /** Of the segments at the end, those that are still to be given. */
  private get endWanted(): number[] {
    const end = this.session.segmentCount - 2;
    return [...(this.current ? [this.current.segment] : []), ...this.wanted].filter((one) => one >= end);
  }

  /** Nothing is left to be done until something is wanted. */
  get rests(): boolean {
    return this.isResting;
  }

  /** `run` returns after what it is doing. */
  stop(): void {
    this.isStopped = true;
    this.current?.controller.abort();
    this.wake?.();
  }

  async run(): Promise<void> {
    while (!this.isStopped) {
      const now = performance.now();
      if (this.isLive && now >= this.nextPoll && !this.isDrawing(now)) await this.follow();
      const segment = this.wanted[0];
      if (segment !== undefined) {
        this.wanted = this.wanted.slice(1);
        await this.give(segment);
      } else if (this.sums && this.index) {
        await this.giveSums(this.index, this.sums);
      } else if (this.background) {
        await this.attempt(this.background);
      } else if (this.isOverviewDue(now)) {
        await this.attempt(() => this.overview());
      } else {
        await this.idle();
      }
      // Messages are taken between two pieces of work.
      await new Promise((resolve) => setTimeout(resolve));
    }
  }

  private get isLive(): boolean {
    return this.isFollowed && !this.session.info.isComplete;
  }

  /** The picture of the end that was found last is not there yet. */
  private isDrawing(now: number): boolean {
    return this.following !== null && this.shownTo < this.session.lastCycle && now < this.pictureBy;
  }

  /** Until something is wanted, or it is time to look for more of the trace or for an overview. */
  private async idle(): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const next = this.nextWork();
    this.isResting = true;
    await new Promise<void>((resolve) => {
      this.wake = resolve;
      if (next !== null) timer = setTimeout(resolve, Math.max(1, next - performance.now()));
    });
    clearTimeout(timer);
    this.isResting = false;
  }

  private nextWork(): number | null {
    const times = [
      ...(this.isLive ? [this.nextPoll] : []),
      ...(this.overviewAt === null ? [] : [this.overviewAt]),
    ];
    if (times.length === 0) return null;
    const next = Math.min(...times);
    return this.isDrawing(performance.now()) ? Math.max(next, this.pictureBy) : next;
  }

  /** A file that is replaced is not followed; a server that does not answer gets the request again. */
  private async follow(): Promise<void> {
    const { session } = this;
    let wait = POLL_MS;
    try {
      const growth = (await this.live.hasNews()) ? await session.grow() : null;
      this.hasFailed = false;
      if (growth) await this.takeGrowth(growth);
      this.noticeAbandoned();
    } catch (error) {
      const problem = describeProblem(error);
      this.isFollowed = problem.code !== 'READER_CHANGED';
      if (!this.hasFailed) this.report(problem);
      this.hasFailed = true;
      wait = RETRY_MS;
    }
    this.nextPoll = performance.now() + wait;
  }

  /** A daemon that is started again takes over what the one before left: that is waited for. */
  private noticeAbandoned(): void {
    const now = performance.now();
    if (this.live.isWritten() || this.session.info.isComplete) this.abandonedSince = null;
    else this.abandonedSince ??= now;
    const { abandonedSince } = this;
    if (this.isAbandoned || abandonedSince === null || now - abandonedSince < PATIENCE_MS) return;
    this.isAbandoned = true;
    const what = 'Nobody writes the trace any more, and it is not finalized: its writer was killed.';
    this.report({ code: 'VIEW_ABANDONED', what, advice: '', isFatal: false });
  }

  private async takeGrowth(growth: Growth): Promise<void> {
    const { session, index } = this;
    this.post({ type: 'grown', growth }, []);
    this.live.grown(growth);
    if (session.info.isComplete && session.trace.session?.status === CLIENT_LOST) {
      const what = 'The simulator ended without closing its trace: it crashed or was killed.';
      this.report({ code: 'VIEW_CRASHED', what, advice: '', isFatal: false });
    }
    if (index) {
      this.pictureBy = performance.now() + PICTURE_MS;
      if (this.following === 'rows') this.showEnd();
      await this.extendRows(index);
      // What is looked at comes first.
      this.overviewAt ??= session.info.isComplete ? 0 : this.overviewMade + OVERVIEW_MS;
    }
    // Rows are counted, or the index is made, up to the end known before: then it is time for the rest.
    else if (!this.background && session.core) this.background = () => this.count(...this.counted);
  }

  /** Without waiting for the drawing worker to ask: it is going to. */
  private showEnd(): void {
    const last = this.session.segmentCount - 1;
    const end = [last, last - 1].filter((segment) => segment >= 0);
    this.wanted = [...end, ...this.wanted.filter((segment) => !end.includes(segment))];
  }

  private postBlock(block: RowBlock): void {
    this.onTheWay.push({ segment: block.segment, number: ++this.blocksPosted });
    this.post({ type: 'block', block }, transferables(block));
  }

  private async give(segment: number): Promise<void> {
    const { session, index } = this;
    const controller = new AbortController();
    this.current = { segment, controller };
    try {
      const firstRow = this.rowsBefore[segment] ?? (index ? await index.rowsBefore(segment) : -1);
      controller.signal.throwIfAborted();
      const block = await session.block(segment, firstRow, controller.signal);
      if (block.firstRow < 0) this.deferred.add(segment);
      else this.postBlock(block);
    } catch (error) {
      if (!controller.signal.aborted) this.report(describeProblem(error));
    } finally {
      this.current = null;
    }
  }

  private async giveSums(index: IndexSums, range: SumsRange): Promise<void> {
    this.sums = null;
    await this.attempt(async () => this.postSums(await index.sums(range), false));
  }

  private postSums(part: SumsPart, isOverview: boolean): void {
    const buffers = part.columns.flatMap((column) => (column ? [column.buffer as ArrayBuffer] : []));
    this.post({ type: 'sums', part, isOverview }, [...new Set(buffers)]);
  }

  /** The rest is shown all the same. */
  private async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (this.background === work) this.background = null;
      this.report(describeProblem(error));
    }
  }

  private async begin(found: TraceIndex): Promise<void> {
    const { session } = this;
    session.useIndex(found);
    const index = session.sumsOf(found);
    // Also where a part of the index is damaged.
    this.background = () => this.count(0, 0);
    if (!index) return;
    const whole = { from: session.info.segmentCycles[0]!, to: session.lastCycle, intervals: QUICK_INTERVALS };
    this.postSums(await index.sums(whole, true), true);
    this.index = index;
    await this.describeRows(index);
    this.background = null;
    this.overviewAt = 0;
    this.wanted = [...this.wanted, ...this.deferred];
    this.deferred.clear();
  }

  private async describeRows(index: IndexSums): Promise<void> {
    const { segmentCount, lastCycle } = this.session;
    const diagonal = await index.diagonal(lastCycle);
    const mostInFlight = await index.mostInFlight();
    this.described = { segmentCount, diagonal, mostInFlight };
    this.post({ type: 'index', rows: diagonal.rows.at(-1)!, diagonal, mostInFlight }, []);
  }

  /** As much of it as the next picture needs: where the end is. The rest comes with the overview. */
  private async extendRows(index: IndexSums): Promise<void> {
    const { described } = this;
    const { segmentCount, lastCycle, info } = this.session;
    if (!described || info.isComplete) return this.describeRows(index);
    const rows = await index.rowsBefore(segmentCount);
    const { diagonal, mostInFlight } = described;
    const cycles = Float64Array.of(...diagonal.cycles, lastCycle);
    const longer = { cycles, rows: Float64Array.of(...diagonal.rows, rows) };
    this.post({ type: 'index', rows, diagonal: longer, mostInFlight }, []);
  }

  private async withoutOwnIndex(): Promise<void> {
    const { core, trace } = this.session;
    const maker = core && core.periodPs === 0n ? null : await this.makerOf(trace);
    this.background = maker ? () => this.make(maker) : () => this.withoutIndex();
  }

  private async makerOf(trace: Session['trace']): Promise<IndexMaker | null> {
    try {
      return await IndexMaker.of(trace);
    } catch (error) {
      this.report(describeProblem(error));
      return null;
    }
  }

  private async withoutIndex(): Promise<void> {
    this.session.useIndex(null);
    this.background = () => this.count(0, 0);
  }

  private isOverviewDue(now: number): boolean {
    return this.index !== null && this.overviewAt !== null && now >= this.overviewAt && !this.isDrawing(now);
  }

  private async overview(): Promise<void> {
    this.overviewAt = null;
    this.overviewMade = performance.now();
    const index = this.index!;
    const { info, lastCycle, segmentCount } = this.session;
    if (this.described?.segmentCount !== segmentCount) await this.describeRows(index);
    const whole = { from: info.segmentCycles[0]!, to: lastCycle, intervals: OVERVIEW_INTERVALS };
    this.postSums(await index.sums(whole), true);
  }

  /** One segment of an index that the trace lacks. */
  private async make(maker: IndexMaker): Promise<void> {
    try {
      await maker.step();
    } catch (error) {
      this.report(describeProblem(error));
    }
    if (maker.done >= maker.segments) {
      const index = maker.index();
      this.background = () => this.begin(index);
    }
    const now = performance.now();
    if (now - this.progressSent < PROGRESS_INTERVAL_MS) return;
    this.progressSent = now;
    this.post({ type: 'progress', progress: maker.done / maker.segments }, []);
  }

  /** Rows of one segment, where there is no index: the clock of the core is not known. */
  private async count(segment: number, firstRow: number): Promise<void> {
    const { segmentCount, core } = this.session;
    if (segment >= segmentCount || !core) {
      this.background = null;
      this.counted = [segment, firstRow];
      const { info, lastCycle } = this.session;
      const cycles = Float64Array.of(info.segmentCycles[0] ?? 0, lastCycle);
      const diagonal = { cycles, rows: Float64Array.of(0, 0) };
      if (!core) this.post({ type: 'index', rows: 0, diagonal, mostInFlight: 0 }, []);
      return;
    }
    this.rowsBefore[segment] = firstRow;
    this.deferred.delete(segment);
    let rows = firstRow;
    try {
      const block = await this.session.block(segment, firstRow, new AbortController().signal);
      rows += block.count;
      this.postBlock(block);
    } catch (error) {
      this.report(describeProblem(error));
    }
    this.background = () => this.count(segment + 1, rows);
    this.post({ type: 'counted', segment, rows }, []);
  }
}
