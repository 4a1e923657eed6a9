import { type Agent, type AgentId, evaluate, type Game } from '@coplay/core';
import type { Switches } from '@coplay/diagnostics/ablations';
import {
  type AuditStep,
  type Conclusion,
  type Counters,
  configurationAudit,
  counterAudit,
  dueAudit,
  type LearnerInfluence,
  moduleAudit,
  nameCulprit,
  ownershipAudit,
  symmetryAudit,
  symmetryVerdict,
  type Verdict,
} from '@coplay/diagnostics/audits';
import { nearestStag, permuteSeats, randomAgent } from '@coplay/envs';
import type { Context } from '../../bench/harness';
import { influenceOf, type Trainer } from './influence';
import { CULPRITS, type Sabotage, sabotagedGame } from './sabotage';
import type { Subject } from './subject';
import { type Training, type TrainingSize, train } from './training';

/** How thorough an audit is. */
export interface AuditPlan {
  /** Episodes of random play, and a fifth of them of NearestStag, over all blocks. */
  readonly episodes: number;
  readonly size: TrainingSize;
  /** Whether modules are switched off: (f). */
  readonly triesModules: boolean;
  /** Whether the settings without a module are trained for (f); otherwise only their first updates are looked at. */
  readonly trainsModules: boolean;
  /** Whether the settings with seats permuted and with one policy are trained: (b), (g). */
  readonly trainsOthers: boolean;
}

/** Everything that an audit found. */
export interface AuditReport {
  readonly sabotage: Sabotage;
  readonly steps: readonly AuditStep[];
  readonly conclusion: Conclusion;
  /** Whether the culprit is the one that was put in. */
  readonly isRight: boolean;
  readonly influence: Readonly<Record<string, LearnerInfluence>>;
  /** By setting: each agent's mean return, block by block or seed by seed. */
  readonly returns: Readonly<Record<string, Returns>>;
  /** Of the first training of all modules. */
  readonly training: Training;
}

/** Each agent's mean returns. */
export type Returns = Readonly<Record<AgentId, readonly number[]>>;

/** Does work for each seed; `Context.seedLoop` keeps the results. */
export type SeedLoop = Context['seedLoop'];

/** Blocks of episodes that a line-up's means are taken over. */
const BLOCKS = 20;

/** The audited system. */
export interface AuditedSetting {
  readonly subject: Subject;
  /** Without any fault of ours. */
  readonly game: Game;
  readonly sabotage: Sabotage;
  /** Modules that are off in all of its tests. Default: none */
  readonly switches?: Switches;
}

/** All tests of a trainer in which a fault may have been put. */
export async function audit(setting: AuditedSetting, plan: AuditPlan, seedLoop: SeedLoop): Promise<AuditReport> {
  const { subject, sabotage, switches = {} } = setting;
  const game = sabotagedGame(sabotage, setting.game);
  const base: Trainer = { subject, game, sabotage, switches, sharedPolicy: false };
  const trainEach = (label: string, trainer: Trainer) =>
    seedLoop(`${sabotage} ${label}`, (seed, place) => train(trainer, plan.size, seed, place.log));

  const random = await lineUp(game, plan.episodes, (id) => randomAgent({ game, id }));
  const nearest = await lineUp(game, plan.episodes / 5, (id) => nearestStag({ game, id }));
  const all = await trainEach('all modules', base);
  const influence = await influenceOf(base, 1);
  const returns: Record<string, Returns> = { random, NearestStag: nearest, 'all modules': lateReturns(all) };
  if (plan.trainsOthers) {
    const permuted = { ...base, game: permuteSeats(game) };
    returns['permuted seats'] = lateReturns(await trainEach('permuted seats', permuted));
    returns['one policy'] = lateReturns(await trainEach('one policy', { ...base, sharedPolicy: true }));
  }
  const structure = structureOf(all, influence);
  const modules = plan.triesModules
    ? await withoutModules(base, structure, plan.trainsModules ? trainEach : undefined, returns)
    : undefined;
  const steps = stepsOf(structure, returns, modules);
  const conclusion = nameCulprit(inCausalOrder(steps));
  const isRight = conclusion.culprit === CULPRITS[sabotage];
  return { sabotage, steps, conclusion, isRight, influence, returns, training: all[0] };
}

/** Means of every agent in each block of episodes. */
async function lineUp(game: Game, episodes: number, agent: (id: AgentId) => Agent): Promise<Returns> {
  const agents = game.agents.map(agent);
  const means: Record<AgentId, number[]> = Object.fromEntries(game.agents.map((id) => [id, []]));
  for (let block = 0; block < BLOCKS; block++) {
    const { returnMean } = await evaluate(game, agents, { episodes: Math.ceil(episodes / BLOCKS), seed: block });
    for (const id of game.agents) means[id].push(returnMean[id]);
  }
  return means;
}

