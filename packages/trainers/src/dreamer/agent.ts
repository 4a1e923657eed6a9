import {
  type ActionSpaces,
  type ActionsOf,
  type AgentId,
  type AgentInput,
  type AgentOutput,
  type AnyGame,
  checkGame,
  type DType,
  fail,
  type Game,
  type Generator,
  type NamedArrays,
  ndarray,
} from '@coplay/core';
import { dtypeOf, maskSizeOf } from '@coplay/core/arrays';
import { checkAct, checkCount, checkRecord, checkTypedArray } from '@coplay/core/checks';
import { actingRows } from '@coplay/models';
import { findNonFinite, type LearningAgent } from '../training';
import { checkIds } from '../training/ids';
import { uniformNoise } from './data';
import { DreamerLearner } from './learner';
import type { DreamerOptions } from './options';
import { latentNames, previousActions } from './replay';
import { type DreamerNetworkOptions, dreamerSetup } from './setup';

/** Options of {@link dreamerAgent}. */
export interface DreamerAgentOptions<Spaces extends ActionSpaces = number>
  extends DreamerNetworkOptions,
    DreamerOptions {
  /** The rules of its game: they determine its observations and actions. */
  readonly game: Game<DType, Spaces>;
  /** One of `game.agents`. */
  readonly id: AgentId;
}

/** An agent that DreamerV3 trains. Its recurrent state: h, and the classes of z. */
export interface DreamerAgent<Spaces extends ActionSpaces = number> extends LearningAgent<DreamerState, Spaces> {
  readonly learner: DreamerLearner;
}

/** The state of the recurrent model in B games. */
export type DreamerState = {
  /** [B D] */
  readonly deter: Float32Array;
  /** [B S] */
  readonly stoch: Int32Array;
};

/**
 * An agent with a world model and weights of its own (independent DreamerV3).
 *
 * @throws CoplayError for unknown options, or an id that the game doesn't have
 */
export function dreamerAgent<Spaces extends ActionSpaces>(given: DreamerAgentOptions<Spaces>): DreamerAgent<Spaces> {
  checkRecord('dreamerAgent', 'options', given);
  const { game, id, ...options } = given;
  return new WorldModelAgent(id, new DreamerLearner(dreamerSetup('dreamerAgent', game as AnyGame, [id], options)));
}

/** Options of {@link sharedDreamerAgents}. */
export interface SharedDreamerOptions<Spaces extends ActionSpaces = number>
  extends DreamerNetworkOptions,
    DreamerOptions {
  /** The rules that they will play by. */
  readonly game: Game<DType, Spaces>;
  /** Who shares the weights: agents with the same actions. Default: all agents of the game */
  readonly ids?: readonly AgentId[];
}

/**
 * Agents that share one set of weights, and one replay in which each has streams of its own. Unless `inputs` says
 * otherwise they see who they are (`agentId`), if there are several.
 */
export function sharedDreamerAgents<Spaces extends ActionSpaces>(
  given: SharedDreamerOptions<Spaces>,
): DreamerAgent<Spaces>[] {
  checkRecord('sharedDreamerAgents', 'options', given);
  const { game, ids = game?.agents ?? [], ...options } = given;
  checkGame('sharedDreamerAgents: option game', game, 'any', 'play');
  const any = game as AnyGame;
  checkIds('sharedDreamerAgents', any, ids);
  const inputs = { agentId: ids.length > 1, ...options.inputs };
  const learner = new DreamerLearner(dreamerSetup('sharedDreamerAgents', any, ids, { ...options, inputs }));
  return ids.map((id) => new WorldModelAgent(id, learner));
}

class WorldModelAgent<Spaces extends ActionSpaces> implements DreamerAgent<Spaces> {
  readonly name = 'DreamerV3';
  private readonly seat: number;

  constructor(
    readonly id: AgentId,
    readonly learner: DreamerLearner,
  ) {
    this.seat = learner.setup.game.agents.indexOf(id);
  }

  initialState(rows: number): DreamerState {
    const { deter, stoch } = this.learner.setup.nets.sizes;
    checkCount(`DreamerV3 (${this.id}).initialState`, 'rows', rows);
    return { deter: new Float32Array(rows * deter), stoch: new Int32Array(rows * stoch) };
  }

  async act(
    input: AgentInput<Spaces>,
    state: DreamerState,
    generator: Generator,
  ): Promise<AgentOutput<DreamerState, Spaces>> {
    const { setup, name } = this.learner;
    const where = `DreamerV3 (${this.id}).act`;
    checkAct(where, setup.game, input, generator, this.seat);
    checkRecord(where, 'state', state);
    const { rows } = input;
    const { deter, stoch } = setup.nets.sizes;
    checkTypedArray(where, 'state.deter', state.deter, 'float32', rows * deter);
    checkTypedArray(where, 'state.stoch', state.stoch, 'int32', rows * stoch);
    const feeds = this.feeds(input, state, generator);
    checkFinite(where, feeds);
    const outputs = await this.learner.network.functions.act(feeds);
    const next = { deter: outputs['deter'].data as Float32Array, stoch: outputs['stoch'].data as Int32Array };
    const actions = setup.draw(outputs, rows, generator) as ActionsOf<Spaces>;
    const names = latentNames(name);
    const extras = setup.options.replayLatents && {
      [names.deter]: ndarray(next.deter, [rows, deter]),
      [names.stoch]: ndarray(next.stoch, [rows, stoch]),
    };
    return { actions, state: next, ...(extras && { extras }) };
  }

  private feeds(input: AgentInput<Spaces>, state: DreamerState, generator: Generator): NamedArrays {
    const { encoder, nets, space } = this.learner.setup;
    const K = maskSizeOf(space);
    const { rows } = input;
    const { deter, stoch } = nets.sizes;
    const seen = Object.entries(encoder.encode(actingRows(input, this.seat)));
    return {
      ...Object.fromEntries(seen.map(([field, array]) => [`obs/${field}`, array])),
      ...previousActions(this.learner.setup, input.previousActions, this.seat),
      isFirst: ndarray(input.isFirst),
      ...(K > 0 && { mask: ndarray(input.masks, [rows, K]) }),
      deter: ndarray(state.deter, [rows, deter]),
      stoch: ndarray(state.stoch, [rows, stoch]),
      noise: uniformNoise(generator, [rows, stoch]),
    };
  }
}

/**
 * Refuses numbers that aren't finite before they are used: a sample of a latent would hide them, and the replay would
 * keep them.
 */
function checkFinite(where: string, feeds: NamedArrays): void {
  const floats = Object.entries(feeds).filter(([, { data }]) => dtypeOf(data).startsWith('float'));
  const bad = findNonFinite(Object.fromEntries(floats));
  if (bad) fail(where, 'finite observations and states', bad, "Look for it in the game's observations.");
}
