import { describe, expect, it } from 'vitest';
import { anchors, codeBlocks, links } from '../scripts/lib/markdown';

const page = [
  '# A page: with *marks*', // line 1
  'See [one](one.md#part) and `[not](this.md)`, [two](https://example.org "title").',
  '```ts run', // line 3
  'const x = [1](2);',
  '```',
  '## `code` and_under',
  '```',
  'plain',
  '```',
].join('\n');

describe('pages', () => {
  it('give their code blocks with language, words and line', () => {
    expect(codeBlocks(page)).toEqual([
      { language: 'ts', words: ['run'], code: 'const x = [1](2);\n', line: 4 },
      { language: '', words: [], code: 'plain\n', line: 8 },
    ]);
  });

  it('give their links, but not those in code', () => {
    expect(links(page)).toEqual([
      { target: 'one.md#part', line: 2 },
      { target: 'https://example.org', line: 2 },
    ]);
  });

  it('give the anchors of their headings as GitHub makes them', () => {
    expect([...anchors(page)]).toEqual(['a-page-with-marks', 'code-and_under']);
  });
});
