/** Writes the files that are made of others: `npm run generate`. A test compares them. */
import { join } from 'node:path';
import { writeWholeSync } from '../packages/core/src/node';
import { apiReport, programOf } from './lib/api-report';
import { generated } from './lib/generated';
import { root, workspaces } from './lib/workspaces';

const packages = workspaces();
const program = programOf(packages);
const reports = packages.map((workspace) => ({
  path: `packages/${workspace.short}/api.txt`,
  text: apiReport(program, workspace),
}));
for (const { path, text } of [...(await generated()), ...reports]) {
  writeWholeSync(join(root, path), text);
  console.log(`${path}: ${text.length.toLocaleString('en')} characters`);
}
