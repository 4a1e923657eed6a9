/**
 * An agent of your own, which needs no training. It plays the stag hunt as a game of pay-offs: it forgives its
 * co-player one hare, and hunts hares itself after two in a row.
 *
 * Running this file trains an agent of PPO next to it; the number is that of environment steps:
 *
 *   npx tsx template-name.ts 40000
 */
import { pathToFileURL } from 'node:url';
import type { Agent, AgentId, Game } from '@coplay/core';
import { progress } from '@coplay/diagnostics';
import { matrixGame } from '@coplay/envs';
import { ppoAgent, selfPlay } from '@coplay/trainers';

const STAG = 0;
const HARE = 1;

/**
 * Makes the agent for a seat. It acts in many games at once, one for each row; its memory is a number for each row, the
 * hares in a row of the co-player.
 */
export function createTemplateName({ game, id }: { readonly game: Game; readonly id: AgentId }): Agent<Int32Array> {
  const seats = game.agents.length;
  const other = game.agents.findIndex((one) => one !== id);
  return {
    id,
    name: 'TemplateName',
    initialState: (rows) => new Int32Array(rows), // [B]
    act({ rows, isFirst, previousActions }, before) {
      const hares = Int32Array.from({ length: rows }, (_, row) => {
        if (isFirst[row] === 1) return 0; // a new game: the memory begins anew
        return previousActions[row * seats + other] === HARE ? before[row] + 1 : 0;
      });
      return { actions: hares.map((count) => (count >= 2 ? HARE : STAG)), state: hares };
    },
  };
}

// Only where this file itself is run, not where another one imports it.
if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const game = matrixGame({ kind: 'stag-hunt', maxSteps: 10 });
  const [learner, other] = game.agents;
  const agents = [ppoAgent({ game, id: learner }), createTemplateName({ game, id: other })];
  const run = selfPlay({ game, agents, envs: 16, seed: 1, log: [progress()] });
  await run.train({ envSteps: Number(process.argv[2] ?? 40_000) });
  const { byAgent } = await run.evaluate({ episodes: 200 });
  console.table(byAgent); // both hunting stags earn 40 in ten rounds, both hunting hares 20
  run.dispose();
}
