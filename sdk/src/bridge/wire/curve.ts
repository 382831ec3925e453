/** Encrypted connections (CURVE, as ZeroMQ has it): pairs of keys, and who may connect. */
import { Context, curveKeyPair, Reply } from 'zeromq';
import type { KeyPair, ServerKeys } from './key-files.js';

const KEY_BYTES = 32;
const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';

export function makeKeyPair(): KeyPair {
  const { publicKey, secretKey } = curveKeyPair();
  return { publicKey, secretKey };
}

/** 32 bytes as 40 characters (ZeroMQ RFC 32). */
function encodeKey(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let text = '';
  for (let at = 0; at < bytes.length; at += 4) {
    let value = view.getUint32(at);
    let group = '';
    for (let i = 0; i < 5; i++) {
      group = ALPHABET[value % 85] + group;
      value = Math.floor(value / 85);
    }
    text += group;
  }
  return text;
}

const VERSION = '1.0';
const DOMAIN = 'uscope';

/**
 * Asked by ZeroMQ about everyone who connects, before anything of theirs is read. The socket it guards must be made in `context` and given
 * `options`.
 */
export class Gatekeeper {
  readonly context = new Context();
  readonly options: {
    readonly context: Context;
    readonly curveServer: true;
    readonly curvePublicKey: string;
    readonly curveSecretKey: string;
    readonly zapDomain: string;
  };
  private readonly socket = new Reply({ context: this.context, linger: 0 });

  constructor(private readonly keys: ServerKeys) {
    const { publicKey, secretKey } = keys;
    this.options = {
      context: this.context,
      curveServer: true,
      curvePublicKey: publicKey,
      curveSecretKey: secretKey,
      zapDomain: DOMAIN,
    };
  }

  /** Before the guarded socket is bound: who connects to one without a gatekeeper is let in. */
  async start(): Promise<void> {
    await this.socket.bind('inproc://zeromq.zap.01');
    void this.answerAll();
  }

  close(): void {
    this.socket.close();
  }

  private async answerAll(): Promise<void> {
    for await (const request of this.socket) {
      const [version, id, domain, , , mechanism, key] = request;
      const isKnown =
        String(version) === VERSION &&
        String(domain) === DOMAIN &&
        String(mechanism) === 'CURVE' &&
        key?.length === KEY_BYTES &&
        this.keys.clientKeys.has(encodeKey(key));
      const answer = isKnown ? ['200', 'OK'] : ['400', 'the key is not on the list'];
      await this.socket.send([VERSION, id ?? '', ...answer, '', '']).catch(() => {});
    }
  }
}
