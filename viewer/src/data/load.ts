/** Code that only some traces need: a separate file of the page, fetched when it is used first. */

/** What the files put into the global object, by their name. */
interface Parts {
  readonly noc: typeof import('./noc.js');
}

const loading = new Map<keyof Parts, Promise<void>>();

/** @throws Error where the file cannot be fetched */
export async function load<K extends keyof Parts>(name: K): Promise<Parts[K]> {
  const found = loading.get(name) ?? fetchScript(`${name}.js`);
  loading.set(name, found);
  await found;
  return (globalThis as unknown as Record<string, Parts[K]>)[`uscope_${name}`]!;
}

async function fetchScript(file: string): Promise<void> {
  const { importScripts } = globalThis as { importScripts?: (url: string) => void };
  if (importScripts) {
    importScripts(new URL(file, location.href).href);
    return;
  }
  // Where the page has no workers this is its own thread.
  await new Promise<void>((resolve, reject) => {
    const script = document.createElement('script');
    script.src = new URL(file, document.baseURI).href;
    script.onload = () => resolve();
    script.onerror = () => reject(new Error(`${file}, a part of the page, cannot be fetched`));
    document.head.append(script);
  });
}
