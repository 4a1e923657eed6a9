/** Writes the files that are made of others: `npm run generate`. A test compares them. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generated } from './lib/generated';
import { root } from './lib/workspaces';

for (const { path, text } of await generated()) {
  writeFileSync(join(root, path), text);
  console.log(`${path}: ${text.length.toLocaleString('en')} characters`);
}
