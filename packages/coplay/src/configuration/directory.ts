import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fail } from '@coplay/core';
import { writeFileAtomic } from '@coplay/trainers';
import { checkConfiguration, type RunConfiguration, readJsonFile } from './schema';

/** The configuration that a run was started with, in its directory. */
const FILE = 'coplay.json';

/** Keeps the configuration beside the run's own files. */
export function keepConfiguration(directory: string, configuration: RunConfiguration): Promise<void> {
  return writeFileAtomic(join(directory, FILE), `${JSON.stringify(configuration, null, 2)}\n`);
}

/**
 * The configuration of a run that `coplay train` began.
 *
 * @throws CoplayError for a directory without one
 */
export function configurationIn(directory: string): RunConfiguration {
  const path = join(directory, FILE);
  if (!existsSync(path)) {
    const remedy = existsSync(join(directory, 'config.json'))
      ? 'A script of yours began this run: go on with that script (run.resume()).'
      : 'Give the directory that `coplay train` wrote.';
    fail('coplay', 'the directory of a run that `coplay train` began', `${directory}, without ${FILE}`, remedy);
  }
  return checkConfiguration(path, readJsonFile(path));
}
