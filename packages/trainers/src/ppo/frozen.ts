import { type Agent, type AgentId, checkOptions, checkTypedArray, fail, show } from '@coplay/core';
import { argmaxRows, sampleCategorical } from '@coplay/tensor';
import { z } from 'zod';
import { checkAct } from '../training/check-calls';
import { checkPpoAgent, type PpoAgent } from './agent';

/** Options of {@link frozen}. */
export interface FrozenOptions {
  /** The seat to play in. Default: the agent's own */
  readonly id?: AgentId;
  /** Whether it takes its most probable action, instead of drawing one. Default false */
  readonly greedy?: boolean;
}

const frozenSchema = z.strictObject({ id: z.string().optional(), greedy: z.boolean().default(false) });

/**
 * The policy of an agent as a co-player that doesn't learn here. It plays with the agent's parameters of the moment: those
 * that it was trained to, or that `agent.learner.restore(saved)` gave it.
 *
 * @throws CoplayError for unknown options, or an id that the game doesn't have
 */
export function frozen(agent: PpoAgent, options: FrozenOptions = {}): Agent<Float32Array> {
  checkPpoAgent('frozen', agent);
  const { id = agent.id, greedy } = checkOptions('frozen', frozenSchema, options);
  const { learner } = agent;
  const { game, net } = learner.setup;
  const seat = game.agents.indexOf(id);
  if (seat < 0)
    fail(
      'frozen: option id',
      `an id of ${game.name}: ${game.agents.join(', ')}`,
      show(id),
      'Take it from game.agents.',
    );
  return {
    id,
    name: `${agent.name} (${greedy ? 'greedy' : 'frozen'})`,
    initialState: (rows) => agent.initialState(rows),
    act: async (input, state, generator) => {
      checkAct(`${agent.name} (${id}).act`, game, input, generator);
      checkTypedArray(`${agent.name} (${id}).act`, 'state', state, 'float32', input.rows * net.stateSize);
      const { logProbs, next } = await learner.ready().policy.act(input, seat, state);
      const actions = greedy
        ? argmaxRows(logProbs, input.rows, net.actions)
        : sampleCategorical(logProbs, input.rows, net.actions, generator);
      return { actions, state: next };
    },
  };
}
