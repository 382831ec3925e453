/** Other formats: what is known about them, and conversion between all of them. */
export {
  type AnyFormat,
  type ConversionResult,
  type ConversionStep,
  type ConvertRequest,
  convert,
  nameOf,
} from './convert.js';
export type * from './format.js';
export { FORMATS } from './registry.js';
export { ConversionReport, Fate, type ReportRow, type Tally } from './report.js';
export { formatForName, formatNamed, sniffFormat, USCOPE } from './sniff.js';
