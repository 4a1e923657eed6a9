import type { Agent, AgentId, Experience, Game, TypedArray } from '@coplay/core';
import { type HopPlusLearner, isLearning, type Learner, type LearnerData } from '@coplay/trainers';
import { learnersOf } from './learners';
import type { MakeAgents } from './subject';

/** Faults that the audit must be able to name, with descriptions. */
export const SABOTAGES = {
  none: 'nothing',
  environment: 'lower ids win conflicts',
  configuration: 'agent_2 learns ten times as slowly',
  updates: 'agent_3 misses every second update',
  'own-trajectory': "everyone trains on agent_0's trajectory",
  samples: "half of agent_1's samples are dropped",
  imagination: "agent_2's imagined rewards have the wrong sign",
  models: "agent_1's models of the others never learn",
} as const;

/** The name of a fault. */
export type Sabotage = keyof typeof SABOTAGES;

/** The audit's name for it. */
export const CULPRITS: Readonly<Record<Sabotage, string>> = {
  none: 'none',
  environment: 'environment',
  configuration: 'configuration',
  updates: 'updates',
  'own-trajectory': 'trajectories',
  samples: 'samples',
  imagination: 'modules',
  models: 'updates',
};

/** Faults inside a module, which only returns with and without it show. */
export function isInsideModule(sabotage: Sabotage): boolean {
  return CULPRITS[sabotage] === 'modules';
}

/** The game, or one in which lower ids win conflicts: what several caught together goes to the first of them. */
export function sabotagedGame(sabotage: Sabotage, game: Game): Game {
  if (sabotage !== 'environment') return game;
  const agents = game.agents.length;
  return {
    ...game,
    step(state, offset, actions, actionsOffset, generator, result, row) {
      game.step(state, offset, actions, actionsOffset, generator, result, row);
      const rewards = result.rewards.subarray(row * agents, (row + 1) * agents);
      for (const name of ['caught_hare', 'caught_stag']) {
        giveToFirst(rewards, result.infos[name].subarray(row * agents, (row + 1) * agents), name);
      }
    },
  };
}

/** Whole prey for the first hunters in place of shares for all; the sum stays the same. */
function giveToFirst(rewards: Float32Array, caught: Float32Array, name: string): void {
  const hunters = [...caught.keys()].filter((agent) => caught[agent] === 1);
  let left = Math.round(hunters.reduce((sum, agent) => sum + rewards[agent], 0));
  const whole = name === 'caught_stag' ? left : 1;
  for (const agent of hunters) {
    rewards[agent] = Math.min(whole, left);
    left -= rewards[agent];
  }
}

/** How the agents are made. */
export function sabotagedOptions(sabotage: Sabotage, options: MakeAgents): MakeAgents {
  return sabotage === 'configuration' ? { ...options, slowAgent: options.game.agents[2] } : options;
}

/** Puts the fault into what learners are given. Each keeps its own `update` otherwise. */
export function sabotageLearners(sabotage: Sabotage, game: Game, agents: readonly Agent[]): void {
  for (const learner of learnersOf(agents.filter(isLearning))) {
    const seats = learner.ids.map((id) => game.agents.indexOf(id));
    if (sabotage === 'updates' && learner.ids.includes(game.agents[3])) skipEverySecond(learner);
    if (sabotage === 'own-trajectory') change(learner, (experience) => copySeat(experience, 0, seats));
    if (sabotage === 'samples') change(learner, (experience) => dropHalf(experience, game.agents[1], learner));
    if (sabotage === 'imagination' && learner.ids.includes(game.agents[2])) negateImagined(learner as HopPlusLearner);
    if (sabotage === 'models' && learner.ids.includes(game.agents[1])) stopModels(learner as HopPlusLearner, 1);
  }
}

function change(learner: Learner, changed: (experience: Experience) => Experience): void {
  const update = learner.update.bind(learner);
  learner.update = (data: LearnerData) => update({ ...data, experience: changed(data.experience) });
}

function skipEverySecond(learner: Learner): void {
  const update = learner.update.bind(learner);
  let asked = 0;
  learner.update = (data) => (asked++ % 2 === 0 ? update(data) : {});
}

/** The rewards that a learner imagines have the wrong sign. */
function negateImagined({ ppo }: HopPlusLearner): void {
  const update = ppo.update.bind(ppo);
  ppo.update = ({ imagined = [], ...data }) => {
    return update({ ...data, imagined: imagined.map((one) => ({ ...one, rewards: one.rewards.map((x) => -x) })) });
  };
}

/** The models that a seat's agent has of its co-players are never updated. */
function stopModels(learner: HopPlusLearner, seat: number): void {
  const { moa } = learner.coPlayerModelsOf(seat);
  if (moa) moa.update = async () => ({});
}

/** An agent's samples of every second environment are gone. */
function dropHalf(experience: Experience, id: AgentId, learner: Learner): Experience {
  if (!learner.ids.includes(id)) return experience;
  const { agents, steps } = experience;
  const seat = agents.indexOf(id);
  const active = experience.active.slice();
  for (let row = seat; row < active.length; row += agents.length) {
    if (Math.floor(row / (steps * agents.length)) % 2 === 1) active[row] = 0;
  }
  return { ...experience, active };
}

/** One seat's experience, in other seats' places too. */
function copySeat(experience: Experience, from: number, seats: readonly number[]): Experience {
  const rows = experience.envs * experience.steps * experience.agents.length;
  const cutRows = experience.cuts.env.length * experience.agents.length;
  const copied = <Data extends TypedArray>(data: Data, all: number): Data => {
    const target = data.slice() as Data;
    const size = all > 0 ? data.length / all : 0;
    for (let row = 0; row < all; row += experience.agents.length) {
      const source = data.subarray((row + from) * size, (row + from + 1) * size);
      for (const seat of seats) target.set(source, (row + seat) * size);
    }
    return target;
  };
  const { observations, cuts, extras } = experience;
  const each = <Value>(record: Readonly<Record<string, Value>>, f: (value: Value) => Value) =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, f(value)]));
  return {
    ...experience,
    observations: each(observations, (data) => copied(data, rows)),
    masks: copied(experience.masks, rows),
    actions: copied(experience.actions, rows),
    rewards: copied(experience.rewards, rows),
    active: copied(experience.active, rows),
    terminated: copied(experience.terminated, rows),
    truncated: copied(experience.truncated, rows),
    extras: each(extras, ({ data, shape }) => ({ data: copied(data, rows), shape })),
    cuts: {
      ...cuts,
      observations: each(cuts.observations, (data) => copied(data, cutRows)),
      masks: copied(cuts.masks, cutRows),
    },
  };
}
