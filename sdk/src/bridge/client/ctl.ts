/** One command for a daemon, from another process. */
import { Dealer } from 'zeromq';
import { UscopeError } from '../../base/errors.js';
import { processStart } from '../../writer/output/process-name.js';
import { decodeDaemonMessage, encodeControl } from '../wire/codec.js';
import { checkDescriptors } from '../wire/descriptors.js';
import type { ClientKeys } from '../wire/key-files.js';
import {
  type ClientMessage,
  type CtlMessage,
  type DaemonMessage,
  PROTOCOL_VERSION,
} from '../wire/protocol.js';
import { remoteError } from '../wire/session-error.js';
import { checkPlace } from '../wire/trusted-place.js';
import { PRODUCT } from '../wire/version.js';

export type { ControlledTrace } from '../wire/protocol.js';

export interface CtlRequest {
  readonly action: CtlMessage['action'];
  /** Only this trace; absent: all. */
  readonly trace?: string | undefined;
  readonly scope?: string | undefined;
  readonly text?: string | undefined;
  /** How long the traces' clients may take; default 5,000 ms. */
  readonly timeoutMs?: number | undefined;
  readonly keys?: ClientKeys | undefined;
}

type Traces = Extract<DaemonMessage, { t: 'ctl_done' }>['traces'];

const DEFAULT_TIMEOUT_MS = 5000;
/** For the daemon itself, on top of what its clients may take. */
const DAEMON_MS = 5000;
const HELLO_MS = 200;

/**
 * Sends a command to the daemon at `endpoint`; resolves with its traces and what has become of the command in each.
 * @throws UscopeError BRIDGE_NO_DAEMON, BRIDGE_VERSION, BRIDGE_ENDPOINT, ENV_DESCRIPTORS, and what the daemon refuses it with
 */
export async function control(endpoint: string, request: CtlRequest): Promise<Traces> {
  checkPlace(endpoint);
  checkDescriptors();
  const { keys, timeoutMs = DEFAULT_TIMEOUT_MS } = request;
  const dealer = new Dealer({
    immediate: true,
    linger: 0,
    ...(keys && {
      curveServerKey: keys.serverKey,
      curvePublicKey: keys.publicKey,
      curveSecretKey: keys.secretKey,
    }),
  });
  try {
    connect(dealer, endpoint);
    await greet(dealer, endpoint);
    const { action, trace, scope, text } = request;
    dealer.sendTimeout = DAEMON_MS;
    await send(dealer, { t: 'ctl', req: 1, action, trace, scope, text, timeout_ms: timeoutMs });
    const answer = await next(dealer, timeoutMs + DAEMON_MS);
    if (answer?.t === 'ctl_done') return answer.traces;
    if (answer?.t === 'error') throw remoteError(answer);
    throw new UscopeError('BRIDGE_LOST', `the daemon at ${endpoint} did not answer the command`);
  } finally {
    dealer.close();
  }
}

function connect(dealer: Dealer, endpoint: string): void {
  try {
    dealer.connect(endpoint);
  } catch (cause) {
    const detail = `cannot connect: ${(cause as Error).message}`;
    throw new UscopeError('BRIDGE_ENDPOINT', detail, { file: endpoint }, { cause });
  }
}

/** A daemon that starts just now, or restarts, is waited for. Who has come after the first look is looked at before anything else is said. */
async function greet(dealer: Dealer, endpoint: string): Promise<void> {
  const end = performance.now() + DAEMON_MS;
  const { pid } = process;
  while (performance.now() < end) {
    dealer.sendTimeout = HELLO_MS;
    const start = processStart(pid) ?? 0n;
    const sent = await send(dealer, { t: 'hello', v: PROTOCOL_VERSION, client: PRODUCT, pid, start }).then(
      () => true,
      () => false,
    );
    if (!sent) continue;
    const answer = await next(dealer, HELLO_MS);
    if (answer?.t === 'welcome' && checkPlace(endpoint)) return;
    if (answer?.t === 'error') throw remoteError(answer);
  }
  throw new UscopeError('BRIDGE_NO_DAEMON', `no daemon answers at ${endpoint}`);
}

function send(dealer: Dealer, message: ClientMessage): Promise<void> {
  return dealer.send(Buffer.from(encodeControl(message)));
}

/** The next message but repeated greetings; null when none comes in time. */
async function next(dealer: Dealer, timeoutMs: number): Promise<DaemonMessage | null> {
  const end = performance.now() + timeoutMs;
  for (let left = timeoutMs; left > 0; left = end - performance.now()) {
    dealer.receiveTimeout = Math.max(1, Math.round(left));
    try {
      const [bytes] = await dealer.receive();
      const message = decodeDaemonMessage(bytes);
      if (message.t !== 'welcome' || timeoutMs === HELLO_MS) return message;
    } catch (error) {
      if (error instanceof UscopeError) throw error;
      return null;
    }
  }
  return null;
}
