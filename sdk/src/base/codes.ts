/**
 * Registry of stable error codes: code -> what it means. Codes are never renamed; a code's first word says which part reports it.
 * FORMAT_ a file's bytes, SCHEMA_ a schema text or builder, OP_ an operation of an instrumented model, WRITER_ writing a file,
 * READER_ asking a file, BRIDGE_ client and daemon, VERIFY_ and RECOVER_ those verbs,
 * CONVERT_ files of other formats, CLI_ arguments, VIEW_ the viewer, ENV_ the machine.
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
  SCHEMA_CLOCK: 'A scope or a call names a clock that is not defined, or no clock is defined.',
  SCHEMA_LIMIT: 'The schema exceeds a limit of the format (64 KiB of strings, 255 enums, 65,535 slots, ...).',
  SCHEMA_MISSING: 'A required key is missing.',
  SCHEMA_VARIABLE: 'A ${variable} has no value or is malformed.',
  SCHEMA_MISMATCH: 'The schema is not the one the client was generated from.',
  SCHEMA_FILE: 'The schema file cannot be read by the client.',
  // -- operations of an instrumented model
  OP_STORAGE: 'A storage id or name is not in the schema.',
  OP_SLOT: "A slot index is not below the storage's number of slots.",
  OP_FIELD: 'A field index or name is not in the storage or event.',
  OP_PROPERTY: 'A property index or name is not in the storage.',
  OP_EVENT: 'An event id or name is not in the schema.',
  OP_PAYLOAD: 'An event payload has the wrong size or number of fields.',
  OP_VALUE: "A value does not fit its field's type.",
  OP_TIME: 'Time runs backwards.',
  OP_OUTSIDE_CYCLE: 'An operation is outside begin_cycle and end_cycle.',
  OP_NESTED_CYCLE: 'begin_cycle inside an open cycle.',
  OP_STRING: 'A string is too long or not valid UTF-8, or a string index was never defined.',
  OP_SNAPSHOT: 'A checkpoint snapshot has the wrong size or is outside a checkpoint callback.',
  OP_HANDLE: 'The trace handle is not one of an open trace.',
  OP_SCOPE: 'A scope path is not in the schema, or its recording cannot be switched.',
  // -- writing
  WRITER_DIRECTORY: 'The output directory does not exist or cannot be written.',
  WRITER_EXISTS: 'The file exists and may not be replaced.',
  WRITER_DISK_FULL: 'No space is left where the trace is written.',
  WRITER_IO: 'The operating system refused a write or sync.',
  WRITER_CLOSED: 'The writer is closed or has failed earlier.',
  WRITER_OVERRUN: 'The producer ignored back-pressure: it must await ready() when endCycle() returns false.',
  WRITER_COMPRESSION: 'The compression asked for is not available here.',
  WRITER_BUSY: 'Another process writes this file.',
  WRITER_LOCK_LOST:
    'Another host has taken over the file, as this process gave no sign of life for too long.',
  // -- reading
  READER_OPEN: 'The file cannot be opened or read.',
  READER_RANGE: 'A time, cycle or index is outside the trace.',
  READER_NAME: 'No storage, event, field, scope or clock has that name.',
  READER_NO_CYCLES: 'A range in cycles needs a clock whose period is known; it is 0.',
  READER_COMPRESSION: 'The file uses a compression this installation cannot read.',
  READER_CHANGED: 'The file changed under the reader in a way a live trace does not.',
  READER_HTTP_STATUS: 'A web server refused the request or answered something that is not the trace.',
  READER_HTTP_RANGES:
    'A web server does not serve parts of the file, and the file is too large to be fetched whole.',
  READER_HTTP_TIMEOUT: 'A web server stopped sending for longer than the limit.',
  READER_THREAD: 'A thread that reads the trace has ended.',
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
  BRIDGE_NO_MEMORY: 'The daemon has no memory for this trace within its bound, or the machine has none.',
  BRIDGE_MEMORY: 'The shared memory of a local client cannot be read; the client sends its records instead.',
  BRIDGE_INTERNAL: 'The daemon failed in a way it should not; the message says where.',
  BRIDGE_FINALIZED: 'The daemon was asked to finalize its traces while this one was open.',
  BRIDGE_FORKED: 'The trace was opened by another process, of which this one is a forked or restored copy.',
  BRIDGE_KEY: 'A key for an encrypted connection is missing, malformed or not accepted.',
  BRIDGE_TRIGGER:
    'A trigger of the flight recorder is malformed or names what the schema of the trace does not have.',
  // -- verify and recover
  VERIFY_CHECKPOINT: 'A checkpoint differs from the state that replaying the frames before it gives.',
  VERIFY_SNAPSHOT: 'A checkpoint holds a snapshot that the model supplied and that differs from replay.',
  VERIFY_SUMMARY: 'The trace summary is not the one that the frames give.',
  VERIFY_STRINGS: 'The string table differs from the strings in the commit records.',
  VERIFY_LAYOUT: 'Bytes of the file belong to none of its structures, or two structures overlap.',
  VERIFY_HEADER: 'Header, preamble and session chunk disagree with what the file holds.',
  VERIFY_GAP: 'Frames are missing between two segments.',
  VERIFY_UNFINALIZED: 'The trace is not finalized: it is being written, or its writer was killed.',
  VERIFY_UNCOMMITTED:
    'After the last committed segment there are bytes that were never acknowledged as durable.',
  VERIFY_OTHER_WRITER:
    'The file is of another writer and differs from docs/format.md in a way that readers know.',
  VERIFY_UNPROTECTED:
    'The file, or a part of it, has no checksum: damage there that leaves its structure intact cannot be noticed.',
  VERIFY_DOUBTFUL: 'The preamble comes from a file in which its checksum did not hold.',
  RECOVER_NOTHING: 'There is nothing to save: no schema, or no complete segment.',
  RECOVER_MEMORY: 'The memory of the client cannot be used for this file.',
  RECOVER_OUTPUT: 'The file written does not pass verification; it was not kept.',
  // -- other formats
  CONVERT_UNKNOWN: 'The file is of no format known here, or there is no format of that name.',
  CONVERT_FORMAT: "The bytes break the rules of the file's own format.",
  CONVERT_TRUNCATED: 'The file ends inside a record.',
  CONVERT_UNSUPPORTED: 'The file uses something of its format that this release does not cover.',
  CONVERT_LIMIT:
    'A length or count in the file promises more than the file holds or than this release takes.',
  CONVERT_SOURCE: 'The input does not hold what the output format needs.',
  CONVERT_OPTION: 'A format does not have that option, or the option cannot have that value.',
  // -- command line and machine
  CLI_USAGE: 'The command line is wrong.',
  VIEW_PORT: 'The port that the viewer shall use is taken or not allowed.',
  ENV_MISSING: 'A program or package needed is missing and could not be installed.',
  ENV_VALUE: 'An environment variable or option of the Python client has a value that it cannot have.',
} as const;

export type ErrorCode = keyof typeof ERROR_CODES;
