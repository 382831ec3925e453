// @ts-check
/** What several vectors name. */
import { num, text, wide } from './fields.mjs';

/** A secret, and the id of its session. */
export const SECRET = '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f';
export const OWNED_SESSION = '630dcd2966c4336691125448bbb25b4f';
export const SESSION = '00112233445566778899aabbccddeeff';
export const RUN = 'f0e0d0c0b0a090807060504030201000';

export const HELLO = {
  t: text('hello'),
  v: num(1),
  client: text('uscope-c 0.1.0'),
  pid: num(4242),
  start: wide(123456789012n),
};
