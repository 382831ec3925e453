/** What a pass over a file collects, in batches. */

/**
 * Takes what is in `batch` after each step of the pass.
 * @throws what the pass throws, after all that it collected before
 */
export async function* batchesOf<T>(pass: AsyncIterable<void>, batch: T[]): AsyncGenerator<T[]> {
  let failure: { readonly error: unknown } | null = null;
  try {
    for await (const _ of pass) if (batch.length > 0) yield batch.splice(0);
  } catch (error) {
    failure = { error };
  }
  if (batch.length > 0) yield batch.splice(0);
  if (failure) throw failure.error;
}
