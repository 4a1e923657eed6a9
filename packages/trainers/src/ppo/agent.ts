import {
  type Agent,
  type AgentId,
  type AgentInput,
  type AgentOutput,
  checkGame,
  checkOptions,
  fail,
  type Game,
  type Generator,
  type NamedArrays,
  ndarray,
  show,
} from '@coplay/core';
import { checkAct, checkCount, checkRecord, checkTypedArray, sharedAmongCopies } from '@coplay/core/checks';
import { argmaxRows, sampleCategorical } from '@coplay/tensor/distributions';
import { z } from 'zod';
import type { LearningAgent } from '../training';
import { chooseActions } from '../training/choose-actions';
import { checkIds } from '../training/ids';
import { unchecked } from '../training/option-names';
import { ppoInsight } from './insight';
import { PpoLearner } from './learner';
import type { PpoOptions } from './options';
import { type PpoNetworkOptions, ppoSetup } from './setup';

/** Options of {@link ppoAgent}. */
export interface PpoAgentOptions extends PpoNetworkOptions {
  /** The rules of its game: they determine its observations and actions. */
  readonly game: Game;
  /** One of `game.agents`. */
  readonly id: AgentId;
  /** The algorithm's own numbers; `ppoPresets` has sets of them. Default: the numbers of {@link PpoOptions} */
  readonly ppo?: PpoOptions;
}

/** An agent with a policy that PPO trains. */
export interface PpoAgent extends LearningAgent<Float32Array> {
  readonly learner: PpoLearner;
}

/**
 * An agent with weights of its own (independent PPO).
 *
 * @throws CoplayError for unknown options, or an id that the game doesn't have
 */
export function ppoAgent(options: PpoAgentOptions): PpoAgent {
  checkRecord('ppoAgent', 'options', options);
  const { game, id, ppo = {}, ...networks } = options;
  const learner = new PpoLearner(ppoSetup('ppoAgent', game, [id], networks, ppo, { id: unchecked }));
  return new NetworkAgent(id, learner);
}

/** Options of {@link sharedPpoAgents}. */
export interface SharedPpoOptions extends PpoNetworkOptions {
  /** The rules of its game: they determine its observations and actions. */
  readonly game: Game;
  /** Who shares the weights. Default: all agents of the game */
  readonly ids?: readonly AgentId[];
  /** The algorithm's own numbers. */
  readonly ppo?: PpoOptions;
}

/**
 * Agents that share one set of weights and learn from all their trajectories together. `inputs: { agentId: true }`
 * lets them differ.
 */
export function sharedPpoAgents(options: SharedPpoOptions): PpoAgent[] {
  checkRecord('sharedPpoAgents', 'options', options);
  const { game, ids = game?.agents ?? [], ppo = {}, ...networks } = options;
  checkGame('sharedPpoAgents: option game', game);
  checkIds('sharedPpoAgents', game, ids);
  const learner = new PpoLearner(ppoSetup('sharedPpoAgents', game, ids, networks, ppo, { ids: unchecked }));
  return ids.map((id) => new NetworkAgent(id, learner));
}

/** Acts by the policy of a learner. */
class NetworkAgent implements PpoAgent {
  readonly name = 'PPO';
  private readonly seat: number;

  constructor(
    readonly id: AgentId,
    readonly learner: PpoLearner,
  ) {
    this.seat = learner.setup.game.agents.indexOf(id);
  }

  initialState(rows: number): Float32Array {
    checkCount(`PPO (${this.id}).initialState`, 'rows', rows);
    return new Float32Array(rows * this.learner.setup.net.stateSize);
  }

  async act(input: AgentInput, state: Float32Array, generator: Generator): Promise<AgentOutput<Float32Array>> {
    const { game, net } = this.learner.setup;
    const { actions: actionCount, stateSize } = net;
    const where = `PPO (${this.id}).act`;
    checkAct(where, game, input, generator);
    checkTypedArray(where, 'state', state, 'float32', input.rows * stateSize);
    const { logProbs, entered, next } = await this.learner.policy.act(input, this.seat, state);
    const chosen = chooseActions(logProbs, input.rows, actionCount, generator);
    const extras = { logProbs: ndarray(chosen.logProbs), ...(stateSize > 0 ? { actorStates: entered } : {}) };
    return { actions: chosen.actions, state: next, extras };
  }

  insight(input: AgentInput, state: Float32Array): Promise<NamedArrays> {
    return ppoInsight(this.learner, this.id, input, state, {});
  }
}

sharedAmongCopies(NetworkAgent, '@coplay/trainers/NetworkAgent@0.1');

/** Refuses an agent without a policy that PPO trains. */
function checkPpoAgent(where: string, agent: PpoAgent): void {
  if (agent?.learner instanceof PpoLearner) return;
  const got = agent?.name === undefined ? show(agent) : `${show(agent.id)}, ${show(agent.name)}`;
  const isHop = agent?.name === 'HOP';
  const remedy = isHop
    ? 'An agent that searches plays without learning as planner(agent).'
    : 'Give an agent that learns by PPO.';
  fail(`${where}: agent`, 'an agent of ppoAgent() or sharedPpoAgents()', got, remedy);
}

/** Options of {@link frozen}. */
export interface FrozenOptions {
  /** The seat to play in. Default: the agent's own */
  readonly id?: AgentId;
  /** Whether it takes its most probable action, instead of drawing one. Default false */
  readonly greedy?: boolean;
}

const frozenSchema = z.strictObject({ id: z.string().optional(), greedy: z.boolean().default(false) });

/**
 * The policy of an agent as a co-player that doesn't learn here. It plays with the agent's parameters of the moment:
 * trained ones, or restored ones of `agent.learner.restore(saved)`.
 *
 * @throws CoplayError for unknown options, or an id that the game doesn't have
 */
export function frozen(agent: PpoAgent, options: FrozenOptions = {}): Agent<Float32Array> {
  checkPpoAgent('frozen', agent);
  const { id = agent.id, greedy } = checkOptions('frozen', frozenSchema, options);
  const { learner } = agent;
  const { game, net } = learner.setup;
  const seat = game.agents.indexOf(id);
  if (seat < 0) {
    const expected = `an id of ${game.name}: ${game.agents.join(', ')}`;
    fail('frozen: option id', expected, show(id), 'Take it from game.agents.');
  }
  return {
    id,
    name: `${agent.name} (${greedy ? 'greedy' : 'frozen'})`,
    initialState: (rows) => agent.initialState(rows),
    act: async (input, state, generator) => {
      checkAct(`${agent.name} (${id}).act`, game, input, generator);
      checkTypedArray(`${agent.name} (${id}).act`, 'state', state, 'float32', input.rows * net.stateSize);
      const { logProbs, next } = await learner.policy.act(input, seat, state);
      const actions = greedy
        ? argmaxRows(logProbs, input.rows, net.actions)
        : sampleCategorical(logProbs, input.rows, net.actions, generator);
      return { actions, state: next };
    },
  };
}
