/** Client and daemon: the wire protocol, a client, the daemon, and what `uscope run` does with them. */
export { BridgeClient, type ClientOptions, type TraceRequest } from './client.js';
export type { ClientTrace } from './client-trace.js';
export { Daemon, type DaemonEvents, type DaemonOptions } from './daemon.js';
export { defaultEndpoint } from './endpoint.js';
export { PROTOCOL_VERSION, type WireStats } from './protocol.js';
export { type RunOptions, supervise } from './supervisor.js';
