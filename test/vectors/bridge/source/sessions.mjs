// @ts-check
/** What several vectors name. */
import { num, text, wide } from './fields.mjs';

export const SESSION = '00112233445566778899aabbccddeeff';
export const RUN = 'f0e0d0c0b0a090807060504030201000';

export const HELLO = {
  t: text('hello'),
  v: num(1),
  client: text('uscope-c 0.1.0'),
  pid: num(4242),
  start: wide(123456789012n),
};
