/** `uscope schema --check`: does a schema, or that of a trace, keep the protocols that its scopes claim? */
import { onOneLine } from '../../base/printable.js';
import { checkProtocol, findingText, isContradiction, type ProtocolFinding } from '../../protocols/index.js';
import { isHttpUrl } from '../../reader/http-url.js';
import { parseUnboundSchema } from '../../schema/index.js';
import { ExitCode, io, paint, printJson } from './io.js';
import { readSchemaFile } from './schema-file.js';
import { shownName, withTrace } from './trace-file.js';

const SCHEMA_FILE = /\.(ya?ml|json)$/i;

export async function printCheck(file: string, isJson: boolean): Promise<void> {
  const findings = await findingsOf(file);
  const contradictions = findings.filter(isContradiction).length;
  if (isJson) printJson({ file: shownName(file), ok: contradictions === 0, findings });
  else printFindings(file, findings, contradictions);
  if (contradictions > 0) process.exitCode = ExitCode.FAILED;
}

async function findingsOf(file: string): Promise<ProtocolFinding[]> {
  if (isHttpUrl(file) || !SCHEMA_FILE.test(file))
    return withTrace(file, async ({ schema, dut }) => checkProtocol(schema, dut));
  const { schema, dut } = parseUnboundSchema(readSchemaFile(file), { file });
  return checkProtocol(schema, dut);
}

function printFindings(file: string, findings: readonly ProtocolFinding[], contradictions: number): void {
  for (const finding of findings) {
    const mark = isContradiction(finding) ? paint('yellow', 'warning') : paint('dim', 'note   ');
    io.out(`${mark}  ${onOneLine(findingText(finding))}\n`);
  }
  const count = contradictions === 1 ? '1 contradiction' : `${contradictions} contradictions`;
  const verdict = contradictions === 0 ? paint('green', 'nothing contradicts its protocols') : count;
  io.out(`${onOneLine(shownName(file))}: ${verdict}\n`);
}