function lateReturns(trainings: readonly Training[]): Returns {
  const ids = Object.keys(trainings[0].late);
  return Object.fromEntries(ids.map((id) => [id, trainings.map(({ late }) => late[id])]));
}

type Structure = Readonly<Record<'configuration' | 'updates' | 'samples' | 'ownership', Verdict>>;

function structureOf(all: readonly Training[], influence: Record<string, LearnerInfluence>): Structure {
  return {
    configuration: configurationAudit(all[0].configs),
    updates: counterAudit(summed(all.map(({ updates }) => updates))),
    samples: dueAudit(summed(all.map(({ pushed }) => pushed)), summed(all.map(({ due }) => due))),
    ownership: ownershipAudit(influence),
  };
}

/** Counters added up over seeds. */
function summed(all: readonly Counters[]): Counters {
  const total: Record<AgentId, Record<string, number>> = {};
  for (const counters of all) {
    for (const [id, counts] of Object.entries(counters)) {
      total[id] ??= {};
      for (const [name, count] of Object.entries(counts)) total[id][name] = (total[id][name] ?? 0) + count;
    }
  }
  return total;
}

/** The first fault among some verdicts, or the last verdict. */
function firstFault(verdicts: readonly Verdict[]): Verdict {
  return verdicts.find(({ isFair }) => isFair === false) ?? verdicts[verdicts.length - 1];
}

/** Test (i) with modules off, and (h) where these settings are to be trained. */
async function withoutModules(
  base: Trainer,
  { ownership }: Structure,
  trainEach: ((label: string, trainer: Trainer) => Promise<Training[]>) | undefined,
  returns: Record<string, Returns>,
): Promise<Verdict> {
  const whole = trainEach ? firstFault([ownership, verdictOn(returns['all modules'])]) : ownership;
  const without: Record<string, Verdict> = {};
  for (const [name, switches] of Object.entries(base.subject.without)) {
    const label = `without ${name}`;
    const trainer = { ...base, switches };
    const verdicts: Verdict[] = [ownershipAudit(await influenceOf(trainer, 1))];
    if (trainEach) {
      returns[label] = lateReturns(await trainEach(label, trainer));
      verdicts.push(verdictOn(returns[label]));
    }
    without[name] = firstFault(verdicts);
  }
  return moduleAudit(whole, without);
}

/** Relabellings that are drawn where there are too many to look at: p-values down to 1 in 20,000. */
const PERMUTATIONS = 20_000;

function verdictOn(returns: Returns): Verdict {
  const [first] = Object.values(returns);
  if (first.length < 2) return { isFair: null, suspects: [], finding: 'One seed tells nothing about an order.' };
  return symmetryVerdict(symmetryAudit(returns, { permutations: PERMUTATIONS }));
}

/** The tests of field note 2, in its order, and the one that found the cause then. */
function stepsOf(structure: Structure, returns: Readonly<Record<string, Returns>>, modules?: Verdict): AuditStep[] {
  const lineUps = [verdictOn(returns['random']), verdictOn(returns['NearestStag'])];
  const finding = `Random: ${lineUps[0].finding} NearestStag: ${lineUps[1].finding}`;
  const environment = { ...firstFault(lineUps), finding };
  const trained = (test: string, label: string): AuditStep[] =>
    returns[label] ? [{ test, verdict: verdictOn(returns[label]) }] : [];
  return [
    { test: '(a) environment: rules of one kind in all seats', cause: 'environment', verdict: environment },
    ...trained('(b) seats permuted in every episode', 'permuted seats'),
    { test: '(c) configuration', cause: 'configuration', verdict: structure.configuration },
    { test: '(d) updates by agent and module', cause: 'updates', verdict: structure.updates },
    { test: '(e) samples by agent and buffer', cause: 'samples', verdict: structure.samples },
    ...(modules ? [{ test: '(f) modules off', cause: 'modules', verdict: modules }] : []),
    ...trained('(g) one shared policy', 'one policy'),
    ...trained('(h) last 20 % of training over seeds', 'all modules'),
    { test: '(i) whose data trains whom', cause: 'trajectories', verdict: structure.ownership },
  ];
}

/**
 * Who is given another's trajectory is also given another's number of samples, so that test (i) is heard before (e).
 */
function inCausalOrder(steps: readonly AuditStep[]): AuditStep[] {
  const order = ['environment', 'configuration', 'updates', 'trajectories', 'samples', 'modules'];
  const rank = ({ cause }: AuditStep) => (cause === undefined ? order.length : order.indexOf(cause));
  return [...steps].sort((a, b) => rank(a) - rank(b));
}
