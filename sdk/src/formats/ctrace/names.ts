/** Names for events and their fields, taken from the text of a format: `Decode: pc=0x{:x} {}` is `Decode` with `pc` and `arg1`. */
import { ArgType, type CtraceFormat } from './types.js';

const MAX_NAME = 48;
/** The word in front of an argument, when `=` or `:` joins them. */
const LABEL = /([A-Za-z_][A-Za-z0-9_]*)\s*[=:]\s*(?:0x|[<("'[]*)$/;

/** As names in µScope have to be: a letter or _ first, then letters, digits, _ . - */
export function cleanName(text: string, otherwise: string): string {
  const clean = text.replace(/[^A-Za-z0-9_.-]+/g, '_').replace(/^[_.-]+|[_.-]+$/g, '');
  if (!clean) return otherwise;
  return /^[A-Za-z]/.test(clean) ? clean : `_${clean}`;
}

/** The words before the first argument. */
export function messageName({ id, text }: CtraceFormat): string {
  const label = LABEL.exec(text.slice(0, Math.max(0, text.indexOf('{'))));
  const end = label ? label.index : text.search(/[{:]|$/);
  const words = cleanName(text.slice(0, end), '');
  return words.slice(0, MAX_NAME) || cleanName((label?.[1] ?? '').slice(0, MAX_NAME), `format_${id}`);
}

/** One name per argument type, each only once. Floating-point numbers say so: their bits are what is kept. */
export function argNames({ text, argTypes }: CtraceFormat): string[] {
  const taken = new Set<string>(['category']);
  let from = 0;
  return argTypes.map((type, i) => {
    const open = from < 0 ? -1 : text.indexOf('{', from);
    const close = open < 0 ? -1 : text.indexOf('}', open);
    const label = close < 0 ? null : LABEL.exec(text.slice(from, open));
    from = close < 0 ? -1 : close + 1;
    return unique(`${(label?.[1] ?? `arg${i}`).slice(0, MAX_NAME)}${suffixOf(type)}`, taken, i);
  });
}

function suffixOf(type: number): string {
  if (type === ArgType.FLOAT) return '_f32';
  return type === ArgType.DOUBLE ? '_f64' : '';
}

/** A name that is not taken yet, and is from now on. */
export function unique(wanted: string, taken: Set<string>, mark: number | string): string {
  let name = wanted;
  for (let i = 0; taken.has(name); i++) name = i === 0 ? `${wanted}_${mark}` : `${wanted}_${mark}_${i}`;
  taken.add(name);
  return name;
}
