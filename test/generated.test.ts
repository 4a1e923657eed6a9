import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { generated } from '../scripts/lib/generated';
import { root } from '../scripts/lib/workspaces';

it('generated files are what `npm run generate` makes now', async () => {
  const all = await generated();
  expect(all.length).toBeGreaterThanOrEqual(6);
  for (const { path, text } of all) expect(readFileSync(join(root, path), 'utf8') === text, path).toBe(true);
});
