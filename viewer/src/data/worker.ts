/** The thread that reads the trace: blocks that the picture needs now come first, then the pass over the whole trace goes on. */
import { Answerer } from './answerer.js';
import { BlockServer } from './block-server.js';
import { blobSource, httpSource, openTrace, type Source } from './library.js';
import { describeProblem } from './problems.js';
import type { AskMessage, DataMessage, DataReport, OpenRequest, TraceOrigin, Want } from './protocol.js';
import { Session } from './session.js';

function report(problem: ReturnType<typeof describeProblem>): void {
  postMessage({ type: 'problem', problem } satisfies DataReport);
}

function sourceOf(origin: TraceOrigin): Source {
  return 'file' in origin ? blobSource(origin.file) : httpSource(origin.url);
}

async function open({ origin, core, clock, port }: OpenRequest): Promise<void> {
  const opened = openTrace(sourceOf(origin)).then((trace) =>
    Session.open(trace, origin.name, { core, clock }),
  );
  const answerer = new Answerer(opened);
  let server: BlockServer | null = null;
  port.onmessage = ({ data }: MessageEvent<Want | AskMessage>) => {
    if (data.type === 'want') server?.want(data);
    else answerer.take(data, 'drawing', (reply, transfer) => port.postMessage(reply, transfer));
  };
  answererOfPage = answerer;
  try {
    const session = await opened;
    const post = (message: DataMessage, transfer: Transferable[]): void =>
      port.postMessage(message, transfer);
    server = new BlockServer(session, post, report);
    port.postMessage({ type: 'trace', info: session.info } satisfies DataMessage);
    postMessage({ type: 'opened', info: session.info } satisfies DataReport);
    await server.run();
  } catch (error) {
    report({ ...describeProblem(error), isFatal: true });
  }
}

/** The page opens a trace before it asks anything. */
let answererOfPage: Answerer | null = null;

addEventListener('message', ({ data }: MessageEvent<OpenRequest | AskMessage>) => {
  if (data.type === 'open') void open(data);
  else answererOfPage?.take(data, 'page', (reply, transfer) => postMessage(reply, { transfer }));
});
