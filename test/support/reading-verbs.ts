/** The verbs that read a trace, with arguments for one: tests of every verb use it, and one compares it with the command. */

/** What follows the verb and the file; a function where the file does not follow the verb. */
export const READERS: Readonly<Record<string, readonly string[] | ((file: string) => readonly string[])>> = {
  info: [],
  schema: [],
  dump: [],
  events: [],
  find: ['nop'],
  tail: [],
  state: ['--cycle', '1'],
  history: ['entities'],
  view: ['--png', 'out.png'],
  timeline: [],
  counters: [],
  buffers: [],
  stats: [],
  export: ['-o', 'dataset'],
  dataset: (file) => ['ls', file],
  sql: ['select count(*) from instructions'],
  index: [],
  verify: [],
  doctor: [],
  recover: ['-o', 'recovered.uscope', '--force'],
  diff: (file) => [file, file],
  merge: (file) => [file, file, '-o', 'merged.uscope'],
  slice: ['--cycles', '0:4', '-o', 'slice.uscope'],
  convert: ['-o', 'out.kanata'],
};
/** These get no trace as an argument. */
export const OTHERS = ['run', 'serve', 'ctl', 'ctrace', 'mcp', 'codegen', 'config', 'keygen', 'completion'];

/** The arguments of a verb that reads a trace. */
export function argumentsFor(verb: string, file: string): readonly string[] {
  const more = READERS[verb]!;
  return [verb, ...(typeof more === 'function' ? more(file) : [file, ...more])];
}
