/** Writes the files that are made of others: `npm run generate`. A test compares them. */
import { join } from 'node:path';
import { writeWholeSync } from '../packages/core/src/node';
import { generated } from './lib/generated';
import { root } from './lib/workspaces';

for (const { path, text } of await generated()) {
  writeWholeSync(join(root, path), text);
  console.log(`${path}: ${text.length.toLocaleString('en')} characters`);
}
