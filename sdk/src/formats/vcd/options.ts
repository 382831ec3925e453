/** Options of waveforms that are written. */
import type { FormatOption } from '../common/foreign-format.js';

export const VCD_EXPORT_OPTIONS: readonly FormatOption[] = [
  { name: 'max-slots', help: 'storages with more slots are left out; default 256', direction: 'export' },
  { name: 'events', help: 'yes (default): events and their fields too; no', direction: 'export' },
];
