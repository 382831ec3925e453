// @ts-check
/** A process in which DuckDB is not installed: `node --import without-duckdb.mjs`. */
import { register } from 'node:module';

const HOOKS = `
  export function resolve(specifier, context, next) {
    if (!specifier.startsWith('@duckdb/')) return next(specifier, context);
    throw Object.assign(new Error('Cannot find package ' + specifier), { code: 'ERR_MODULE_NOT_FOUND' });
  }`;
register(`data:text/javascript,${encodeURIComponent(HOOKS)}`);
