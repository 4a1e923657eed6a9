/** The files that a transition passes, measured by coverage, are those in docs/architecture.md. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** What else runs in an update, and what it is. */
const LEFT_OUT: Record<string, RegExp> = {
  'checks of values': /core\/src\/(batch|check|errors|shapes|parse|typed-arrays|game-description|observations|metrics)/,
  'checks of calls': /training\/(check-calls|finite-steps|non-finite)|inputs\/input-encoder/,
  'rows, arrays and numbers':
    /core\/src\/(action-spaces|arrays|rows|env-rows|experience|generator|schedules)|minibatches\/row-store/,
  'rules of games': /^envs\//,
  'layers of networks': /^models\/src\/(layers|torso|actor-critic)/,
  'metrics and files of a run':
    /self-play\/(checks|episode-tracker|evaluations|metrics|options|run-files|sinks)|ppo\/metrics/,
  'turns, options, life cycle':
    /one-at-a-time|yield-to-event-loop|ppo\/(normalisation|options|setup)|training\/(annealed|lockstep|network)/,
  'operations on tensors': /^tensor\//,
  'this test': /test\/fixtures/,
};

/** `core/src/rollout.ts` as the page writes it: `core/rollout.ts`, and without the package in trainers. */
const asInPage = (file: string) => file.replace('/src/', '/').replace(/^trainers\//, '');

/** The first column of the page's table, without the tensor package. */
function filesOfPage(): string[] {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/architecture.md'), 'utf8');
  const section = page.split('## One transition')[1].split('\n## ')[0];
  return [...section.matchAll(/^\| `([^`]+\.ts)` \|/gm)].map(([, file]) => file);
}

it('a transition passes 16 files, from the environment to the optimiser', { tags: ['slow'] }, () => {
  const script = join(import.meta.dirname, 'fixtures/walk.ts');
  const printed = execFileSync(process.execPath, ['--conditions=@coplay/source', '--import', 'tsx', script], {
    env: { ...process.env, COPLAY_THREADS: '1' },
    encoding: 'utf8',
  });
  const ran = Object.keys(JSON.parse(printed.trim().split('\n').at(-1)!));
  const walked = ran.filter((file) => !Object.values(LEFT_OUT).some((pattern) => pattern.test(file)));
  expect(walked.map(asInPage).sort()).toEqual(filesOfPage().sort());
  expect(walked.length).toBeLessThanOrEqual(16);
  for (const [name, pattern] of Object.entries(LEFT_OUT)) {
    expect(
      ran.some((file) => pattern.test(file)),
      name,
    ).toBe(true);
  }
});
