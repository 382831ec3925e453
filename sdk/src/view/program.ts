/** The program that ran, for the page: its ELF file, whose symbols the page reads, and lines of source for addresses it asks about. */
import { readFile, realpath } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { basename, dirname } from 'node:path';
import { UscopeError } from '../base/errors.js';
import { ElfSymbols, type FunctionSymbol } from '../semantics/program/index.js';
import { SourceLines, SourceTexts } from '../semantics/program/node-lines.js';
import { LINES_PATH, PROGRAM_PATH } from './program-paths.js';
import { refuse, sendJson } from './replies.js';
import type { ProgramSource } from './server.js';

/** Of one request; addresses are hexadecimal. */
const MAX_ADDRESSES = 512;
const ADDRESS = /^[0-9a-f]{1,16}$/;
const MAX_TEXT = 400;

export interface ProgramOptions {
  /** Source files are read below these, below the directory of the program and below the working directory. */
  readonly sources?: readonly string[] | undefined;
  /** Called with the first source file that is here, but not below them. */
  readonly onOutside?: ((file: string) => void) | undefined;
}

export class ServedProgram implements ProgramSource {
  private constructor(
    readonly bytes: Uint8Array,
    private readonly symbols: ElfSymbols,
    private readonly lines: SourceLines,
    private readonly texts: SourceTexts,
  ) {}

  /** @throws UscopeError READER_OPEN, CONVERT_*: it cannot be read, is not an ELF file or has no symbols */
  static async open(path: string, { sources = [], onOutside }: ProgramOptions = {}): Promise<ServedProgram> {
    const bytes = await readProgram(path);
    const symbols = ElfSymbols.parse(bytes);
    const texts = new SourceTexts([dirname(await realpath(path)), process.cwd(), ...sources], onOutside);
    return new ServedProgram(bytes, symbols, new SourceLines(path), texts);
  }

  get functions(): readonly FunctionSymbol[] {
    return this.symbols.functions;
  }

  /** What the page writes beside instructions at these addresses: file and line, function; empty: nothing is known. */
  async notesOf(addresses: readonly bigint[]): Promise<string[]> {
    const lines = await this.lines.of(addresses);
    return addresses.map((address, index) => {
      const line = lines[index];
      const name = this.symbols.find(address)?.name ?? null;
      return [line ? `${basename(line.file)}:${line.line}` : null, name]
        .filter((part) => part !== null)
        .join('  ');
    });
  }

  async answer(path: string, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    if (path === PROGRAM_PATH) {
      sendProgram(response, this.bytes);
      return true;
    }
    if (path !== LINES_PATH) return false;
    const addresses = addressesOf(request.url ?? '');
    if (addresses) sendJson(response, await this.linesOf(addresses));
    else
      refuse(
        response,
        400,
        `pcs= takes 1 to ${MAX_ADDRESSES} hexadecimal addresses with commas between them`,
      );
    return true;
  }

  /** For each address file, line and text of the line; null: not known. */
  private async linesOf(addresses: readonly bigint[]): Promise<unknown> {
    const found = await this.lines.of(addresses);
    const lines = found.map(async (one) => {
      if (!one) return null;
      const text = (await this.texts.of(one))?.trim().slice(0, MAX_TEXT) ?? null;
      return { file: basename(one.file), path: one.file, line: one.line, text };
    });
    return { tool: this.lines.toolName, lines: await Promise.all(lines) };
  }
}

function addressesOf(url: string): bigint[] | null {
  const asked = new URLSearchParams(url.split('?')[1] ?? '').get('pcs')?.split(',') ?? [];
  if (asked.length === 0 || asked.length > MAX_ADDRESSES || !asked.every((one) => ADDRESS.test(one)))
    return null;
  return asked.map((one) => BigInt(`0x${one}`));
}

/** @throws UscopeError READER_OPEN */
export async function readProgram(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (error) {
    throw new UscopeError('READER_OPEN', (error as Error).message, { file: path }, { cause: error });
  }
}

export function sendProgram(response: ServerResponse, program: Uint8Array): void {
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': program.byteLength,
    'cache-control': 'no-cache',
  });
  response.end(response.req.method === 'HEAD' ? undefined : program);
}
