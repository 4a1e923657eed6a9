import type { ReportExtras } from '../extras';
import { apart, type Finding, figure, late, type Subject, valuesOf } from './finding';

/**
 * How far the accuracy on rare outcomes may lie below the accuracy on all: 0.002 at most in 18 sound runs of HOP+, 0.17
 * to 0.25 without `outcomeShare`.
 */
const RARE_GAP = 0.1;
/** A class below this share of the rows is too rare to judge. */
const LEAST_RATIO = 0.01;
/** Nats below which a latent holds nothing: 4 to 18 in sound state VAEs, 1e-4 and less in empty ones (study vae). */
const EMPTY_LATENT = 0.01;
/** Explained variance below which inferred subgoals are hardly better than a constant. */
const STALE = 0.05;
/** Updates of the inference before that is judged: sound ones begin at 0, pass 0.05 after 20 and have 0.2 after 40. */
const LEAST_UPDATES = 30;
/** Updates after which imagination or tree search is expected to have begun. */
const LEAST_WAIT = 10;
/** Metrics that are 0 in updates in which a learned world model wasn't used. */
const USES = { 'imagined/horizon': 'imagination', 'search/share': 'tree search', 'hop/simulations': 'tree search' };

/** A world model that is right on average and wrong where it matters. */
export function rareOutcomes(subject: Subject): Finding[] {
  const byOutcome = valuesOf(subject, 'world_model/accuracy_by_outcome');
  const gaps = apart(valuesOf(subject, 'world_model/accuracy')).flatMap(([agent, { values }]) => {
    const rare = byOutcome.get(agent);
    return rare ? [{ agent, all: late(values), rare: late(rare.values) }] : [];
  });
  const worst = gaps.reduce((a, b) => (b.all - b.rare > a.all - a.rare ? b : a), { agent: '', all: 0, rare: 0 });
  if (worst.all - worst.rare <= RARE_GAP) return [];
  const whose = worst.agent ? ` of ${worst.agent}` : '';
  return [
    {
      check: 'rare-outcomes',
      level: 'warning',
      title: "The world model doesn't know rare outcomes",
      finding: `Late in the run the model${whose} predicts ${figure(100 * worst.all)} % of transitions exactly, but ${figure(100 * worst.rare)} % where each outcome is as frequent.`,
      advice:
        'Rare events, such as a catch, are worth imagining most. Draw minibatches by outcome (outcomeShare of the world model, 0.25 for a start), or collect more of it.',
      command: 'npm run study -- world-model',
      runs: [subject.name],
      metrics: ['world_model/accuracy', 'world_model/accuracy_by_outcome'],
    },
  ];
}

/** Imagination or tree search that never began: the agent learned as it would without the world model. */
export function unusedModel(subject: Subject): Finding[] {
  const accuracy = valuesOf(subject, 'world_model/accuracy');
  const never = Object.entries(USES).flatMap(([metric, use]) => {
    return apart(valuesOf(subject, metric)).flatMap(([agent, { values }]) => {
      const learned = accuracy.get(agent);
      if (!learned || values.length < LEAST_WAIT || values.some((value) => value !== 0)) return [];
      return [`no ${use}${of(agent)} in ${values.length} updates, with an accuracy of ${figure(late(learned.values))}`];
    });
  });
  if (never.length === 0) return [];
  return [
    {
      check: 'unused-model',
      level: 'warning',
      title: 'The world model was never used',
      finding: `There was ${shortened(never)}.`,
      advice:
        'Imagination and tree search wait until world_model/accuracy reaches minAccuracy; imagination also needs accurate models of co-players (moaAccuracy). Where chance or hidden parts keep the accuracy below that, lower minAccuracy (0: no waiting). Otherwise train the model more: stepsPerUpdate first, then learningRate.',
      command: 'npm run study -- world-model',
      runs: [subject.name],
      metrics: ['world_model/accuracy', ...Object.keys(USES)],
    },
  ];
}

/** Subgoals that say nothing: an empty latent, or an inference that is no better than a constant. */
export function staleSubgoals(subject: Subject): Finding[] {
  const empty = apart(valuesOf(subject, 'omg/vae_kl')).filter(([, { values }]) => late(values) < EMPTY_LATENT);
  const flat = apart(valuesOf(subject, 'omg/explained_variance')).filter(([, { values }]) => {
    return values.length >= LEAST_UPDATES && late(values) < STALE;
  });
  if (empty.length + flat.length === 0) return [];
  const told = [
    ...empty.map(([agent, { values }]) => `the latent${of(agent)} holds ${figure(late(values))} nats (omg/vae_kl)`),
    ...flat.map(
      ([agent, { values }]) =>
        `the inferred subgoal${of(agent)} explains ${figure(100 * late(values))} % of the subgoals`,
    ),
  ];
  return [
    {
      check: 'stale-subgoals',
      level: 'warning',
      title: 'Subgoals of others are stale',
      finding: `Late in the run ${shortened(told)}.`,
      advice:
        'The policy is shown a constant. An empty latent: lower klWeight. An inference that explains nothing: more steps an update, a longer history, or subgoals that are inferred more often; see whether omg/histories grows.',
      command: 'npm run study -- vae',
      runs: [subject.name],
      metrics: ['omg/vae_kl', 'omg/explained_variance', 'omg/histories'],
    },
  ];
}

function of(agent: string): string {
  return agent ? ` of ${agent}` : '';
}

/** At most four of them. */
function shortened(told: readonly string[]): string {
  return `${told.slice(0, 4).join('; ')}${told.length > 4 ? ` (and ${told.length - 4} more)` : ''}`;
}

/** Actions that a model of another agent never predicts. They're in evaluations only (see `addToReport`). */
export function collapsedClasses(subject: Subject, { moa = {} }: ReportExtras): Finding[] {
  return Object.entries(moa).flatMap(([model, { count, classes }]) => {
    const lost = classes.filter((one) => one.count >= LEAST_RATIO * count && one.count > 0 && one.recall === 0);
    if (lost.length === 0) return [];
    const told = lost.map((one) => `${one.name} (${figure((100 * one.count) / count)} % of the actions)`).join(', ');
    return [
      {
        check: 'collapsed-class',
        level: 'warning',
        title: 'A model of another agent has collapsed classes',
        finding: `${model} never predicts ${told}: recall 0, although these actions were taken.`,
        advice:
          'The frequent actions have swallowed the rare ones. Look at the confusion matrix below. Weigh the classes, keep room for rare goals in its buffer (share), or show it more of them; accuracy alone does not tell.',
        command: 'npm run study -- moa',
        runs: [subject.name],
        metrics: ['moa/accuracy', 'moa/loss'],
      },
    ];
  });
}
