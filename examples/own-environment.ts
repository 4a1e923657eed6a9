/**
 * A game of your own, checked, watched and learned: `npx tsx --conditions=@coplay/source examples/own-environment.ts`
 *
 * The bar of El Farol (Arthur 1994): every evening each agent goes to the bar or stays at home. Going pays 1 while at
 * most `seats` agents go, and -1 when it's crowded; home pays 0. Everyone sees how many went the evening before.
 */
import { assertGame, type Game } from '@coplay/core';
import { mlp } from '@coplay/models';
import { ppoAgent, selfPlay } from '@coplay/trainers';

const HOME = 0;
const GO = 1;

// Layout of one environment's state.
const EVENING = 0;
const WENT_LAST = 1;
const STATE_SIZE = 2;

function bar(agents: number, seats: number, evenings: number): Game<'int32'> {
  return {
    name: 'bar',
    agents: Array.from({ length: agents }, (_, i) => `agent_${i}`),
    actions: 2,
    actionNames: ['home', 'go'],
    observation: { evening: { shape: [], dtype: 'float32' }, went: { shape: [], dtype: 'float32' } },
    stateType: 'int32',
    stateSize: STATE_SIZE,
    maxSteps: evenings,
    infos: ['crowded'],
    options: { agents, seats, evenings },

    reset(state, offset) {
      state[offset + EVENING] = 0;
      state[offset + WENT_LAST] = 0;
    },

    step(state, offset, actions, actionsOffset, _generator, result, row) {
      let went = 0;
      for (let i = 0; i < agents; i++) if (actions[actionsOffset + i] === GO) went++;
      const isCrowded = went > seats;
      state[offset + EVENING]++;
      state[offset + WENT_LAST] = went;
      const isLast = state[offset + EVENING] === evenings;
      for (let i = 0; i < agents; i++) {
        const goes = actions[actionsOffset + i] === GO;
        result.rewards[row * agents + i] = goes ? (isCrowded ? -1 : 1) : 0;
        result.terminated[row * agents + i] = 0;
        result.truncated[row * agents + i] = isLast ? 1 : 0;
        result.infos['crowded'][row * agents + i] = isCrowded ? 1 : 0;
      }
    },

    legal(_state, _offset, _agent, mask, maskOffset) {
      mask[maskOffset + HOME] = 1;
      mask[maskOffset + GO] = 1;
    },

    observe(state, offset, _agent, out, row) {
      out['evening'][row] = state[offset + EVENING] / evenings;
      out['went'][row] = state[offset + WENT_LAST] / agents;
    },

    isActive: () => true,
    elapsed: (state, offset) => state[offset + EVENING],
  };
}

const game = bar(3, 2, 20);
assertGame(game);

const run = selfPlay({
  game,
  agents: game.agents.map((id) => ppoAgent({ game, id, network: mlp({ hidden: [32] }) })),
  envs: 16,
  seed: 1,
});
await run.train({ envSteps: process.env['COPLAY_QUICK'] ? 2_048 : 60_000 });
const { returnMean, infos } = await run.evaluate({ episodes: 200 });
console.log('Mean return in 20 evenings (two who always go and one who never does earn 20, 20 and 0):');
console.table(returnMean);
console.log(`Crowded evenings of 20: ${infos['crowded']['agent_0'].toFixed(1)}`);
run.dispose();
