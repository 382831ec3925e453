/** The daemon, and what `uscope run` does with it. */
export { Daemon, type DaemonEvents, type DaemonOptions } from './daemon/daemon.js';
export { type RunOptions, supervise } from './run/supervisor.js';
export { defaultEndpoint } from './wire/endpoint.js';
export { PROTOCOL_VERSION, type WireStats } from './wire/protocol.js';
