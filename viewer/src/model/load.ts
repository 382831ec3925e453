/** Parts of the scripts: files of the page (`viewer/parts.mjs`) that are fetched when they are used first. */

const loading = new Map<string, Promise<void>>();

/**
 * @param name of the part; `T` is what its entry exports
 * @throws Error where the file cannot be fetched; the next call tries again
 */
export async function loadPart<T>(name: string): Promise<T> {
  const found = loading.get(name) ?? fetchScript(`${name}.js`);
  loading.set(name, found);
  try {
    await found;
  } catch (error) {
    loading.delete(name);
    throw error;
  }
  return (globalThis as unknown as Record<string, T>)[`uscope_${name}`]!;
}

async function fetchScript(file: string): Promise<void> {
  const { importScripts } = globalThis as { importScripts?: (url: string) => void };
  if (importScripts) {
    importScripts(new URL(file, location.href).href);
    return;
  }
  // The page itself, or where it has no workers what they do.
  await new Promise<void>((resolve, reject) => {
    const script = document.createElement('script');
    script.src = new URL(file, document.baseURI).href;
    script.onload = () => resolve();
    script.onerror = () => reject(new Error(`${file}, a part of the page, cannot be fetched`));
    document.head.append(script);
  });
}
