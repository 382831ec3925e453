import { expect, it } from 'vitest';
import { withoutEnd } from './statements.js';

it.each([
  ['select 1; -- x', 'select 1'],
  ['select 1;\n/* ; */ ;', 'select 1'],
  ['select 1 -- ; x', 'select 1 -- ; x'],
  [
    `select ';', ";", e'\\';', $$;$$, $a$;$$;$a$ /* ; */; -- x`,
    `select ';', ";", e'\\';', $$;$$, $a$;$$;$a$ /* ; */`,
  ],
  [`select 'it''s;'`, `select 'it''s;'`],
])('the statement of %s', (question, statement) => {
  expect(withoutEnd(question)).toBe(statement);
});
