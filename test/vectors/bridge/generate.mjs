// @ts-check
/**
 * Golden messages of the bridge protocol (docs/reference/bridge-protocol.md), assembled byte by byte. The msgpack emitter beside this file is written
 * for it and shares nothing with the implementations under test, so that the two cannot agree on a mistake.
 *
 *     node test/vectors/bridge/generate.mjs [DIRECTORY]     default: beside this file
 *
 * Every NAME.bin has a NAME.json:
 *   { kind: 'control', direction: 'to-daemon' | 'to-client', message: {...}, decodeOnly?: true }
 *   { kind: 'data-header', header: {...} }                    48 bytes
 *   { kind: 'records', records: [...] }                       payload of a data message
 *   { kind, error: CODE, why: '...', payloadSize? }           must be refused with that code (payloadSize: bytes of the second part)
 * 64-bit quantities are decimal strings, byte strings are { hex: '...' }. `decodeOnly`: legal, but not what our encoders emit.
 */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dataHeaders, dataRecords } from './source/data.mjs';
import { Output } from './source/output.mjs';
import { refusedHeaders, refusedMessages, refusedRecords } from './source/refused.mjs';
import { messagesToClient } from './source/to-client.mjs';
import { messagesToDaemon } from './source/to-daemon.mjs';

const output = new Output(process.argv[2] ?? dirname(fileURLToPath(import.meta.url)));
messagesToDaemon(output);
messagesToClient(output);
dataHeaders(output);
dataRecords(output);
refusedMessages(output);
refusedHeaders(output);
refusedRecords(output);
