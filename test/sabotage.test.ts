import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { filesUnder, root } from '../scripts/lib/workspaces';
import { CHANGES } from '../scripts/sabotage/changes';

const sources = filesUnder(join(root, 'packages'), '.ts')
  .filter((path) => /[\\/](src|page)[\\/]/.test(path) && !path.endsWith('.test.ts'))
  .map((path) => readFileSync(path, 'utf8'));

it.each(CHANGES)('the text that check:sabotage changes stands once in the sources: $name', ({ find }) => {
  const times = sources.reduce((sum, text) => sum + text.split(find).length - 1, 0);
  expect(times).toBe(1);
});
