/** Makes files that are written aside durable. */
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory } from '../writer/output/output-file.js';

export async function syncTree(path: string): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inside = join(path, entry.name);
    if (entry.isDirectory()) await syncTree(inside);
    else await syncFile(inside);
  }
  await syncDirectory(path);
}

export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
