/** A thread that answers questions that may take long. It opens the trace by itself; the page ends it where it does not stop by itself. */
import { threadScope } from '../model/thread-scope.js';
import { Answerer } from './answerer.js';
import { begun, openTrace, sourceOf } from './library.js';
import type { AskMessage, OpenQuestions } from './protocol.js';
import { LONG_QUESTIONS } from './questions/table.js';
import { Session } from './session.js';

const scope = threadScope('questions.js');

/** null: the page has not said yet which trace. */
let answerer: Answerer | null = null;
/** null: not open yet. */
let session: Session | null = null;

async function open({ origin, core }: OpenQuestions): Promise<Session> {
  const trace = await openTrace(sourceOf(origin));
  await begun(trace);
  session = await Session.open(trace, origin.name, { core, clock: null });
  session.useIndex(session.ownIndex);
  return session;
}

async function answer(message: AskMessage): Promise<void> {
  // Only questions let it grow with a trace that is being written. The answer says what is wrong with the file.
  if (message.type === 'ask') await session?.grow().catch(() => undefined);
  answerer?.take(message, (reply, transfer) => scope.postMessage(reply, transfer));
}

scope.onmessage = ({ data }: MessageEvent<OpenQuestions | AskMessage>) => {
  if (data.type === 'open') answerer = new Answerer(open(data), LONG_QUESTIONS);
  else void answer(data);
};
