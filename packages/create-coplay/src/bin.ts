#!/usr/bin/env node
import { relative } from 'node:path';
import { CoplayError } from '@coplay/core';
import { createProject } from './project';

const USAGE = 'npm create coplay DIRECTORY   begins a project in a new folder: a game, a training script, tests';

const [directory, ...more] = process.argv.slice(2);
if (directory === undefined || directory.startsWith('-') || more.length > 0) {
  const isHelp = directory === '--help' || directory === '-h';
  (isHelp ? process.stdout : process.stderr).write(`${USAGE}\n`);
  process.exitCode = isHelp ? 0 : 2;
} else {
  try {
    for (const path of createProject({ directory })) process.stdout.write(`${relative('.', path)}\n`);
    process.stdout.write(
      `\nNow:\n  cd ${directory}\n  npm install\n  npm start    # trains agents in the game\n  npm test\n`,
    );
  } catch (error) {
    if (!(error instanceof CoplayError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exitCode = 1;
  }
}
