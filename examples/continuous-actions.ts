/**
 * Continuous actions: PPO swings up the pendulum of Gymnasium (Pendulum-v1), with torques from -1 to 1 and running
 * normalisation of observations and rewards. The last episode is recorded, and becomes a page.
 *
 * Run it: `npx tsx --conditions=@coplay/source examples/continuous-actions.ts`, then open
 * runs/continuous-actions/replay.html.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { evaluate } from '@coplay/core';
import { progress } from '@coplay/diagnostics';
import { pendulum, randomAgent, recordEpisode, replayEpisode, rescaleActions } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { frozen, ppoAgent, selfPlay } from '@coplay/trainers';
import { replayPage } from '@coplay/viewer';

const isQuick = Boolean(process.env['COPLAY_QUICK']);
const directory = 'runs/continuous-actions';
const game = rescaleActions(pendulum()); // boxes from -1 to 1, in place of -2 to 2 N m

const agent = ppoAgent({
  game,
  id: 'agent_0',
  network: mlp({ hidden: [64, 64] }),
  continuous: { initialStd: 0.5 },
  ppo: {
    gamma: 0.9,
    learningRate: { from: 1e-3, to: 0 },
    entropyWeight: 0,
    valueClip: false,
    epochs: 10,
    minibatchSize: 64,
    // The statistics belong to the agent: evaluations, checkpoints and ONNX files have them. This game has numbers of
    // about unit size, and is learned without them, too.
    normaliseObservations: true,
    normaliseRewards: true,
  },
});
const run = selfPlay({ game, agents: [agent], envs: 4, steps: 512, seed: 1, log: [progress()] });
await run.train({ envSteps: isQuick ? 4_096 : 100_000 });

const players = { random: randomAgent({ game, id: 'agent_0' }), PPO: frozen(agent, { greedy: true }) };
for (const [name, player] of Object.entries(players)) {
  const { mean } = await evaluate(game, [player], { episodes: isQuick ? 5 : 100, seed: 1 });
  console.log(`${name}: mean return ${mean.toFixed(0)}`); // in the unit of the game: at best about -150
}

const recording = await recordEpisode(game, [players.PPO], { seed: 2, observations: true });
replayEpisode(game, recording); // the same torques lead to the same states, or it throws
mkdirSync(directory, { recursive: true });
writeFileSync(join(directory, 'replay.html'), await replayPage(recording, { title: 'PPO swings up a pendulum' }));
console.log(`${directory}/replay.html is written.`);
run.dispose();
