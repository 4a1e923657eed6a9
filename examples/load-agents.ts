/**
 * Trained agents from a run directory: `npx tsx --conditions=@coplay/source examples/load-agents.ts [runs/NAME]`
 *
 * Without a directory it trains a run first. The agents play at once; then one of them plays in another seat, and one
 * goes on learning among rules that it hasn't met.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { evaluate, type Game } from '@coplay/core';
import { progress, textTable } from '@coplay/diagnostics';
import { nearestHare, stagHunt } from '@coplay/envs';
import { loadAgents, loadRun, ppoAgent, ppoPresets, selfPlay } from '@coplay/trainers';

const isQuick = process.env['COPLAY_QUICK'] === '1';
const directory = process.argv[2] ?? (await train());

// Three lines: load, play, see.
const { game, agents, checkpoint, dispose } = await loadRun(directory);
const { byAgent } = await evaluate(game, agents, { episodes: isQuick ? 20 : 500 });
console.log(textTable(Object.entries(byAgent).map(([agent, row]) => ({ agent, ...row }))));
console.log(`${game.name} after ${checkpoint.step} steps, from ${checkpoint.path}`);

// The first agent's policy in every seat.
const [first, ...others] = game.agents;
const copies = await loadAgents(directory, { seats: Object.fromEntries(game.agents.map((id) => [id, first])) });
const { mean } = await evaluate(game, copies, { episodes: isQuick ? 20 : 500 });
console.log(`Copies of ${first} in all seats: a mean return of ${mean.toFixed(3)}`);

// The first agent goes on learning, among hare hunters.
const learning = await loadAgents(directory, { seats: { [first]: first }, learn: true });
const run = selfPlay({ game, agents: [...learning, ...hares(game)], envs: 32, seed: 2, log: [progress()] });
await run.train({ envSteps: isQuick ? 1_024 : 30_000 });
console.log(`Among hare hunters: ${(await run.evaluate({ episodes: 100 })).returnMean[first].toFixed(3)}`);
run.dispose();
dispose();

function hares(hunt: Game) {
  return others.map((id) => nearestHare({ game: hunt, id }));
}

/** A short run to load. @returns its directory */
async function train(): Promise<string> {
  const hunt = stagHunt({ size: 4, agents: 4, stags: 1, hares: 4 });
  const place = join(mkdtempSync(join(tmpdir(), 'runs-')), 'stag-hunt');
  const short = selfPlay({
    game: hunt,
    agents: hunt.agents.map((id) => ppoAgent({ game: hunt, id, ppo: ppoPresets.stagHunt })),
    envs: 32,
    seed: 1,
    directory: place,
    log: [progress()],
  });
  await short.train({ envSteps: isQuick ? 1_024 : 60_000 });
  short.dispose();
  return place;
}
