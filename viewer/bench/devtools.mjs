// @ts-check
/** A browser over two pipes, by the DevTools protocol: a JSON text and a zero byte for each message. */
import { spawn } from 'node:child_process';

/**
 * @typedef {object} DevTools
 * @property {number} pid
 * @property {(method: string, params?: object, sessionId?: string) => Promise<Record<string, unknown>>} call
 * @property {() => Promise<void>} close
 */

/** @param {string} path @param {readonly string[]} args @returns {DevTools} */
export function startBrowser(path, args) {
  const browser = spawn(path, [...args, '--remote-debugging-pipe'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  });
  const input = /** @type {import('node:stream').Writable} */ (browser.stdio[3]);
  const output = /** @type {import('node:stream').Readable} */ (browser.stdio[4]);
  const gone = new Promise((resolve) => browser.once('exit', resolve));
  /** @type {Map<number, { resolve: (result: Record<string, unknown>) => void, reject: (error: Error) => void }>} */
  const waiting = new Map();
  let rest = '';
  output.setEncoding('utf8').on('data', (text) => {
    const messages = `${rest}${text}`.split('\0');
    rest = messages.pop() ?? '';
    for (const { id, result, error } of messages.map((one) => JSON.parse(one))) {
      const { resolve, reject } = waiting.get(id) ?? {};
      waiting.delete(id);
      if (error) reject?.(new Error(error.message));
      else resolve?.(result);
    }
  });
  void gone.then(() => {
    for (const { reject } of waiting.values()) reject(new Error('the browser ended'));
  });
  let nextId = 1;
  /** @type {DevTools['call']} */
  const call = (method, params = {}, sessionId = undefined) =>
    new Promise((resolve, reject) => {
      const id = nextId++;
      waiting.set(id, { resolve, reject });
      input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
  return {
    pid: browser.pid ?? 0,
    call,
    async close() {
      void call('Browser.close').catch(() => undefined);
      await gone;
    },
  };
}
