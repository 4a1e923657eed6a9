import type { Agent, Game } from '@coplay/core';
import { randomAgent } from '@coplay/envs';

/** An agent that, with probability `epsilon` in each step, draws a legal action uniformly instead of its own. */
export function noisy(game: Game, agent: Agent, epsilon: number): Agent {
  const random = randomAgent({ game, id: agent.id });
  return {
    ...agent,
    name: `${agent.name} with noise ${epsilon}`,
    async act(input, state, generator) {
      const answer = await agent.act(input, state, generator);
      const { actions } = await random.act(input, null, generator);
      const own = answer.actions.map((action, row) => (generator.uniform() < epsilon ? actions[row] : action));
      return { ...answer, actions: own };
    },
  };
}
