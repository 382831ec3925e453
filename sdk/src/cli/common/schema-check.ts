/** `uscope schema --check`: does a schema, or that of a trace, keep the protocols that its scopes claim? */
import { onOneLine } from '../../base/printable.js';
import {
  checkProtocol,
  findingText,
  isContradiction,
  MAX_FINDINGS,
  type ProtocolFinding,
} from '../../protocols/index.js';
import { isHttpUrl } from '../../reader/http-url.js';
import { type ParsedSchema, parseUnboundSchema } from '../../schema/index.js';
import { ExitCode, io, paint, printJson } from './io.js';
import { readSchemaFile } from './schema-file.js';
import { shownName, withTrace } from './trace-file.js';

type Checked = Pick<ParsedSchema, 'schema' | 'dut'>;

const SCHEMA_FILE = /\.(ya?ml|json)$/i;

export async function printCheck(file: string, isJson: boolean): Promise<void> {
  const { schema, dut } = await checkedOf(file);
  const findings = checkProtocol(schema, dut);
  const contradictions = findings.filter(isContradiction).length;
  const isClaimed = schema.scopes.some(({ protocol }) => protocol !== null);
  if (isJson) printJson({ file: shownName(file), ok: contradictions === 0, isClaimed, findings });
  else printFindings(file, findings, isClaimed ? verdictOn(contradictions) : 'no scope claims a protocol');
  if (contradictions > 0) process.exitCode = ExitCode.FAILED;
}

async function checkedOf(file: string): Promise<Checked> {
  if (isHttpUrl(file) || !SCHEMA_FILE.test(file))
    return withTrace(file, async ({ schema, dut }) => ({ schema, dut }));
  return parseUnboundSchema(readSchemaFile(file), { file });
}

function verdictOn(contradictions: number): string {
  if (contradictions === 0) return paint('green', 'nothing contradicts its protocols');
  return contradictions === 1 ? '1 contradiction' : `${contradictions} contradictions`;
}

function printFindings(file: string, findings: readonly ProtocolFinding[], verdict: string): void {
  for (const finding of findings) {
    const mark = isContradiction(finding) ? paint('yellow', 'warning') : paint('dim', 'note   ');
    io.out(`${mark}  ${onOneLine(findingText(finding))}\n`);
  }
  if (findings.length === MAX_FINDINGS) io.out(`these are the first ${MAX_FINDINGS}; there may be more\n`);
  io.out(`${onOneLine(shownName(file))}: ${verdict}\n`);
}
