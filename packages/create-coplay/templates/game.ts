/**
 * A game of your own. Agents fish in one lake: what they leave there grows again, and what all take is gone.
 *
 * Running this file checks the rules and trains agents of PPO in the game; the number is that of environment steps:
 *
 *   npx tsx template-name.ts 60000
 */
import { pathToFileURL } from 'node:url';
import { assertGame, type Game } from '@coplay/core';
import { progress } from '@coplay/diagnostics';
import { ppoAgent, selfPlay } from '@coplay/trainers';

const MOST_FISH = 20;
const GROWTH = 1.5;

// The state of one game is a few numbers in a row.
const DAY = 0;
const FISH = 1;
const STATE_SIZE = 2;

/** Makes the game. Options that are numbers or texts make it easy to try variants. */
export function createTemplateName({ agents = 2, days = 10 } = {}): Game<'float32'> {
  return {
    name: 'template-name',
    agents: Array.from({ length: agents }, (_, i) => `agent_${i}`),
    actions: 3,
    actionNames: ['rest', 'fish a little', 'fish a lot'], // they take 0, 1 and 2 times the number of the action
    observation: { fish: { shape: [], dtype: 'float32' }, day: { shape: [], dtype: 'float32' } },
    stateType: 'float32',
    stateSize: STATE_SIZE,
    maxSteps: days,
    infos: ['taken'],
    options: { agents, days },

    /** The first state. `state` holds many games; this one begins at `offset`. */
    reset(state, offset) {
      state[offset + DAY] = 0;
      state[offset + FISH] = MOST_FISH / 2;
    },

    /** One step of all agents at once; rewards and ends go to row `row` of `result`, [E, A] in all. */
    step(state, offset, actions, actionsOffset, _generator, result, row) {
      let wanted = 0;
      for (let i = 0; i < agents; i++) wanted += 2 * actions[actionsOffset + i];
      const share = wanted > 0 ? Math.min(1, state[offset + FISH] / wanted) : 0;
      state[offset + DAY]++;
      state[offset + FISH] = Math.min(MOST_FISH, GROWTH * (state[offset + FISH] - share * wanted));
      const isLastDay = state[offset + DAY] >= days;
      for (let i = 0; i < agents; i++) {
        const at = row * agents + i;
        const taken = share * 2 * actions[actionsOffset + i];
        result.rewards[at] = taken;
        result.infos['taken'][at] = taken;
        result.terminated[at] = 0;
        result.truncated[at] = isLastDay ? 1 : 0; // a time limit, not an end by the rules
      }
    },

    /** 1 for each action that an agent may take. */
    legal(_state, _offset, _agent, mask, maskOffset) {
      mask.fill(1, maskOffset, maskOffset + 3);
    },

    /** What an agent sees, as numbers of about -1 to 1. */
    observe(state, offset, _agent, out, row) {
      out['fish'][row] = state[offset + FISH] / MOST_FISH;
      out['day'][row] = state[offset + DAY] / days;
    },

    isActive: () => true, // agents don't leave before the end
    elapsed: (state, offset) => state[offset + DAY],
  };
}

// Only where this file itself is run, not where another one imports it.
if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const game = createTemplateName();
  assertGame(game);
  const agents = game.agents.map((id) => ppoAgent({ game, id }));
  const run = selfPlay({ game, agents, envs: 16, seed: 1, log: [progress()] });
  await run.train({ envSteps: Number(process.argv[2] ?? 60_000) });
  const { byAgent } = await run.evaluate({ episodes: 200 });
  console.table(byAgent);
  run.dispose();
}
