import type { AgentId, Experience, Log, LogEntry, Metrics } from '@coplay/core';
import { summarise } from '@coplay/diagnostics';
import type { Counters } from '@coplay/diagnostics/audits';
import { isLearning, type LearningAgent, selfPlay } from '@coplay/trainers';
import { makeTrainer, type Trainer } from './influence';

/** How long a training is. */
export interface TrainingSize {
  readonly envSteps: number;
  readonly envs: number;
  /** Steps of a rollout. */
  readonly steps: number;
}

/** The results of one seed. */
export interface Training {
  /** Mean return of each agent over the last 20 % of training. */
  readonly late: Readonly<Record<AgentId, number>>;
  readonly configs: Readonly<Record<AgentId, unknown>>;
  /** By agent: updates in which each module of its learner took steps, by the module's name, and updates in all. */
  readonly updates: Counters;
  /** Samples that arrived, by agent and buffer. */
  readonly pushed: Counters;
  /** Samples that should have. */
  readonly due: Counters;
}

/** Trains once and keeps count. */
export async function train(
  trainer: Trainer,
  size: TrainingSize,
  seed: number,
  log: readonly Log[] = [],
): Promise<Training> {
  const { game, subject } = trainer;
  const agents = makeTrainer(trainer).filter(isLearning);
  const entries: LogEntry[] = [];
  const keep: Log = { start() {}, close() {}, write: (entry) => void entries.push(entry) };
  const due: Record<AgentId, Record<string, number>> = Object.fromEntries(game.agents.map((id) => [id, {}]));
  const onRollout = (experience: Experience) => {
    for (const [seat, id] of game.agents.entries()) {
      for (const [buffer, count] of Object.entries(subject.due(experience, seat))) {
        due[id][buffer] = (due[id][buffer] ?? 0) + count;
      }
    }
  };
  const { envs, steps, envSteps } = size;
  const run = selfPlay({ game, agents, envs, steps, seed, onRollout, log: [keep, ...log] });
  await run.train({ envSteps });
  const pushed = await byAgent(agents, ({ learner, id }) => subject.pushed(learner, id));
  const updates = await byAgent(agents, async ({ learner }) => ({
    updates: learner.updates,
    ...moduleUpdates(
      entries.map(({ metrics }) => metrics),
      learner.name,
    ),
  }));
  const configs = await byAgent(agents, async ({ learner, id }) => withoutId(learner.config, id));
  run.dispose();
  const late = summarise(entries);
  const returns = game.agents.map((id) => [id, late[`episode/return/${id}`]] as const);
  if (returns.some(([, value]) => value === undefined)) {
    throw new Error(`no episode ended in the last 20 % of ${envSteps} steps: train for longer`);
  }
  return { late: Object.fromEntries(returns), configs, updates, pushed, due };
}

/** An agent's settings without its own id, which is all that they may differ in. */
function withoutId(config: unknown, id: AgentId): unknown {
  return JSON.parse(JSON.stringify(config, (_, value: unknown) => (value === id ? undefined : value)));
}

/** For each metric `MODULE/steps` of a learner: the updates in which it was above 0. */
function moduleUpdates(all: readonly Metrics[], learner: string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const metrics of all) {
    for (const [key, value] of Object.entries(metrics)) {
      if (!key.startsWith(`${learner}/`) || !key.endsWith('/steps')) continue;
      const name = `updates of ${key.slice(learner.length + 1, -'/steps'.length)}`;
      counts[name] = (counts[name] ?? 0) + (value > 0 ? 1 : 0);
    }
  }
  return counts;
}

async function byAgent<T>(
  agents: readonly LearningAgent[],
  ask: (agent: LearningAgent) => Promise<T>,
): Promise<Record<AgentId, T>> {
  const answers: Record<AgentId, T> = {};
  for (const agent of agents) answers[agent.id] = await ask(agent);
  return answers;
}
