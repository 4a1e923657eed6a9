import { parseJson } from '@coplay/core/checks';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

const lists = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const records = (levels: number) => `${'{"a":'.repeat(levels)}0${'}'.repeat(levels)}`;

describe('parseJson', () => {
  it('gives what JSON.parse gives', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (text) => {
        expect(parseJson('x', text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('counts levels of lists and records, and no brackets of texts', () => {
    for (const nested of [lists, records]) {
      expect(() => parseJson('x', nested(100))).not.toThrow();
      expect(() => parseJson('x', nested(101))).toThrow(/x: expected JSON of at most 100 levels, got a deeper nesting/);
      expect(() => parseJson('x', nested(3), { levels: 2 })).toThrow(/at most 2 levels/);
      expect(() => parseJson('x', nested(1e6))).toThrow(/at most 100 levels/);
    }
    const brackets = JSON.stringify(['[{'.repeat(500), '\\"[', '"', '[['.repeat(100)]);
    expect(parseJson('x', brackets, { levels: 1 })).toEqual(JSON.parse(brackets));
    // Neighbouring lists are on one level.
    expect(parseJson('x', `[${new Array(500).fill('[]').join(',')}]`, { levels: 2 })).toHaveLength(500);
  });

  it('keeps a key __proto__ as a key, and changes no prototype', () => {
    const value = parseJson('x', '{"__proto__": {"polluted": 1}, "a": 2}') as Record<string, unknown>;
    expect(Object.keys(value)).toEqual(['__proto__', 'a']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect((value as { polluted?: number }).polluted).toBeUndefined();
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
  });

  it('refuses what is too long or no JSON, in the words that it is given', () => {
    expect(() => parseJson('x', '[1,2]', { characters: 4 })).toThrow(/x: expected JSON of at most 4 characters, got 5/);
    const words = { expected: 'a map', remedy: 'Draw one.' };
    expect(() => parseJson('x', '[1,', words)).toThrow(/x: expected a map, got SyntaxError.* Draw one\./);
    expect(() => parseJson('x', ']', {})).toThrow(/SyntaxError/);
  });
});
