/** CRC-32 as in zlib, in browsers. node/crc32.ts offers the same in Node. */
export { crc32 } from '../../base/crc32.js';
