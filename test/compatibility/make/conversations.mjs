// @ts-check
/**
 * Records what the C client and the Python client of a release say to its daemon, and what the daemon answers. Both are real; a relay between
 * them keeps every message. Shared memory is off, so that the messages hold all the records.
 */
import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createCpuSummarizer } from 'uscope';
import { Daemon } from 'uscope/bridge';
import { Dealer, Router } from 'zeromq';
import { Entry, writeConversation } from '../frames.mjs';

/** @typedef {import('../frames.mjs').ConversationEntry} ConversationEntry */

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const HERE = fileURLToPath(new URL('.', import.meta.url));
const TIMEOUT_MS = 60_000;

/** Passes messages on between a client and a daemon, and keeps them. */
class Relay {
  /** @type {ConversationEntry[]} */
  entries = [];
  /** Of the client's data messages. */
  dataMessages = 0;
  /** Called after each entry. */
  onEntry = async () => {};
  #front = new Router({ linger: 0 });
  #back = new Dealer({ linger: 0 });
  /** @type {Buffer | null} */
  #client = null;

  /** @param {string} frontEndpoint @param {string} backEndpoint */
  async start(frontEndpoint, backEndpoint) {
    this.#front = new Router({ linger: 0 });
    this.#back = new Dealer({ linger: 0 });
    await this.#front.bind(frontEndpoint);
    this.#back.connect(backEndpoint);
    void this.#fromClient(this.#front, this.#back);
    void this.#fromDaemon(this.#front, this.#back);
  }

  stop() {
    this.#front.close();
    this.#back.close();
  }

  /** @param {Router} front @param {Dealer} back */
  async #fromClient(front, back) {
    for await (const [id, ...parts] of front) {
      this.#client = id;
      this.entries.push({ kind: Entry.CLIENT, parts });
      if (parts.length === 2) this.dataMessages++;
      if (front.closed) return;
      await back.send(parts);
    }
  }

  /** @param {Router} front @param {Dealer} back */
  async #fromDaemon(front, back) {
    for await (const parts of back) {
      if (!this.#client || front.closed) return;
      this.entries.push({ kind: Entry.DAEMON, parts });
      await front.send([this.#client, ...parts]);
      await this.onEntry();
    }
  }
}

/**
 * @param {string} program @param {string[]} args @param {Record<string, string>} env
 * @returns {Promise<void>}
 */
function runClient(program, args, env) {
  const { promise, resolve, reject } = withResolvers();
  const child = spawn(program, args, {
    cwd: HERE, // so that no directory of this machine is in what the client says
    env: { ...process.env, USCOPE_SHM: '0', ...env },
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: TIMEOUT_MS,
  });
  child.once('error', reject);
  child.once('exit', (status) =>
    status === 0 ? resolve() : reject(new Error(`${program} ended with ${status}`)),
  );
  return promise;
}

/** @returns {{ promise: Promise<void>, resolve: () => void, reject: (error: Error) => void }} */
function withResolvers() {
  let resolve = () => {};
  /** @type {(error: Error) => void} */
  let reject = () => {};
  /** @type {Promise<void>} */
  const promise = new Promise((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}

/**
 * One client's whole life. With `restartAfter`, the daemon is replaced after that number of its answers.
 * @param {string} scratch
 * @param {(env: Record<string, string>) => Promise<void>} client
 * @param {number | null} restartAfter
 */
async function converse(scratch, client, restartAfter = null) {
  const outputDirectory = mkdtempSync(join(scratch, 'out-'));
  const sockets = mkdtempSync(join(scratch, 's-'));
  const front = `ipc://${sockets}/front`;
  const daemonAt = (/** @type {number} */ n) =>
    Daemon.start({ endpoint: `ipc://${sockets}/back${n}`, outputDirectory, summarizer: createCpuSummarizer });
  let daemon = await daemonAt(0);
  const relay = new Relay();
  await relay.start(front, `ipc://${sockets}/back0`);
  if (restartAfter !== null) {
    relay.onEntry = async () => {
      const answers = relay.entries.filter(({ kind }) => kind === Entry.DAEMON).length;
      if (answers < restartAfter) return;
      relay.onEntry = async () => {};
      relay.stop();
      await daemon.stop();
      relay.entries.push({ kind: Entry.RESTART, parts: [] });
      daemon = await daemonAt(1);
      await relay.start(front, `ipc://${sockets}/back1`);
    };
  }
  try {
    await client({ USCOPE_ENDPOINT: front });
  } finally {
    relay.stop();
    await daemon.finalize();
    await daemon.stop();
  }
  return { entries: relay.entries, trace: join(outputDirectory, 'core0.uscope') };
}

/**
 * Writes `NAME.frames`, and next to it the trace that the daemon wrote, for each conversation.
 * @param {string} folder @param {string | null} python with pyzmq and msgpack; null: without the Python client
 */
export async function makeConversations(folder, python) {
  mkdirSync(folder, { recursive: true });
  const scratch = mkdtempSync(join(tmpdir(), 'uscope-compatibility-'));
  try {
    const program = compileClient(scratch);
    const schema = 'cores.yaml';
    /** @type {Record<string, { client: (env: Record<string, string>) => Promise<void>, restartAfter?: number }>} */
    const conversations = {
      c: { client: (env) => runClient(program, ['0'], { ...env, USCOPE_SCHEMA: schema }) },
      'c-restart': {
        client: (env) => runClient(program, ['1'], { ...env, USCOPE_SCHEMA: schema }),
        restartAfter: 5,
      },
    };
    if (python !== null) {
      const env = { PYTHONPATH: join(ROOT, 'cocotb-adapter/src'), PYTHONDONTWRITEBYTECODE: '1' };
      conversations.python = {
        client: (more) => runClient(python, ['client.py', schema], { ...env, ...more }),
      };
    }
    for (const [name, { client, restartAfter }] of Object.entries(conversations)) {
      const { entries, trace } = await converse(scratch, client, restartAfter);
      writeConversation(join(folder, `${name}.frames`), entries);
      copyFileSync(trace, join(folder, `${name}.uscope`));
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** @param {string} scratch */
function compileClient(scratch) {
  const program = join(scratch, 'client');
  const args = ['-std=c11', '-Wall', '-Wextra', '-Werror', `-I${ROOT}dpi/include`, join(HERE, 'client.c')];
  args.push(`${ROOT}dpi/build/libuscope.a`, '-lzmq', '-lpthread', '-o', program);
  const { status, stderr } = spawnSync('cc', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`the C client does not compile:\n${stderr}`);
  return program;
}
