/**
 * A study of your own: the same training with several seeds in two variants, compared by means and intervals. Here:
 * does a bonus for entropy lead agents of PPO past the hares of the stag hunt?
 *
 * Running this file prints a table and draws template-name.svg; the number is that of environment steps of each run:
 *
 *   npx tsx template-name.ts 20000
 */
import type { LogEntry } from '@coplay/core';
import { curveOf, learningCurves, textTable, writeFigure } from '@coplay/diagnostics';
import { bootstrap, type Curve, smooth } from '@coplay/diagnostics/statistics';
import { matrixGame } from '@coplay/envs';
import { ppoAgent, selfPlay } from '@coplay/trainers';

const envSteps = Number(process.argv[2] ?? 20_000);
const seeds = [1, 2, 3, 4, 5];
const variants = { 'no bonus': 0, 'entropy bonus': 0.2 };
const game = matrixGame({ kind: 'stag-hunt', maxSteps: 10 });

/** Trains one run. @returns the mean return of an agent afterwards, and the learning curve */
async function train(entropyWeight: number, seed: number): Promise<{ score: number; curve: Curve }> {
  const entries: LogEntry[] = [];
  const keep = { start: () => {}, write: (entry: LogEntry) => void entries.push(entry), close: () => {} };
  const agents = game.agents.map((id) => ppoAgent({ game, id, ppo: { entropyWeight } }));
  const run = selfPlay({ game, agents, envs: 16, steps: 20, seed, log: [keep] });
  await run.train({ envSteps });
  const { mean } = await run.evaluate({ episodes: 200 });
  run.dispose();
  return { score: mean, curve: smooth(curveOf(entries, 'episode/return_mean'), 5) };
}

const rows = [];
const curves: Record<string, Curve[]> = {};
for (const [variant, entropyWeight] of Object.entries(variants)) {
  const results = [];
  for (const seed of seeds) results.push(await train(entropyWeight, seed));
  const { value, lower, upper } = bootstrap(results.map(({ score }) => score)); // a 95 % interval over seeds
  rows.push({ variant, seeds: seeds.length, return: value, lower, upper });
  curves[variant] = results.map(({ curve }) => curve);
}
console.log(textTable(rows)); // all stags: 40, all hares: 20
await writeFigure('template-name', await learningCurves(curves, { title: 'template-name: mean return of an agent' }));
