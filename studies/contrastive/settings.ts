import {
  type Agent,
  createGenerator,
  createRollout,
  type Experience,
  type Game,
  streamSeed,
  vectorEnv,
} from '@coplay/core';
import { cartPole, randomAgent, stagHunt } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { type PpoAgentOptions, ppoPresets } from '@coplay/trainers';

/** A game of the study. */
export interface Setting {
  readonly label: string;
  readonly game: Game;
  /** Who plays the data that the models learn from, and are judged on. */
  readonly players: readonly Agent[];
  /** Options of HOP+'s policy. */
  readonly policy: Pick<PpoAgentOptions, 'ppo' | 'network'>;
}

const hunt = stagHunt({ size: 4, agents: 2, stags: 1, hares: 2 });
const pole = cartPole();

/** Planes, and a vector. */
export const SETTINGS: readonly Setting[] = [
  {
    label: 'stag hunt',
    game: hunt,
    players: hunt.agents.map((id) => randomAgent({ game: hunt, id })),
    policy: { ppo: ppoPresets.stagHunt },
  },
  {
    label: 'cart pole',
    game: pole,
    players: pole.agents.map((id) => randomAgent({ game: pole, id })),
    policy: { ppo: { learningRate: 1e-3 }, network: mlp({ hidden: [64, 64] }) },
  },
];

const ENVS = 32;

/** Play of a seed: about so many transitions, and as many held out, of other games. */
export async function dataOf(setting: Setting, seed: number, samples: number) {
  return {
    train: await play(setting, seed, 'learning', samples),
    heldOut: await play(setting, seed, 'held out', samples),
  };
}

function play({ game, players }: Setting, seed: number, purpose: string, samples: number): Promise<Experience> {
  const own = streamSeed(seed, purpose);
  const rollout = createRollout(vectorEnv(game, { envs: ENVS, seed: own }), players, createGenerator(own));
  return rollout.collect(Math.ceil(samples / ENVS));
}
