import { type AgentId, type AgentInput, type AgentOutput, type Generator, ndarray } from '@coplay/core';
import { checkAct, checkCount, checkTypedArray } from '@coplay/core/checks';
import type { LearningAgent } from '../training';
import { chooseActions } from '../training/choose-actions';
import { POLICY, SocialInfluenceLearner } from './learner';
import { type SocialInfluenceOptions, socialInfluenceSetup } from './options';

/** An agent that is rewarded for its influence on the others, in addition to the game's rewards. */
export interface SocialInfluenceAgent extends LearningAgent<Float32Array> {
  readonly learner: SocialInfluenceLearner;
}

/**
 * Social influence as intrinsic motivation (Jaques et al. 2019) around PPO: the agent predicts each co-player's next
 * action from its own observation and the present actions of all agents, evaluates these models on its other possible
 * actions, and is rewarded for its influence.
 *
 * @throws CoplayError for unknown options, or an id that the game doesn't have
 */
export function socialInfluenceAgent(options: SocialInfluenceOptions): SocialInfluenceAgent {
  const learner = new SocialInfluenceLearner(socialInfluenceSetup('socialInfluenceAgent', options));
  return new InfluencingAgent(options.id, learner);
}

class InfluencingAgent implements SocialInfluenceAgent {
  readonly name = 'social influence';
  private readonly seat: number;

  constructor(
    readonly id: AgentId,
    readonly learner: SocialInfluenceLearner,
  ) {
    this.seat = learner.setup.game.agents.indexOf(id);
  }

  initialState(rows: number): Float32Array {
    checkCount(`social influence (${this.id}).initialState`, 'rows', rows);
    return new Float32Array(rows * this.learner.ppo.setup.net.stateSize);
  }

  async act(input: AgentInput, state: Float32Array, generator: Generator): Promise<AgentOutput<Float32Array>> {
    const { ppo } = this.learner;
    const { actions: K, stateSize } = ppo.setup.net;
    const where = `social influence (${this.id}).act`;
    checkAct(where, ppo.setup.game, input, generator);
    checkTypedArray(where, 'state', state, 'float32', input.rows * stateSize);
    const { policy: logProbs, entered, next } = await ppo.policy.act(input, this.seat, state);
    const chosen = chooseActions(logProbs, input.rows, K, generator);
    const extras = {
      logProbs: ndarray(chosen.logProbs),
      [POLICY]: ndarray(logProbs.slice(0, input.rows * K), [input.rows, K]),
      ...(stateSize > 0 ? { actorStates: entered } : {}),
    };
    return { actions: chosen.actions, state: next, extras };
  }
}
