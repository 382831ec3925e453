/** Client and daemon: the wire protocol, a client, the daemon, and what `uscope run` does with them. */
export { BridgeClient, type ClientOptions, type TraceRequest } from './client/client.js';
export type { ClientTrace } from './client/client-trace.js';
export { Daemon, type DaemonEvents, type DaemonOptions } from './daemon/daemon.js';
export { type RunOptions, supervise } from './run/supervisor.js';
export { defaultEndpoint } from './wire/endpoint.js';
export { PROTOCOL_VERSION, type WireStats } from './wire/protocol.js';
