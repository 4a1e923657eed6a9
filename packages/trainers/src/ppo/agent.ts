import {
  type ActionSpaces,
  type ActionsOf,
  type Agent,
  type AgentId,
  type AgentInput,
  type AgentOutput,
  type AnyGame,
  checkGame,
  checkOptions,
  type DType,
  fail,
  type Game,
  type Generator,
  type NamedArrays,
  type NDArray,
  ndarray,
  show,
} from '@coplay/core';
import { actionLayout } from '@coplay/core/arrays';
import { checkAct, checkCount, checkRecord, checkTypedArray, sharedAmongCopies } from '@coplay/core/checks';
import { z } from 'zod';
import type { LearningAgent } from '../training';
import { checkIds } from '../training/ids';
import { unchecked } from '../training/option-names';
import { ppoInsight } from './insight';
import { PpoLearner } from './learner';
import type { PpoOptions } from './options';
import { type PpoNetworkOptions, ppoSetup } from './setup';

/** Options of {@link ppoAgent}. */
export interface PpoAgentOptions<Spaces extends ActionSpaces = number> extends PpoNetworkOptions {
  /** The rules of its game: they determine its observations and actions. */
  readonly game: Game<DType, Spaces>;
  /** One of `game.agents`. */
  readonly id: AgentId;
  /** The algorithm's own numbers; `ppoPresets` has sets of them. Default: the numbers of {@link PpoOptions} */
  readonly ppo?: PpoOptions;
}

/** An agent with a policy that PPO trains. */
export interface PpoAgent<Spaces extends ActionSpaces = number> extends LearningAgent<Float32Array, Spaces> {
  readonly learner: PpoLearner;
}

/**
 * An agent with weights of its own (independent PPO).
 *
 * @throws CoplayError for unknown options, or an id that the game doesn't have
 */
export function ppoAgent<Spaces extends ActionSpaces>(options: PpoAgentOptions<Spaces>): PpoAgent<Spaces> {
  checkRecord('ppoAgent', 'options', options);
  const { game, id, ppo = {}, ...networks } = options;
  const learner = new PpoLearner(ppoSetup('ppoAgent', game as AnyGame, [id], networks, ppo, { id: unchecked }, 'any'));
  return new NetworkAgent(id, learner);
}

/** Options of {@link sharedPpoAgents}. */
export interface SharedPpoOptions<Spaces extends ActionSpaces = number> extends PpoNetworkOptions {
  /** The rules of its game: they determine its observations and actions. */
  readonly game: Game<DType, Spaces>;
  /** Who shares the weights. Default: all agents of the game */
  readonly ids?: readonly AgentId[];
  /** The algorithm's own numbers. */
  readonly ppo?: PpoOptions;
}

/**
 * Agents that share one set of weights and learn from all their trajectories together. `inputs: { agentId: true }`
 * lets them differ.
 */
export function sharedPpoAgents<Spaces extends ActionSpaces>(options: SharedPpoOptions<Spaces>): PpoAgent<Spaces>[] {
  checkRecord('sharedPpoAgents', 'options', options);
  const { game, ids = game?.agents ?? [], ppo = {}, ...networks } = options;
  checkGame('sharedPpoAgents: option game', game, 'any', 'play');
  const any = game as AnyGame;
  checkIds('sharedPpoAgents', any, ids);
  const learner = new PpoLearner(ppoSetup('sharedPpoAgents', any, ids, networks, ppo, { ids: unchecked }, 'any'));
  return ids.map((id) => new NetworkAgent(id, learner));
}

/** Acts by the policy of a learner. */
class NetworkAgent<Spaces extends ActionSpaces> implements PpoAgent<Spaces> {
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

  async act(
    input: AgentInput<Spaces>,
    state: Float32Array,
    generator: Generator,
  ): Promise<AgentOutput<Float32Array, Spaces>> {
    const { game, net, distribution } = this.learner.setup;
    const { stateSize } = net;
    const where = `PPO (${this.id}).act`;
    checkAct(where, game, input, generator, this.seat);
    checkTypedArray(where, 'state', state, 'float32', input.rows * stateSize);
    const { policy, entered, next } = await this.learner.policy.act(input, this.seat, state);
    const { actions, logProbs, raw } = distribution.draw(policy, input.rows, generator);
    const extras = {
      logProbs: ndarray(logProbs),
      ...(raw && { rawActions: widened(raw, input.rows, actionLayout(game).width) }),
      ...(stateSize > 0 && { actorStates: entered }),
    };
    return { actions: actions as ActionsOf<Spaces>, state: next, extras };
  }

  insight(input: AgentInput<Spaces>, state: Float32Array): Promise<NamedArrays> {
    return ppoInsight(this.learner, this.id, input, state, {});
  }
}

/** [B, w] as [B, W], the width of the game's widest action: agents' extras have the same shape. */
function widened(raw: Float32Array, rows: number, width: number): NDArray {
  const w = raw.length / rows;
  if (w === width) return ndarray(raw, [rows, width]);
  const wide = new Float32Array(rows * width);
  for (let row = 0; row < rows; row++) wide.set(raw.subarray(row * w, (row + 1) * w), row * width);
  return ndarray(wide, [rows, width]);
}

sharedAmongCopies(NetworkAgent, '@coplay/trainers/NetworkAgent@0.1');

/** Refuses an agent without a policy that PPO trains. */
function checkPpoAgent(where: string, agent: PpoAgent<ActionSpaces>): void {
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
  /** Whether it takes its most probable action (of a box the mean), instead of drawing one. Default false */
  readonly greedy?: boolean;
}

const frozenSchema = z.strictObject({ id: z.string().optional(), greedy: z.boolean().default(false) });

/**
 * The policy of an agent as a co-player that doesn't learn here. It plays with the agent's parameters of the moment:
 * trained ones, or restored ones of `agent.learner.restore(saved)`.
 *
 * @throws CoplayError for unknown options, or an id that the game doesn't have
 */
export function frozen<Spaces extends ActionSpaces>(
  agent: PpoAgent<Spaces>,
  options: FrozenOptions = {},
): Agent<Float32Array, Spaces> {
  checkPpoAgent('frozen', agent as PpoAgent<ActionSpaces>);
  const { id = agent.id, greedy } = checkOptions('frozen', frozenSchema, options);
  const { learner } = agent;
  const { game, net, distribution } = learner.setup;
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
      checkAct(`${agent.name} (${id}).act`, game, input, generator, seat);
      checkTypedArray(`${agent.name} (${id}).act`, 'state', state, 'float32', input.rows * net.stateSize);
      const { policy, next } = await learner.policy.act(input, seat, state);
      const actions = greedy
        ? distribution.likeliest(policy, input.rows)
        : distribution.draw(policy, input.rows, generator).actions;
      return { actions: actions as ActionsOf<Spaces>, state: next };
    },
  };
}
