import { type AgentId, checkOptions, fail, type Game } from '@coplay/core';
import { checkRecord } from '@coplay/core/checks';
import { canCentre } from '@coplay/models';
import { z } from 'zod';
import { createMoa, type MoaLearner, type MoaOptions, moaSchema } from '../moa';
import { type PpoNetworkOptions, type PpoOptions, type PpoSetup, ppoSetup } from '../ppo';
import { type Annealed, annealed } from '../training/annealed';
import { refuseStore } from '../training/check-calls';
import { optionNames, unchecked } from '../training/option-names';

/** Options of {@link socialInfluenceAgent}. */
export interface SocialInfluenceOptions extends Omit<PpoNetworkOptions, 'reward'> {
  /** The rules that it will play by. */
  readonly game: Game;
  /** One of `game.agents`. */
  readonly id: AgentId;
  /** Weight of its influence on the others, in nats, in its learning reward; beta, at least 0. Default 0.1 */
  readonly influenceWeight?: Annealed;
  /** Weight of the game's reward; alpha, at least 0. Default 1 */
  readonly rewardWeight?: number;
  /** The algorithm's own numbers. */
  readonly ppo?: PpoOptions;
  /**
   * The models of co-players, through which it knows its influence: options of `createMoa`. Default: `share`, and
   * `centred` where the game allows it
   */
  readonly moa?: Omit<MoaOptions, 'game' | 'id' | 'executor' | 'goals' | 'previousActions' | 'recurrent' | 'store'>;
}

/** Everything that's fixed before the first parameter is drawn. */
export interface SocialInfluenceSetup {
  readonly game: Game;
  readonly id: AgentId;
  readonly influenceWeight: Annealed;
  readonly rewardWeight: number;
  readonly ppo: PpoSetup;
  readonly moa: MoaLearner;
  readonly config: Readonly<Record<string, unknown>>;
}

const weight = z.number().min(0);
const schema = z.strictObject({
  influenceWeight: annealed(weight).default(0.1),
  rewardWeight: weight.default(1),
});

/** Models that read a step's actions and observations, and no history, as counterfactuals need. */
const FIXED = { goals: 'none', previousActions: true } as const;

/** Options that PPO doesn't have. */
const others = {
  id: unchecked,
  moa: optionNames(moaSchema, 'options of createMoa', ['executor', 'recurrent', ...Object.keys(FIXED)]).optional(),
  influenceWeight: unchecked,
  rewardWeight: unchecked,
};

/** @throws CoplayError if there is no other agent, and for options of the models that are fixed here */
function checkModels(where: string, game: Game, moa: object): void {
  if (game.agents.length < 2) {
    fail(
      where,
      'a game of two agents or more',
      `${game.name}, of one`,
      'Take ppoAgent: there is no other agent to influence.',
    );
  }
  const fixed = ['recurrent', 'goals', 'previousActions'].find((name) => name in moa);
  if (fixed === undefined) return;
  const expected = 'models that read a step and what everyone did in it, without goals or history';
  fail(`${where}: option moa`, expected, fixed, `Leave ${fixed} out.`);
}

/** Checks options and makes networks and models. Nothing here is random or touches a tensor. */
export function socialInfluenceSetup(where: string, options: SocialInfluenceOptions): SocialInfluenceSetup {
  checkRecord(where, 'options', options);
  const { game, id, ppo = {}, moa = {}, influenceWeight, rewardWeight, ...networks } = options;
  const setup = ppoSetup(where, game, [id], networks, ppo, others);
  checkRecord(where, 'options.moa', moa);
  checkModels(where, game, moa);
  const weights = checkOptions(where, schema, { influenceWeight, rewardWeight }) as Required<
    Pick<SocialInfluenceOptions, 'influenceWeight' | 'rewardWeight'>
  >;
  const { executor } = setup;
  refuseStore(`${where}: option moa`, moa);
  const models = createMoa({ share: true, centred: canCentre(game), ...moa, ...FIXED, game, id, executor });
  return {
    ...{ game, id, ...weights, ppo: setup, moa: models },
    config: { ...setup.config, algorithm: 'social-influence', ...weights, moa: models.config },
  };
}
