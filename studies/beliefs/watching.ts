import { concatExperience, createEpisodeCollector } from '@coplay/buffers';
import {
  type Agent,
  createGenerator,
  createRollout,
  type Experience,
  type Game,
  streamSeed,
  vectorEnv,
} from '@coplay/core';
import { nearestHare, nearestStag, switcher } from '@coplay/envs';
import { type HopAgent, hopAgent } from '@coplay/trainers';
import { seenOf, stepsOf } from '../moa/optimum';
import { HARE_HUNTER, playerRules, STAG_HUNTER } from '../moa/rules';
import { mixedPlayers, playEpisodes } from '../moa/samples';

/** How HOP's agent was taught about others. */
export interface Teaching {
  /** Steps of Mixed(0.5) players that its models learn from. */
  readonly samples: number;
  readonly epochs: number;
  readonly seed: number;
}

/** An agent that only looks on: its models have learned from Mixed(0.5) players, and it doesn't plan. */
export async function onlooker(game: Game, { samples, epochs, seed }: Teaching): Promise<HopAgent> {
  const [id] = game.agents;
  const agent = hopAgent({ game, id, search: { simulations: 0 }, interOM: false, moa: { capacity: 2 * samples } });
  const generator = createGenerator(streamSeed(seed, 'learners'));
  await agent.learner.initialise(generator.fork());
  const played = await playEpisodes(game, 'hunt', samples, seed);
  await agent.learner.coPlayerModelsOf(0).pretrain(concatExperience(played), { epochs, generator: generator.fork() });
  return agent;
}

/** The beliefs about one co-player in one episode. N discriminating moves. */
export interface Evidence {
  /** [N + 1] P(stag) before the first discriminating move and after each */
  readonly learned: readonly number[];
  /** The same of an observer who knows the rules of both kinds of players. */
  readonly exact: readonly number[];
}

/**
 * Watches a NearestStag co-player for whole episodes. A move discriminates where one kind of player would make it at
 * least twice as often as the other. Likelihoods come from the rules themselves; beliefs begin at 1/2.
 */
export async function watchStagHunter(game: Game, agent: HopAgent, envs: number, seed: number): Promise<Evidence[]> {
  const [, watched] = game.agents;
  const players = [agent, nearestStag({ game, id: watched }) as Agent, ...mixedPlayers(game, 'hunt').slice(2)];
  const rollout = createRollout(
    watchedEnv(game, envs, seed),
    players,
    createGenerator(streamSeed(seed, 'watch/agents')),
  );
  const episodes = createEpisodeCollector().push(await rollout.collect(game.maxSteps));
  return Array.from({ length: episodes.envs }, (_, e) => evidenceOf(game, episodes, e));
}

function watchedEnv(game: Game, envs: number, seed: number) {
  return vectorEnv(game, { envs, seed: streamSeed(seed, 'watch/env') });
}

function evidenceOf(game: Game, episodes: Experience, e: number): Evidence {
  const rules = playerRules(game, 'hunt');
  const { actions, ...seen } = seenOf(game, episodes, e);
  const steps = stepsOf(rules, { actions, ...seen }, 1);
  const learned = [0.5];
  const exact = [0.5];
  let odds = 1;
  steps.slice(0, -1).forEach((byType, t) => {
    const action = actions[t][1];
    const ratio = byType[STAG_HUNTER][action] / byType[HARE_HUNTER][action];
    odds *= ratio;
    if (ratio < 2 && ratio > 0.5) return;
    learned.push(beliefIn(game, episodes, e, t + 1));
    exact.push(odds === Number.POSITIVE_INFINITY ? 1 : odds / (1 + odds));
  });
  return { learned, exact };
}

/** P(agent 1 is after a stag) as agent 0 believed in step t. */
function beliefIn(game: Game, { extras, steps, agents }: Experience, e: number, t: number): number {
  const goals = game.goals!.names; // stag, hare: in the order of the kinds of players
  const row = (e * steps + t) * agents.length; // of agent 0
  return extras['beliefs'].data[(row * agents.length + 1) * goals.length + STAG_HUNTER];
}

/** Whom to watch for how long. */
export interface Switch {
  /** Of the counts of goals, for each episode. */
  readonly goalDiscount: number;
  /** Episodes until the hare hunter turns into a stag hunter, and in all. */
  readonly turn: number;
  readonly episodes: number;
  readonly seed: number;
}

/** The prior P(stag) with which each episode began. */
export async function watchSwitcher(game: Game, { goalDiscount, turn, episodes, seed }: Switch): Promise<number[]> {
  const [id, watched] = game.agents;
  // The prior counts the goals that show at the end of an episode: no model is needed.
  const agent = hopAgent({ game, id, search: { simulations: 0 }, intraOM: false, moa: { goalDiscount } });
  await agent.learner.initialise(createGenerator(streamSeed(seed, 'learners')));
  const first = nearestHare({ game, id: watched });
  const second = nearestStag({ game, id: watched });
  const switching = switcher({ game, id: watched, first, second, episodes: turn }) as Agent;
  const others = game.agents.slice(2).map((id) => nearestStag({ game, id }) as Agent);
  const rollout = createRollout(
    watchedEnv(game, 1, seed),
    [agent, switching, ...others],
    createGenerator(streamSeed(seed, 'watch/agents')),
  );
  const priors = [agent.beliefs!.prior(watched)[0]];
  while (priors.length <= episodes) {
    const { ended } = await rollout.collect(1);
    if (ended[0] === 1) priors.push(agent.beliefs!.prior(watched)[0]);
  }
  agent.learner.dispose();
  return priors;
}
