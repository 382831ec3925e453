/** Other formats: what is known about them, and conversion between all of them. */

export type * from './common/foreign-format.js';
export type { ReportRow } from './common/report.js';
export { type AnyFormat, type ConversionResult, convert, nameOf } from './convert.js';
export { FORMATS } from './registry.js';
export { formatForName, formatNamed, formatOf, readableFormats, sniffFormat, USCOPE } from './sniff.js';
