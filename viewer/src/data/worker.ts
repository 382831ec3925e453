/**
 * A thread that reads the trace. With a port it serves a picture: blocks that the picture needs now come first, then the pass over the whole
 * trace continues. Without one it only answers questions that may take long; the page ends it where it does not stop by itself.
 */
import type { Growth } from '../model/growth.js';
import { threadScope } from '../model/thread-scope.js';
import { Answerer } from './answerer.js';
import { BlockServer } from './block-server.js';
import { begun, openTrace, sourceOf } from './library.js';
import { describeProblem } from './problems.js';
import type { AskMessage, DataMessage, DataReport, OpenRequest, Problem, Want } from './protocol.js';
import { QUESTIONS } from './questions/table.js';
import { Session } from './session.js';

const scope = threadScope('data.js');

function report(problem: Problem): void {
  scope.postMessage({ type: 'problem', problem } satisfies DataReport);
}

/** Segments kept as they were read: what is drawn from them is kept by the drawing worker. */
const SEGMENT_BYTES = 16 * 1024 * 1024;

async function show({ origin, core, clock }: OpenRequest, port: MessagePort): Promise<void> {
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
  const answerer = new Answerer(opened, QUESTIONS);
  answererOfPage = answerer;
  let server: BlockServer | null = null;
  port.onmessage = ({ data }: MessageEvent<Want | AskMessage>) => {
    if (data.type === 'want') server?.want(data);
    else answerer.take(data, 'drawing', (reply, transfer) => port.postMessage(reply, transfer));
  };
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
    port.postMessage({ type: 'trace', info: session.info } satisfies DataMessage);
    scope.postMessage({ type: 'opened', info: session.info } satisfies DataReport);
    await server.run();
  } catch (error) {
    report({ ...describeProblem(error), isFatal: true });
  }
}

function openForQuestions({ origin, core, clock }: OpenRequest): void {
  const opened = openTrace(sourceOf(origin)).then(async (trace) => {
    await begun(trace);
    const session = await Session.open(trace, origin.name, { core, clock });
    session.useIndex(session.ownIndex);
    ungrown = session;
    return session;
  });
  answererOfPage = new Answerer(opened, QUESTIONS);
}

/** The page opens a trace before it asks anything. */
let answererOfPage: Answerer | null = null;
/** A session that nothing but questions lets grow with a trace that is being written. */
let ungrown: Session | null = null;

async function answer(message: AskMessage): Promise<void> {
  // What is wrong with the file is what the answer says.
  if (message.type === 'ask') await ungrown?.grow().catch(() => undefined);
  answererOfPage?.take(message, 'page', (reply, transfer) => scope.postMessage(reply, transfer));
}

scope.onmessage = ({ data }: MessageEvent<OpenRequest | AskMessage>) => {
  if (data.type !== 'open') void answer(data);
  else if (data.port) void show(data, data.port);
  else openForQuestions(data);
};
