/**
 * Registry of stable error codes: code -> what it means. Codes are never renamed; a code's first word says which part reports it.
 * FORMAT_ a file's bytes, SCHEMA_ a schema text or builder, OP_ an operation of an instrumented model, WRITER_ writing a file,
 * READER_ asking a file, BRIDGE_ client and daemon, CLI_ arguments, ENV_ the machine.
 */
export const ERROR_CODES = {
  // -- a file's bytes
  FORMAT_MAGIC: 'The bytes do not start with the magic of the structure expected there.',
  FORMAT_VERSION: 'The format version is not one this release reads.',
  FORMAT_TRUNCATED: 'The data ends inside a structure.',
  FORMAT_LENGTH: 'A length or count promises more than the data holds or the format allows.',
  FORMAT_VALUE: 'A field holds a value the format does not allow.',
  FORMAT_CHUNK_MISSING: 'A mandatory preamble chunk is missing or present twice.',
  FORMAT_STRING_POOL: 'A string pool offset points outside the pool or at unterminated text.',
  FORMAT_COMPRESSION:
    'The compression method is reserved or unknown, or a block does not decompress to the promised size.',
  FORMAT_CHAIN: 'The segment chain or table points to itself, forward, or outside the file.',
  FORMAT_CHECKSUM: 'A CRC-32 does not match the bytes it covers.',
  FORMAT_ID: 'A storage, slot, field, event or string id is outside what the schema defines.',
  FORMAT_UTF8: 'Text is not valid UTF-8.',
  // -- schema authoring
  SCHEMA_SYNTAX: 'The schema file is not valid YAML or JSON.',
  SCHEMA_KEY: 'A key is not known at this place.',
  SCHEMA_TYPE: 'A value has the wrong type or a type name is unknown.',
  SCHEMA_RANGE: 'A number is outside its allowed range.',
  SCHEMA_NAME: 'A name is empty, malformed or reserved.',
  SCHEMA_DUPLICATE: 'A name is defined twice in one scope.',
  SCHEMA_CLOCK: 'A scope names a clock that is not defined, or no clock is defined.',
  SCHEMA_LIMIT: 'The schema exceeds a limit of the format (64 KiB of strings, 255 enums, 65,535 slots, ...).',
  SCHEMA_MISSING: 'A required key is missing.',
  SCHEMA_VARIABLE: 'A ${variable} has no value or is malformed.',
  SCHEMA_MISMATCH: 'The schema is not the one the client was generated from.',
  // -- operations of an instrumented model
  OP_STORAGE: 'A storage id or name is not in the schema.',
  OP_SLOT: "A slot index is not below the storage's number of slots.",
  OP_FIELD: 'A field index or name is not in the storage or event.',
  OP_PROPERTY: 'A property index or name is not in the storage.',
  OP_EVENT: 'An event id or name is not in the schema.',
  OP_PAYLOAD: 'An event payload has the wrong size or number of fields.',
  OP_VALUE: "A value does not fit its field's type.",
  OP_TIME: 'Time runs backwards.',
  OP_OUTSIDE_CYCLE: 'An operation stands outside begin_cycle and end_cycle.',
  OP_NESTED_CYCLE: 'begin_cycle inside an open cycle.',
  OP_STRING: 'A string is too long or not valid UTF-8, or a string index was never defined.',
  OP_SNAPSHOT: 'A checkpoint snapshot has the wrong size or is outside a checkpoint callback.',
  OP_HANDLE: 'The trace handle is not one of an open trace.',
  // -- writing
  WRITER_DIRECTORY: 'The output directory does not exist or cannot be written.',
  WRITER_EXISTS: 'The file exists and may not be replaced.',
  WRITER_DISK_FULL: 'No space is left where the trace is written.',
  WRITER_IO: 'The operating system refused a write or sync.',
  WRITER_CLOSED: 'The writer is closed or has failed earlier.',
  WRITER_OVERRUN: 'The producer ignored back-pressure: it must await ready() when endCycle() returns false.',
  WRITER_COMPRESSION: 'The compression asked for is not available here.',
  // -- reading
  READER_OPEN: 'The file cannot be opened or read.',
  READER_RANGE: 'A time, cycle or index is outside the trace.',
  READER_NAME: 'No storage, event, field, scope or clock has that name.',
  READER_NO_CYCLES: 'Cycles were asked of a clock whose period is unknown (0).',
  READER_COMPRESSION: 'The file uses a compression this installation cannot read.',
  READER_CHANGED: 'The file changed under the reader in a way a live trace does not.',
  // -- client and daemon
  BRIDGE_VERSION: 'Client and daemon speak different protocol versions.',
  BRIDGE_MESSAGE: 'A message is malformed or of unknown type.',
  BRIDGE_SEQUENCE: 'A data message is missing or out of order.',
  BRIDGE_RECORD: 'A record in a data message violates the protocol or the schema.',
  BRIDGE_UNKNOWN_TRACE: 'Data for a trace this daemon does not know.',
  BRIDGE_NAME: 'A trace name is malformed or leads out of the output directory.',
  BRIDGE_NAME_BUSY: 'Another live session writes a trace of that name.',
  BRIDGE_NO_SCHEMA: 'The client sent no schema and the daemon has no default.',
  BRIDGE_LIMIT: 'A limit of the daemon is reached (traces, sizes).',
  BRIDGE_NO_DAEMON: 'No daemon answers at the endpoint.',
  BRIDGE_LOST: 'The daemon was lost and did not come back in time.',
  BRIDGE_ENDPOINT: 'The endpoint is malformed, not allowed, or already in use.',
  BRIDGE_MEMORY: 'The shared memory of a local client cannot be read; the client sends its records instead.',
  BRIDGE_INTERNAL: 'The daemon failed in a way it should not; the message says where.',
  // -- command line and machine
  CLI_USAGE: 'The command line is wrong.',
  ENV_MISSING: 'A program or package needed is missing and could not be installed.',
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;
