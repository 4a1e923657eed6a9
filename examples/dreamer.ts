/**
 * DreamerV3 on CartPole-v1: a world model, 99,109 parameters with all else, and an actor-critic that learns inside of
 * it.
 *
 * Run it: `npx tsx --conditions=@coplay/source examples/dreamer.ts`
 */
import { progress } from '@coplay/diagnostics';
import { cartPole } from '@coplay/envs';
import { dreamerAgent, selfPlay } from '@coplay/trainers';

const isQuick = Boolean(process.env['COPLAY_QUICK']);
const game = cartPole();
const agents = game.agents.map((id) =>
  dreamerAgent({
    ...{ game, id, size: 'nano' },
    ...{ batchSize: 8, sequenceLength: 16, trainRatio: 64 }, // an update replays 128 steps: one update in two steps
    replayLatents: false, // stored states grow old fast at this learning rate
  }),
);
const run = selfPlay({ game, agents, envs: 1, steps: 16, seed: 1, log: [progress()] });
await run.train({ envSteps: isQuick ? 192 : 16_000 });
const { mean } = await run.evaluate({ episodes: 20 });
console.log(`mean return of 20 episodes: ${mean.toFixed(0)} (500 is the most)`);
run.dispose();
