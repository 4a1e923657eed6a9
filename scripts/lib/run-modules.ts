/**
 * Imports modules one after another in one process, with a line before and after each, which `resultOf` reads. One that
 * throws doesn't stop the others. `tsx scripts/lib/run-modules.ts FILE...`
 */
import { pathToFileURL } from 'node:url';
import { BEGIN, DONE } from './module-results';

for (const file of process.argv.slice(2)) {
  console.log(`\n${BEGIN}${file}`);
  try {
    await import(pathToFileURL(file).href);
    console.log(`\n${DONE}${file}`);
  } catch (error) {
    console.log(error);
  }
}
