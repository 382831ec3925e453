/** Options that the logs of instructions have in common. */
import { UscopeError } from '../../base/errors.js';
import { parsePeriod } from '../../schema/index.js';
import type { FormatOption } from '../common/foreign-format.js';

export const PERIOD_OPTION: FormatOption = {
  name: 'period',
  help: 'clock period of the core: 1ns, 500ps, 2 GHz; default 1ns',
  direction: 'import',
};
export const CORE_OPTION: FormatOption = {
  name: 'core',
  help: 'name of the core in the trace; default core0',
  direction: 'import',
};

/** In ps. @throws UscopeError CONVERT_OPTION */
export function periodOption(options: ReadonlyMap<string, string>, byDefault = '1ns'): number {
  const text = options.get('period') ?? byDefault;
  const period = parsePeriod(text);
  if ('ps' in period && period.ps > 0) return period.ps;
  const problem = 'problem' in period ? period.problem : 'a period of 0 gives no cycles';
  throw new UscopeError('CONVERT_OPTION', `period=${text}: ${problem}`);
}

/** @throws UscopeError CONVERT_OPTION */
export function coreOption(options: ReadonlyMap<string, string>): string {
  const name = options.get('core') ?? 'core0';
  if (/^[A-Za-z_][A-Za-z0-9_.-]*$/.test(name)) return name;
  throw new UscopeError(
    'CONVERT_OPTION',
    `core=${name}: a name has letters, digits, _ . and -, a letter or _ first`,
  );
}
