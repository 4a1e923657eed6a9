import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { loadCode } from './code';

const folder = mkdtempSync(join(tmpdir(), 'coplay-code-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

it('what runs is what was approved, also where the files change in between', async () => {
  const [file, data] = ['run.ts', 'data.json'].map((name) => join(folder, name));
  const code = "import data from './data.json';\nexport default { data, place: import.meta.filename };";
  writeFileSync(file, code);
  writeFileSync(data, '"first"');
  const loaded = await loadCode(file, (files) => {
    expect(files).toEqual({ [data]: sha256('"first"'), [file]: sha256(code) });
    writeFileSync(file, 'export default "another";');
    writeFileSync(data, '"second"');
  });
  expect(loaded.exported).toEqual({ data: 'first', place: file });
  expect(readdirSync(folder).sort()).toEqual(['data.json', 'run.ts']);
});
