/** Parts of the scripts: files of the page (`viewer/parts.mjs`) that are fetched when they are used first. */

const loading = new Map<string, Promise<void>>();

/**
 * @param name of the part; `T` is what its entry exports
 * @throws Error where the file cannot be fetched; the next call tries again
 */
export async function loadPart<T>(name: string): Promise<T> {
  const parts = globalThis as unknown as Record<string, T | undefined>;
  // Another script has loaded it, or it is part of a program without scripts (`headless/surroundings.ts`).
  if (!parts[`uscope_${name}`]) await once(`${name}.js`, fetchScript);
  return parts[`uscope_${name}`]!;
}

/** The same at once: in workers; in a page it was loaded before (`page/thread.ts`). @throws Error as `loadPart` */
export function partNow<T>(name: string): T {
  const key = `uscope_${name}`;
  const parts = globalThis as unknown as Record<string, T>;
  if (!(key in parts)) importNow(`${name}.js`);
  return parts[key]!;
}

/** Only the page has styles. @throws Error as `loadPart` */
export function loadStyle(file: string): Promise<void> {
  return once(file, async () => {
    const link = document.createElement('link');
    link.rel = 'stylesheet';
    link.href = new URL(file, document.baseURI).href;
    await added(link, file);
  });
}

async function once(file: string, fetchFile: (file: string) => Promise<void>): Promise<void> {
  const found = loading.get(file) ?? fetchFile(file);
  loading.set(file, found);
  try {
    await found;
  } catch (error) {
    loading.delete(file);
    throw error;
  }
}

async function fetchScript(file: string): Promise<void> {
  if ('importScripts' in globalThis) return importNow(file);
  // The page itself, or where it has no workers what they do.
  const script = document.createElement('script');
  script.src = new URL(file, document.baseURI).href;
  await added(script, file);
}

function importNow(file: string): void {
  const { importScripts } = globalThis as unknown as { importScripts: (url: string) => void };
  importScripts(new URL(file, location.href).href);
}

const added = (element: HTMLScriptElement | HTMLLinkElement, file: string): Promise<void> =>
  new Promise((resolve, reject) => {
    element.onload = () => resolve();
    element.onerror = () => {
      element.remove();
      reject(new Error(`${file}, a part of the page, cannot be fetched`));
    };
    document.head.append(element);
  });
