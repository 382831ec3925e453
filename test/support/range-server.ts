/** A web server on the loopback with one file in it, which counts what it sends and misbehaves on request. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface RangeServer {
  readonly url: string;
  /** What the file holds now. */
  bytes: Uint8Array;
  /** null: none is sent. */
  etag: string | null;
  lastModified: string | null;
  /** False: answers everything with the whole file. */
  ranges: boolean;
  /** If-Range and If-None-Match are looked at. */
  conditions: boolean;
  /** Sends no more than this of a range. */
  maxPart: number;
  /** Answers instead of the ordinary one; true when it has. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | null;
  /** Bodies sent so far. */
  sent: number;
  /** `range` headers seen so far. */
  readonly requests: string[];
  readonly ifRanges: (string | undefined)[];
  readonly authorizations: (string | undefined)[];
  reset(): void;
  close(): Promise<void>;
}

export async function startRangeServer(bytes: Uint8Array): Promise<RangeServer> {
  const server = createServer((request, response) => answer(self, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const self: RangeServer = {
    url: `http://127.0.0.1:${port}/trace.uscope`,
    bytes,
    etag: '"1"',
    lastModified: null,
    ranges: true,
    conditions: true,
    maxPart: Number.POSITIVE_INFINITY,
    intercept: null,
    sent: 0,
    requests: [],
    ifRanges: [],
    authorizations: [],
    reset() {
      self.sent = 0;
      self.requests.length = 0;
      self.ifRanges.length = 0;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return self;
}

function answer(server: RangeServer, request: IncomingMessage, response: ServerResponse): void {
  server.requests.push(request.headers.range ?? '');
  server.ifRanges.push(request.headers['if-range'] as string | undefined);
  server.authorizations.push(request.headers.authorization);
  if (server.intercept?.(request, response)) return;
  const { bytes, etag, lastModified } = server;
  if (etag) response.setHeader('etag', etag);
  if (lastModified) response.setHeader('last-modified', lastModified);
  const condition = request.headers['if-range'];
  const isCurrent = !server.conditions || !condition || condition === etag || condition === lastModified;
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
  if (!range || !server.ranges || !isCurrent) {
    send(server, response, 200, bytes);
    return;
  }
  const start = Number(range[1]);
  if (start >= bytes.byteLength) {
    response.setHeader('content-range', `bytes */${bytes.byteLength}`);
    send(server, response, 416, new Uint8Array(0));
    return;
  }
  const part = bytes.subarray(start, Math.min(Number(range[2]) + 1, start + server.maxPart));
  response.setHeader('content-range', `bytes ${start}-${start + part.byteLength - 1}/${bytes.byteLength}`);
  send(server, response, 206, part);
}

function send(server: RangeServer, response: ServerResponse, status: number, body: Uint8Array): void {
  response.writeHead(status, { 'content-length': body.byteLength });
  server.sent += body.byteLength;
  response.end(body);
}
