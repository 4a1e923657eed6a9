/**
 * A configuration for the command line that no JSON could hold: a game that agents see a part of, and in one seat an
 * agent of your own. Parts with a name are written as in JSON.
 *
 * Train it: `npm run coplay -- train examples/train.config.ts`, then
 * `npm run coplay -- record runs/train-config --page runs/train-config/replay.html`.
 */
import type { Agent, AgentId, Game } from '@coplay/core';
import { limitedView, stagHunt } from '@coplay/envs';
import { defineConfig } from 'coplay';

// biome-ignore lint/style/noDefaultExport: the command line reads it
export default defineConfig({
  game: limitedView(stagHunt({ size: 4, agents: 3, stags: 1, hares: 3 }), 2),
  agents: { kind: 'ppo', preset: 'stagHunt', network: { kind: 'mlp', hidden: [64, 64] } },
  seats: { agent_2: ({ game, ids }) => ids.map((id) => creatureOfHabit(game, id)) },
  envSteps: 60_000,
  directory: 'runs/train-config',
});

/** Repeats its previous action while that is legal, and otherwise takes the first legal one. */
function creatureOfHabit(game: Game, id: AgentId): Agent<null> {
  const K = game.actions;
  const seat = game.agents.indexOf(id);
  return {
    id,
    name: 'creature of habit',
    initialState: () => null,
    act({ rows, masks, previousActions }, state) {
      const actions = new Int32Array(rows);
      for (let row = 0; row < rows; row++) {
        const before = previousActions[row * game.agents.length + seat]; // -1 in the first step
        const isLegal = (action: number) => masks[row * K + action] === 1;
        actions[row] = before >= 0 && isLegal(before) ? before : masks.subarray(row * K, (row + 1) * K).indexOf(1);
      }
      return { actions, state };
    },
  };
}
