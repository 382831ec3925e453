import { describe, expect, it } from 'vitest';
import { onOneLine, printable, printableOutput } from './printable.js';

describe('a message of others', () => {
  it('cannot move the cursor, clear the screen or change the direction of text', () => {
    expect(printable('a\x1b[2Jb\rc\x07\x7f\x9b1m')).toBe('a\\x1b[2Jb\\x0dc\\x07\\x7f\\x9b1m');
    expect(printable('\u202eabc\u2066\u2028')).toBe('\\u202eabc\\u2066\\u2028');
  });
  it('cannot begin a line that looks like a message', () => {
    expect(printable('x\nuscope: core0: closed')).toBe('x\n  uscope: core0: closed');
  });
  it('keeps its letters', () => {
    const text = 'µScope\t"ünï" 信号 🙂';
    expect(printable(text)).toBe(text);
    expect(printableOutput(text)).toBe(text);
  });
});

it('a name or value of a file stays in its line', () => {
  expect(onOneLine('a\nb\tc\u001b[30md\u2029e\u202e\u009b')).toBe(
    'a\\x0ab\\x09c\\x1b[30md\\u2029e\\u202e\\x9b',
  );
  expect(onOneLine('µ 信号')).toBe('µ 信号');
});

describe('output', () => {
  it('keeps its lines and colours', () => {
    const text = '\x1b[1mstate\x1b[0m\tcomplete\n\x1b[38;5;12mx\x1b[0m\n';
    expect(printableOutput(text)).toBe(text);
  });
  it('holds no other sequence, and none that hides text', () => {
    expect(printableOutput('a\x1b[2J\x1b]0;title\x07\x1b[8mhidden\x1b[1;8mtoo\r')).toBe(
      'a\\x1b[2J\\x1b]0;title\\x07\\x1b[8mhidden\\x1b[1;8mtoo\\x0d',
    );
  });
});
