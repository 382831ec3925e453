/**
 * The thread that reads the trace for a picture: blocks that the picture needs now come first, then the pass over the whole trace continues.
 * It also answers quick questions of the page.
 */
import { checkProtocol, isContradiction } from 'uscope/protocols';
import type { Growth } from '../model/growth.js';
import { threadScope } from '../model/thread-scope.js';
import { Answerer } from './answerer.js';
import { BlockServer } from './block-server.js';
import { begun, openTrace, sourceOf, type Trace } from './library.js';
import { describeProblem } from './problems.js';
import type { AskMessage, DataMessage, DataReport, OpenRequest, Problem, Want } from './protocol.js';
import { QUICK_QUESTIONS } from './questions/table.js';
import { Session } from './session.js';

const scope = threadScope('data.js');

function report(problem: Problem): void {
  scope.postMessage({ type: 'problem', problem } satisfies DataReport);
}

/** Segments kept as they were read: what is drawn from them is kept by the drawing worker. */
const SEGMENT_BYTES = 16 * 1024 * 1024;

async function show({ origin, core, clock, port }: OpenRequest): Promise<void> {
  let isWritten = true;
  const writer = (isThere: boolean): void => {
    isWritten = isThere;
  };
  const source = sourceOf(origin, report, writer);
  const opened = openTrace(source, { cacheBytes: SEGMENT_BYTES }).then(async (trace) => {
    if (!trace.isComplete && trace.segmentCount === 0)
      scope.postMessage({ type: 'waiting' } satisfies DataReport);
    await begun(trace);
    return Session.open(trace, origin.name, { core, clock });
  });
  answerer = new Answerer(opened, QUICK_QUESTIONS);
  let server: BlockServer | null = null;
  port.onmessage = ({ data }: MessageEvent<Want>) => server?.want(data);
  try {
    const session = await opened;
    const post = (message: DataMessage, transfer: Transferable[]): void =>
      port.postMessage(message, transfer);
    const live = {
      grown: (growth: Growth): void => scope.postMessage({ type: 'grown', growth } satisfies DataReport),
      isWritten: (): boolean => isWritten,
      hasNews: async () => source.hasNews(await session.tail()),
    };
    server = new BlockServer(session, post, report, live);
    reportContradictions(session.trace);
    port.postMessage({ type: 'trace', info: session.info } satisfies DataMessage);
    scope.postMessage({ type: 'opened', info: session.info } satisfies DataReport);
    await server.run();
  } catch (error) {
    report({ ...describeProblem(error), isFatal: true });
  }
}

/** What the schema contradicts is not shown, and the page says so once. */
function reportContradictions({ schema, dut }: Trace): void {
  const [first, ...others] = checkProtocol(schema, dut).filter(isContradiction);
  if (!first) return;
  const more = others.length > 0 ? ` And ${others.length} more.` : '';
  report({ code: first.code, what: `${first.detail}.${more}`, advice: '', isFatal: false });
}

/** The page opens a trace before it asks anything. */
let answerer: Answerer | null = null;

scope.onmessage = ({ data }: MessageEvent<OpenRequest | AskMessage>) => {
  if (data.type === 'open') void show(data);
  else answerer?.take(data, (reply, transfer) => scope.postMessage(reply, transfer));
};
