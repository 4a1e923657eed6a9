/**
 * PPO in a game of PettingZoo, which runs in processes of Python:
 * `PYTHON=.venv/bin/python npx tsx --conditions=@coplay/source examples/python-game.ts`
 *
 * Needs `python3 -m pip install numpy pettingzoo mpe2`. Three agents share one set of weights and learn to cover three
 * landmarks. docs/python-games.md explains the options.
 */
import { evaluate } from '@coplay/core';
import { progress } from '@coplay/diagnostics';
import { randomAgent } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { type PythonGame, pettingZoo } from '@coplay/python';
import { frozen, selfPlay, sharedPpoAgents } from '@coplay/trainers';

const isQuick = process.env['COPLAY_QUICK'] !== undefined;
let game: PythonGame;
try {
  game = pettingZoo('mpe2.simple_spread_v3', { envs: isQuick ? 4 : 16 });
} catch (error) {
  // Where all examples are run, Python may lack the modules.
  if (!isQuick) throw error;
  console.log(`skipped: ${(error as Error).message}`);
  process.exit();
}

const agents = sharedPpoAgents({
  game,
  network: mlp({ hidden: [64, 64] }),
  inputs: { agentId: true },
  ppo: { learningRate: 1e-3, entropyWeight: 0.01 },
});
const run = selfPlay({ game, agents, steps: 100, seed: 1, log: [progress()] });
await run.train({ envSteps: isQuick ? 800 : 200_000 });

const episodes = isQuick ? 4 : 100;
const chance = await evaluate(
  game,
  game.agents.map((id) => randomAgent({ game, id })),
  { episodes },
);
const trained = await evaluate(
  game,
  agents.map((agent) => frozen(agent, { greedy: true })),
  { episodes },
);
console.log(`Mean return per agent: ${trained.mean.toFixed(1)}, by random actions ${chance.mean.toFixed(1)}`);
run.dispose();
game.close();
