import { type ActionSpaces, type Agent, fail, type Saved, type SavedState, show } from '@coplay/core';
import { checkArgument, checkFunction, checkRecord, checkText } from '@coplay/core/checks';
import { z } from 'zod';
import { isLearning, type Learner, type LearningAgent } from '../training';
import { hidesLearner } from '../training/learner';

type AnyAgent = Agent<Saved, ActionSpaces>;

/** Refuses a value that isn't the state of a run with the same learners and agents. */
export function checkSaved(
  learners: readonly Learner[],
  agents: readonly AnyAgent[],
  saved: SavedState,
  hasExplorers: boolean,
): void {
  const found = (saved?.['learners'] ?? {}) as Record<string, SavedState>;
  const names = learners.map((learner) => learner.name).sort();
  const given = Object.keys(found).sort();
  if (saved?.['env'] === undefined || names.join() !== given.join()) {
    const expected = `the state of a run with the learners ${names.join(', ') || '(none)'}`;
    const got = saved?.['env'] === undefined ? show(saved) : `one with ${given.join(', ') || 'none'}`;
    fail('restore', expected, got, 'Make the run with the agents that it was saved with.');
  }
  const isExploring = saved['explorers'] !== undefined;
  if (isExploring !== hasExplorers) {
    const [expected, got] = [hasExplorers, isExploring].map((has) => `a run with${has ? '' : 'out'} exploration`);
    fail('restore', expected, got, 'Make the run with the option exploration that it was saved with.');
  }
  checkArgument('restore', 'saved', savedSchema(learners, agents), saved);
}

function savedSchema(learners: readonly Learner[], agents: readonly AnyAgent[]) {
  const record = z.looseObject({});
  const each = (names: readonly string[]) => z.looseObject(Object.fromEntries(names.map((name) => [name, record])));
  return z.looseObject({
    envSteps: z.int().min(0),
    updates: z.int().min(0),
    ...{ env: record, rollout: record, tracker: record },
    generators: z.array(z.array(z.number())).length(learners.length),
    learners: each(learners.map((learner) => learner.name)),
    memories: each(agents.filter((agent) => agent.save).map((agent) => agent.id)),
  });
}

/** Refuses agents that hide their learner. */
export function checkAgents(agents: readonly AnyAgent[]): void {
  const hidden = agents.find(hidesLearner);
  if (hidden === undefined) return;
  const remedy = 'Give the agent itself. withInsight is for recordEpisode and evaluate.';
  fail('selfPlay', 'agents that it can train', `withInsight(the agent of ${hidden.id})`, remedy);
}

/** Refuses what lacks a part that a run asks for. */
export function checkLearner({ id, learner }: LearningAgent<Saved, ActionSpaces>): void {
  const where = `selfPlay: the learner of ${id}`;
  checkRecord(where, 'learner', learner);
  checkText(where, 'name', learner.name);
  if (!Array.isArray(learner.ids)) fail(where, 'ids, a list of agents', show(learner.ids), 'Name its agents.');
  if (learner.parts !== undefined && !Array.isArray(learner.parts)) {
    fail(where, 'parts, a list of learners', show(learner.parts), 'List the models that it trains.');
  }
  checkConfig(where, learner.config);
  for (const part of ['initialise', 'update', 'state', 'restore', 'dispose'] as const) {
    checkFunction(where, part, learner[part]);
  }
}

/** Each learner's agents must all be seated, and names must tell learners apart in checkpoints. */
export function checkLearners(agents: readonly AnyAgent[], learners: readonly Learner[]): void {
  for (const learner of learners) {
    const seated = agents.filter((agent) => isLearning(agent) && agent.learner === learner).map((agent) => agent.id);
    if (learner.ids.some((id) => !seated.includes(id)) || seated.length !== learner.ids.length) {
      const remedy = 'Seat every agent that shares the learner, each under its own id.';
      fail(
        'selfPlay',
        `the agents of the learner ${learner.name}: ${learner.ids.join(', ')}`,
        seated.join(', '),
        remedy,
      );
    }
    const namesakes = learners.filter((other) => other.name === learner.name).length;
    if (namesakes > 1) {
      fail('selfPlay', 'learners with names of their own', `${namesakes} called ${learner.name}`, 'Name each learner.');
    }
  }
}

/** A configuration is written as JSON into the run's directory. */
function checkConfig(where: string, config: unknown): void {
  try {
    JSON.stringify(config);
  } catch (error) {
    const got = error instanceof Error ? error.message : String(error);
    fail(`${where}: config`, 'what JSON can hold', got, 'Give names, numbers, lists and records.');
  }
}
