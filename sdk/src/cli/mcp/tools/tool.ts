/** What a tool is, and how the server calls it. */
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import type { ServerNotification, ServerRequest } from '@modelcontextprotocol/sdk/types.js';
import type * as z from 'zod';
import { isUscopeError } from '../../../base/errors.js';
import { failure, success } from './answer.js';
import type { TraceFiles } from './files.js';

/** One call of a tool. */
export interface Call {
  readonly files: TraceFiles;
  readonly signal: AbortSignal;
  /** To be called now and then during long work, with the share done: notifies the client, and ends the work when the client no longer wants it. */
  readonly progress: (share: number) => void;
}

export interface Tool<Input extends z.ZodRawShape> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Input;
  /** The answer, as an object for JSON. Throws UscopeError for what the caller can fix. */
  run(args: z.output<z.ZodObject<Input>>, call: Call): Promise<object>;
}

/** For the type of `args` alone. */
export function defineTool<Input extends z.ZodRawShape>(tool: Tool<Input>): Tool<Input> {
  return tool;
}

type Extra = RequestHandlerExtra<ServerRequest, ServerNotification>;
/** The SDK's own type is generic over the arguments, which only the tool knows. */
type Register = (
  name: string,
  config: object,
  callback: (args: never, extra: Extra) => Promise<object>,
) => unknown;

/** Runs calls one after the other: they share traces, which may be opened anew in between. */
export class ToolRunner {
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly server: McpServer,
    private readonly files: TraceFiles,
  ) {}

  add<Input extends z.ZodRawShape>({ name, title, description, input, run }: Tool<Input>): void {
    const register = this.server.registerTool.bind(this.server) as unknown as Register;
    const annotations = { readOnlyHint: true, openWorldHint: false };
    const callback = (args: never, extra: Extra): Promise<object> =>
      this.inTurn(async () => {
        extra.signal.throwIfAborted();
        return run(args, { files: this.files, signal: extra.signal, progress: progressOf(extra) });
      });
    register(name, { title, description, inputSchema: input, annotations }, callback);
  }

  private inTurn(work: () => Promise<object>): Promise<object> {
    const turn = this.last.then(async () => {
      try {
        return success(await work());
      } catch (error) {
        if (isUscopeError(error)) return failure(error);
        throw error;
      }
    });
    this.last = turn.catch(() => undefined);
    return turn;
  }
}

const PROGRESS_STEP = 0.05;

function progressOf({ signal, _meta, sendNotification }: Extra): (share: number) => void {
  const progressToken = _meta?.progressToken;
  let told = 0;
  return (share) => {
    signal.throwIfAborted();
    if (progressToken === undefined || share < told + PROGRESS_STEP) return;
    told = share;
    const params = { progressToken, progress: share, total: 1 };
    // A client that has gone is noticed elsewhere.
    sendNotification({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}
