/**
 * The main job: four agents, each with a network of its own, learn the Markov Stag Hunt by PPO in self-play.
 *
 *   npm start                                    train, evaluate, replay, draw
 *   npm start -- --steps 300000 --seed 2         longer, with another seed
 *   npm start -- --resume runs/stag-hunt-1       go on after Ctrl-C
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { CoplayError, fail, type Game } from '@coplay/core';
import {
  csv,
  curveOf,
  jsonLines,
  learningCurves,
  progress,
  readLog,
  tensorboard,
  textTable,
  writeFigure,
} from '@coplay/diagnostics';
import { type Curve, smooth } from '@coplay/diagnostics/statistics';
import { recordEpisode, renderReplay, stagHunt } from '@coplay/envs';
import { executorInfo } from '@coplay/tensor';
import { interruptSignal, ppoAgent, ppoPresets, type SelfPlay, selfPlay } from '@coplay/trainers';

const isQuick = process.env['COPLAY_QUICK'] === '1';

await main().catch((error: unknown) => {
  // A wrong flag or option is the caller's to mend: its message says how, a stack trace doesn't.
  console.error(error instanceof CoplayError || isFlagError(error) ? (error as Error).message : error);
  process.exitCode = 1;
});

async function main(): Promise<void> {
  const { envSteps, seed, resumed } = readFlags();
  const directory = resumed ?? freshDirectory('runs/stag-hunt');
  const game = stagHunt({ size: 4, agents: 4, stags: 1, hares: 4 });
  const run = selfPlay({
    game,
    agents: game.agents.map((id) => ppoAgent({ game, id, ppo: ppoPresets.stagHunt })),
    envs: 32,
    steps: 32,
    seed,
    directory,
    checkpointEvery: 5, // a few seconds are lost to a kill at most
    log: [progress(), jsonLines(directory), csv(directory), tensorboard(directory)],
  });
  console.log(`Compiled functions run on ${(await executorInfo()).reason}.\nFiles go to ${directory}/`);
  if (resumed !== undefined && !(await run.resume())) {
    console.log(`There is no checkpoint in ${directory} yet: this run begins at step 0.`);
  }

  const signal = interruptSignal(() => console.log('\nStopping after this update (once more to stop at once) ...'));
  await run.train({ envSteps, signal });
  if (signal.aborted && run.envSteps < envSteps) {
    console.log(`Stopped after ${run.envSteps} of ${envSteps} steps; a checkpoint is written. To go on:`);
    console.log(`  npm start -- --resume ${directory} --steps ${envSteps}`);
    process.exitCode = 130;
  } else {
    await showReplay(run, game);
    await showEvaluation(run, game);
    if (run.episodes > 0) await drawCurves(directory, game);
  }
  run.dispose();
}

/** The command line. A resumed run keeps the seed that it began with. */
function readFlags(): { envSteps: number; seed: number; resumed: string | undefined } {
  const { values } = parseArgs({
    options: {
      steps: { type: 'string', default: isQuick ? '2048' : '150000' },
      seed: { type: 'string' },
      resume: { type: 'string' },
    },
  });
  const resumed = values.resume;
  if (resumed !== undefined && !existsSync(join(resumed, 'config.json'))) {
    fail('--resume', 'the directory of a run', resumed, 'Start anew: npm start');
  }
  const began = resumed === undefined ? 1 : JSON.parse(readFileSync(join(resumed, 'config.json'), 'utf8')).seed;
  const seed = values.seed === undefined ? began : wholeNumber('--seed', values.seed);
  return { envSteps: wholeNumber('--steps', values.steps), seed, resumed };
}

function wholeNumber(flag: string, text: string): number {
  return /^\d+$/.test(text) ? Number(text) : fail(flag, 'a whole number', text, `Write it in digits: ${flag} 100000`);
}

function isFlagError(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}

/** The returns of all agents now, compared with the returns of four simple rules. */
async function showEvaluation(trained: SelfPlay, game: Game): Promise<void> {
  const { returnMean, returnStandardError, infos, mean, lengthMean, episodes } = await trained.evaluate({
    episodes: 1000,
  });
  const rows = game.agents.map((id) => ({
    agent: id,
    return: returnMean[id],
    '+-': returnStandardError[id],
    stags: infos['caught_stag'][id],
    hares: infos['caught_hare'][id],
  }));
  console.log(`\nEvaluation: ${episodes} new episodes of ${lengthMean.toFixed(1)} steps on average\n`);
  console.log(textTable([...rows, { agent: 'mean', return: mean }]));
  console.log('For comparison: everyone takes a hare 0.98, four NearestStag 2.85, the best there is 3.00\n');
}

/** One episode, step by step. */
async function showReplay(trained: SelfPlay, game: Game): Promise<void> {
  const recording = await recordEpisode(game, trained.agents, { seed: 1 });
  console.log(renderReplay(recording, { color: process.stdout.isTTY }));
}

/** The learning curve of each agent, as SVG and PNG. */
async function drawCurves(directory: string, game: Game): Promise<void> {
  const entries = readLog(`${directory}/log.jsonl`);
  const curves: Record<string, Curve[]> = {};
  for (const id of game.agents) curves[id] = [smooth(curveOf(entries, `episode/return/${id}`), 9)];
  const references = { 'four NearestStag': 2.85, 'hares only': 0.98 };
  const svg = await learningCurves(curves, { title: 'Markov Stag Hunt 4x4: mean return of each agent', references });
  await writeFigure(`${directory}/learning-curve`, svg);
  console.log(`\nLearning curve: ${directory}/learning-curve.svg and .png`);
  console.log(`TensorBoard: tensorboard --logdir ${directory}`);
}

/** The first of `path-1`, `path-2`, ... that doesn't exist yet. */
function freshDirectory(path: string): string {
  mkdirSync(dirname(path), { recursive: true });
  for (let number = 1; ; number++) {
    try {
      mkdirSync(`${path}-${number}`); // throws if another run has it, even one that starts in this very moment
      return `${path}-${number}`;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
}
