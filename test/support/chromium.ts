/** The Chromium of this machine, for tests of what runs in a page; null where there is none, and those tests are skipped. */
import { spawnSync } from 'node:child_process';
import {
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
  type Browser as Program,
} from 'playwright-core';

export const chromiumPath: string | null = find();

function find(): string | null {
  const { status, stdout } = spawnSync('sh', ['-c', 'command -v chromium'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : null;
}

/** Pages of a test file, each context separate from all others as a private window. `close` closes those that the file opened. */
export interface Browser {
  newPage(options?: BrowserContextOptions): Promise<Page>;
  newContext(options?: BrowserContextOptions): Promise<BrowserContext>;
  close(): Promise<void>;
}

/**
 * Files that follow each other in a process share one program, whose start takes a second of processor time. One with other arguments starts
 * a separate program.
 * @param args of the command line, more than it always gets
 */
export async function startChromium(args: readonly string[] = []): Promise<Browser> {
  if (args.length > 0) {
    const program = await launch(args);
    return new Contexts(program, () => program.close());
  }
  clearTimeout(idle);
  users++;
  if (!shared?.isConnected()) shared = await launch([]);
  return new Contexts(shared, endOfUse);
}

/** For what a test waits for in a page, and what hangs takes: a busy machine must not come near it. */
const PATIENCE_MS = 120_000;
/** How long the shared program waits for the next file. */
const IDLE_MS = 5000;
let shared: Program | undefined;
let users = 0;
let idle: NodeJS.Timeout | undefined;

async function endOfUse(): Promise<void> {
  if (--users > 0) return;
  const program = shared;
  idle = setTimeout(() => {
    if (shared === program) shared = undefined;
    void program?.close();
  }, IDLE_MS).unref();
}

/**
 * Each window has two pages for suggestions under its address bar, which no test sees: more than half of the processor time of a short page.
 * The rest is Playwright's list, which this argument replaces.
 */
const WITHOUT = [
  ...['WebUIOmniboxPopup', 'WebUIOmniboxAimPopup'],
  ...['AvoidUnnecessaryBeforeUnloadCheckSync', 'DestroyProfileOnBrowserClose', 'HttpsUpgrades'],
  ...['HttpsFirstBalancedModeAutoEnable', 'LensOverlay', 'MediaRouter', 'PaintHolding'],
  ...['ThirdPartyStoragePartitioning', 'AvoidCorsURLLoaderRestartOnRedirect', 'OptimizationHints'],
  ...['NetworkTimeServiceQuerying', 'AimEnabled', 'PreconnectToSearch'],
];

function launch(args: readonly string[]): Promise<Program> {
  return chromium.launch({
    executablePath: chromiumPath ?? 'chromium',
    // Its sandbox needs what containers and root do not have; these pages are ours.
    args: ['--no-sandbox', '--disable-gpu', `--disable-features=${WITHOUT.join()}`, ...args],
  });
}

class Contexts implements Browser {
  readonly #opened: BrowserContext[] = [];

  constructor(
    private readonly program: Program,
    private readonly end: () => Promise<void>,
  ) {}

  /** The page's context ends with it. */
  async newPage(options: BrowserContextOptions = {}): Promise<Page> {
    const page = await this.program.newPage(options);
    this.#take(page.context());
    return page;
  }

  async newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    return this.#take(await this.program.newContext(options));
  }

  #take(context: BrowserContext): BrowserContext {
    context.setDefaultTimeout(PATIENCE_MS);
    this.#opened.push(context);
    return context;
  }

  async close(): Promise<void> {
    await Promise.all(this.#opened.map((context) => context.close()));
    await this.end();
  }
}
