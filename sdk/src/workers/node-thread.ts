/** Runs in a thread of the pool in Node. */
import { parentPort } from 'node:worker_threads';
import { blobSource } from '../reader/index.js';
import { openTraceFile } from '../reader/node.js';
import { serve } from './serve.js';

const port = parentPort;
if (port) {
  serve(
    {
      post: (message, move) => port.postMessage(message, [...move]),
      onMessage: (listener) => void port.on('message', listener),
    },
    (location, options) =>
      openTraceFile(
        location.kind === 'place' ? location.place : blobSource(location.blob, location.name),
        options,
      ),
  );
}
