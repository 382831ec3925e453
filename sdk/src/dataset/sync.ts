/** Makes files that are written aside durable. */
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type Access, giveAccess } from '../writer/output/file-access.js';

/** @param access that all of them get; null: they keep what they have */
export async function syncTree(path: string, access: Access | null): Promise<void> {
  for (const entry of await readdir(path, { withFileTypes: true })) {
    const inside = join(path, entry.name);
    if (entry.isDirectory()) await syncTree(inside, access);
    else await syncOne(inside, access);
  }
  await syncOne(path, access);
}

/** A file or a directory. */
export async function syncOne(path: string, access: Access | null): Promise<void> {
  const file = await open(path, 'r');
  try {
    if (access) await giveAccess(file, access);
    await file.sync();
  } finally {
    await file.close();
  }
}
