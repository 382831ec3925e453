/** The thread that reads the trace: blocks that the picture needs now come first, then the pass over the whole trace goes on. */
import { transferables } from '../model/blocks.js';
import { threadScope } from '../model/thread-scope.js';
import { aggregate } from './aggregate-builder.js';
import { Answerer } from './answerer.js';
import { blobSource, httpSource, openTrace, type Source } from './library.js';
import { MAX_DOWNLOAD_BYTES, observedFetch } from './observed-fetch.js';
import { describeProblem } from './problems.js';
import type {
  AskMessage,
  DataMessage,
  DataReport,
  OpenRequest,
  Problem,
  TraceOrigin,
  Want,
} from './protocol.js';
import { Session } from './session.js';

const scope = threadScope('data');

/** The pass over the trace waits this long for a question that is open, before it reads one segment more. */
const PAUSE_MS = 60;

/** Blocks are given out once; the drawing worker asks again for what it has dropped. */
class Server {
  private wanted: readonly number[] = [];
  private current: { segment: number; controller: AbortController } | null = null;
  private wake: (() => void) | null = null;
  /** Rows before each segment, as far as the pass has come. */
  private readonly rowsBefore: number[] = [0];

  constructor(
    private readonly session: Session,
    private readonly port: MessagePort,
    private readonly answerer: Answerer,
  ) {}

  async run(): Promise<void> {
    if (!this.session.core) {
      this.post({ type: 'complete', rows: 0 });
      return;
    }
    for (;;) {
      const segment = this.wanted[0];
      if (segment !== undefined) {
        this.wanted = this.wanted.slice(1);
        await this.give(segment);
      } else if (this.passed < this.session.segmentCount) {
        // What somebody waits for comes first.
        if (this.answerer.isBusy) await this.pause();
        await this.pass();
      } else {
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
      }
      // Messages are taken between two blocks.
      await new Promise((resolve) => setTimeout(resolve));
    }
  }

  /** Segments that the pass has read. */
  private get passed(): number {
    return this.rowsBefore.length - 1;
  }

  /** A while, or until something is wanted. */
  private async pause(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.wake = resolve;
      setTimeout(resolve, PAUSE_MS);
    });
  }

  want(segments: readonly number[]): void {
    this.wanted = segments;
    if (this.current && !segments.includes(this.current.segment)) this.current.controller.abort();
    this.wanted = segments.filter((segment) => segment !== this.current?.segment);
    this.wake?.();
  }

  private async give(segment: number): Promise<void> {
    // The next segment of the pass is counted where it is read anyway.
    if (segment === this.passed) return this.pass();
    const controller = new AbortController();
    this.current = { segment, controller };
    try {
      const block = await this.session.block(segment, this.rowsBefore[segment] ?? -1, controller.signal);
      this.post({ type: 'block', block }, transferables(block));
    } catch (error) {
      if (!controller.signal.aborted) report(describeProblem(error));
    } finally {
      this.current = null;
    }
  }

  private async pass(): Promise<void> {
    const segment = this.passed;
    const firstRow = this.rowsBefore[segment]!;
    let count = 0;
    try {
      const block = await this.session.block(segment, firstRow, new AbortController().signal);
      count = block.count;
      const { info, reasonOf, lastCycle } = this.session;
      const part = aggregate(block, info.aggregates, reasonOf, lastCycle);
      this.post({ type: 'aggregate', part, firstRow, segment, count }, [part.values.buffer as ArrayBuffer]);
      this.post({ type: 'block', block }, transferables(block));
    } catch (error) {
      // The rest is shown all the same.
      report(describeProblem(error));
    }
    this.rowsBefore.push(firstRow + count);
    if (this.passed === this.session.segmentCount) this.post({ type: 'complete', rows: firstRow + count });
  }

  private post(message: DataMessage, transfer: Transferable[] = []): void {
    this.port.postMessage(message, transfer);
  }
}

function report(problem: Problem): void {
  scope.postMessage({ type: 'problem', problem } satisfies DataReport);
}

function sourceOf(origin: TraceOrigin): Source {
  if ('file' in origin) return blobSource(origin.file);
  return httpSource(origin.url, { maxDownloadBytes: MAX_DOWNLOAD_BYTES, fetch: observedFetch(report) });
}

async function open({ origin, core, clock, port }: OpenRequest): Promise<void> {
  const opened = openTrace(sourceOf(origin)).then((trace) =>
    Session.open(trace, origin.name, { core, clock }),
  );
  const answerer = new Answerer(opened);
  let server: Server | null = null;
  port.onmessage = ({ data }: MessageEvent<Want | AskMessage>) => {
    if (data.type === 'want') server?.want(data.segments);
    else answerer.take(data, 'drawing', (reply, transfer) => port.postMessage(reply, transfer));
  };
  answererOfPage = answerer;
  try {
    const session = await opened;
    server = new Server(session, port, answerer);
    port.postMessage({ type: 'trace', info: session.info } satisfies DataMessage);
    scope.postMessage({ type: 'opened', info: session.info } satisfies DataReport);
    await server.run();
  } catch (error) {
    report({ ...describeProblem(error), isFatal: true });
  }
}

/** The page opens a trace before it asks anything. */
let answererOfPage: Answerer | null = null;

scope.onmessage = ({ data }: MessageEvent<OpenRequest | AskMessage>) => {
  if (data.type === 'open') void open(data);
  else answererOfPage?.take(data, 'page', (reply, transfer) => scope.postMessage(reply, transfer));
};
