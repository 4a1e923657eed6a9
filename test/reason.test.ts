import { describe, expect, it } from 'vitest';
import { reasonOf } from '../scripts/lib/reason';

const noise = (count: number) => Array.from({ length: count }, (_, i) => `warning ${i}`);

describe('the reason why a program failed', () => {
  it('begins with the failures and the errors below them, wherever they stand', () => {
    const output = [
      ...noise(500),
      '\u001b[41m FAIL \u001b[49m packages/a.test.ts > first',
      ' FAIL  packages/a.test.ts > second',
      'AssertionError: expected 1 to be 2',
      ' ❯ packages/a.test.ts:3:9',
      '',
      ...noise(100),
      ' FAIL  packages/b.test.ts',
      'Error: no such file',
      '',
      ...noise(70),
    ].join('\n');
    const lines = reasonOf(output).split('\n');
    expect(lines.slice(0, 7)).toEqual([
      ' FAIL  packages/a.test.ts > first',
      ' FAIL  packages/a.test.ts > second',
      'AssertionError: expected 1 to be 2',
      ' ❯ packages/a.test.ts:3:9',
      ' FAIL  packages/b.test.ts',
      'Error: no such file',
      '... the last 60 of 678 lines:',
    ]);
    expect(lines.slice(7)).toEqual(noise(70).slice(-60));
  });

  it('is all of a short output that names none', () => {
    expect(reasonOf('one\ntwo\n')).toBe('one\ntwo');
  });

  it('stays short where everything fails', () => {
    const output = Array.from({ length: 5000 }, (_, i) => ` FAIL  packages/a.test.ts > ${i}`).join('\n');
    expect(reasonOf(output).split('\n')).toHaveLength(261);
  });
});
