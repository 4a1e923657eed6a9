import { rmSync } from 'node:fs';
import { type Agent, type Game, type Log, splitSeed } from '@coplay/core';
import { addToReport, jsonLines, type MoaEvaluation, moaEvaluation } from '@coplay/diagnostics';
import { nearestStag, stagHunt } from '@coplay/envs';
import { planesWorldModel } from '@coplay/models';
import { type HopPlusModules, hopPlusAgent, type PpoOptions, ppoAgent, ppoPresets, selfPlay } from '@coplay/trainers';
import { learnWhileLeaving } from '../moa/leaving';
import { withEndlessRewards } from './endless-rewards';

/** Where and how a run is made. */
export interface Place {
  readonly directory: string;
  readonly seed: number;
  readonly envs: number;
  readonly envSteps: number;
  /** Updates of models that learn from others' play. */
  readonly updates: number;
  readonly log: readonly Log[];
}

/** One way of training, sick or sound. */
export interface Setting {
  readonly what: string;
  /** @returns the directories of the runs that it left */
  leave(place: Place): Promise<string[]>;
}

const GAME = stagHunt({ size: 4, agents: 4, stags: 1, hares: 4 });
const OFF: HopPlusModules = { worldModel: false, imagined: false, moa: false, omg: false };

/** A pixel model that hardly learns, trusted from the first update on, over long horizons. */
const IMMATURE: HopPlusModules = {
  worldModel: { model: planesWorldModel(), stepsPerUpdate: 1, batchSize: 32 },
  imagined: { startUpdates: 0, minAccuracy: 0, moaAccuracy: 1e-6, horizon: 35, uniformGoals: 0 },
  omg: false,
};

/** Over seeds of one game, as many as it takes to tell agents apart. */
const GAMES = 8;

/** Every run of the study, by its name: the sick ones first. */
export const SETTINGS: Readonly<Record<string, Setting>> = {
  'PPO with endless steps': {
    what: 'a step size of 1e3 for 1e-3, and gradients as they are',
    leave: ppo({ learningRate: 1e3, clipNorm: false, nonFinite: 'skip' }),
  },
  'PPO with large steps': { what: 'a step size of 0.03, thirty times the preset', leave: ppo({ learningRate: 0.03 }) },
  'PPO without entropy': {
    what: 'the same, and no entropy bonus',
    leave: ppo({ learningRate: 0.03, entropyWeight: 0 }),
  },
  'PPO with endless rewards': {
    what: 'a catch pays its worth divided by the hares that are left',
    leave: ppo({ nonFinite: 'skip' }, withEndlessRewards(GAME)),
  },
  'NearestStag, one stronger': {
    what: 'four by rules, in eight seeds of a game that pays the first seat a fifth more',
    leave: rules(stagHunt({ size: 4, agents: 4, stags: 1, hares: 4, strengths: [1.2, 1, 1, 1] })),
  },
  'MOA of frequencies': {
    what: 'a model of a co-player that knows how frequent actions are and nothing else',
    leave: modelOfOthers(frequenciesOnly),
  },
  'HOP+ without outcomes': {
    what: 'the world model alone, and no minibatch drawn by outcome',
    leave: hopPlus({ ...OFF, worldModel: { outcomeShare: 0 } }),
  },
  'HOP+ with empty subgoals': {
    what: 'subgoals only, learned by predicting actions with a head that also sees the state',
    leave: hopPlus({ ...OFF, omg: { loss: 'action' } }),
  },
  'HOP+ with an immature model': {
    what: 'a pixel model that hardly learns, trusted from the first update on over 35 steps',
    leave: hopPlus(IMMATURE, { returns: 'monte-carlo', realRatio: 0.5 }),
  },
  PPO: { what: 'the preset for the stag hunt', leave: ppo({}) },
  NearestStag: { what: 'four by rules, in eight seeds of the game as it is', leave: rules(GAME) },
  MOA: { what: 'a model of a co-player that learns from what that did', leave: modelOfOthers((learned) => learned) },
  'HOP+': { what: 'as it comes', leave: hopPlus({}) },
};

function ppo(options: PpoOptions, game: Game = GAME): Setting['leave'] {
  const settings = { ...ppoPresets.stagHunt, ...options };
  return (place) =>
    train(
      game,
      game.agents.map((id) => ppoAgent({ game, id, ppo: settings })),
      place,
    );
}

function hopPlus(modules: HopPlusModules, options: PpoOptions = {}): Setting['leave'] {
  const settings = { ...ppoPresets.stagHunt, ...options };
  return (place) =>
    train(
      GAME,
      GAME.agents.map((id) => hopPlusAgent({ game: GAME, id, ppo: settings, ...modules })),
      place,
    );
}

function rules(game: Game): Setting['leave'] {
  return async (place) => {
    const directories: string[] = [];
    for (let i = 0; i < GAMES; i++) {
      const directory = `${place.directory}/game-${i + 1}`;
      const agents = game.agents.map((id) => nearestStag({ game, id }));
      const log = [jsonLines(directory)];
      directories.push(...(await train(game, agents, { ...place, directory, seed: splitSeed(place.seed, i), log })));
    }
    return directories;
  };
}

/** An evaluation of a model of another agent, with the log of a short run of rules. */
function modelOfOthers(chosen: (learned: MoaEvaluation) => MoaEvaluation): Setting['leave'] {
  return async (place) => {
    const agents = GAME.agents.map((id) => nearestStag({ game: GAME, id }));
    const directories = await train(GAME, agents, place);
    const evaluations = await learnWhileLeaving(GAME, 'stay', false, place.updates, place.seed);
    addToReport(place.directory, { moa: { 'agent_0 about agent_1': chosen(evaluations[evaluations.length - 1]) } });
    return directories;
  };
}

/** What frequencies alone would have predicted of the same actions. */
function frequenciesOnly({ classes, count }: MoaEvaluation): MoaEvaluation {
  const labels = classes.flatMap((one, k) => Array.from({ length: one.count }, () => k));
  const frequencies = classes.map((one) => one.count / count);
  return moaEvaluation({
    classes: classes.map(({ name }) => name),
    scores: Float32Array.from({ length: count * classes.length }, (_, i) => frequencies[i % classes.length]),
    labels: Int32Array.from(labels),
  });
}

/** Trains anew: files of an earlier try are no part of it. */
async function train(game: Game, agents: readonly Agent[], place: Place): Promise<string[]> {
  const { directory, envs, envSteps, seed, log } = place;
  rmSync(directory, { recursive: true, force: true });
  const run = selfPlay({ game, agents, envs, steps: 32, seed, directory, checkpointEvery: false, log });
  await run.train({ envSteps });
  run.dispose();
  return [directory];
}
