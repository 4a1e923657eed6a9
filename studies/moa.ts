import { join } from 'node:path';
import { type Game, streamSeed } from '@coplay/core';
import { type MoaEvaluation, moaEvaluation, moaFigures, writeMoaEvaluation } from '@coplay/diagnostics';
import { mean } from '@coplay/diagnostics/statistics';
import { stagHunt } from '@coplay/envs';
import type { Context, Experiment } from '../bench/harness';
import { learnWhileLeaving } from './moa/leaving';
import type { Waits } from './moa/rules';
import { playEpisodes, type Samples, splitSamples } from './moa/samples';
import { learnInSelfPlay, ONLINE_RECIPES, type SelfPlayPoint } from './moa/self-play';
import { type Knowledge, type Recipe, type Trained, trainModel } from './moa/training';

/** A researcher's figures on 107,010 samples of nearest-stag and nearest-hare play. */
const NOTES = { top1: 0.615, top3: 0.74, f1: [0.51, 0.56, 0.55, 0.53, 0.73, 0.81, 0.68] };

const WAITS: readonly Waits[] = ['hunt', 'stay'];

const RECIPES: readonly Recipe[] = [
  { knows: 'type', hidden: [256, 256], recurrent: 0, minibatchSize: 512, epochs: 12, learningRate: 2e-3 },
  { knows: 'history', hidden: [256, 256], recurrent: 64, minibatchSize: 1024, epochs: 24, learningRate: 3e-3 },
  { knows: 'present', hidden: [256, 256], recurrent: 0, minibatchSize: 512, epochs: 32, learningRate: 2e-3 },
];

/** An action is judged in self-play where it was taken so often, and knowing the policy foresees this share of it. */
const FREQUENT = 50;
const FORESEEN = 0.25;

/** The results of one way of waiting. */
interface Findings {
  readonly counts: { readonly learning: number; readonly heldOut: number; readonly episodes: number };
  readonly models: Readonly<Record<Knowledge, Trained>>;
  /**
   * Top-1 of the predictor of the present state alone that the rules give at least: the best lies between it and
   * `optimal`.
   */
  readonly presentAtLeast: number;
}

/** How near do models of other agents come to the best that the rules allow? */
export const study: Experiment = {
  name: 'moa',
  description:
    'models of four Mixed(0.5) players, compared with the Bayes optimum: type known, history, present state only',
  minutes: 20,
  seeds: 1,
  options: {
    samples: { what: 'steps of players, one in five of the episodes held out', default: '107010' },
    updates: { what: 'updates of the models that learn while co-players leave', default: '24' },
    'self-play': { what: 'environment steps of the self-play during which a model learns', default: '102400' },
  },
  bars: {
    ...barsOf('hunt'),
    ...barsOf('stay'),
    leaving_least_recall: { what: 'least recall of any action, learned online while co-players leave', atLeast: 0.05 },
    leaving_sabotaged_zeros: {
      what: 'control: most actions with recall 0 after an update on a buffer that keeps the steps after leaving',
      atLeast: 5,
    },
    self_play_least_recall: {
      what: 'PPO self-play: least recall, at any time, of any action that knowing the policy foresees in a quarter of its cases',
      atLeast: 0.01,
    },
    self_play_top1: { what: 'PPO self-play: top-1 / that of knowing the policy, last quarter', atLeast: 0.9 },
    self_play_sabotaged_zeros: {
      what: 'control: most of those actions with recall 0 where the buffer keeps the steps after leaving',
      atLeast: 2,
    },
  },
  async run(context) {
    const game = stagHunt({ size: 4, agents: 4, stags: 1, hares: 4 });
    const findings: Partial<Record<Waits, Findings[]>> = {};
    for (const waits of WAITS) {
      findings[waits] = await context.seedLoop(waits, (seed) => findOut(context, game, waits, seed));
      await report(context, game, waits, findings[waits][0]);
    }
    const leaving = await context.seedLoop('leaving', (seed) => checkLeaving(context, game, seed));
    const { kept, sabotaged } = leaving[0];
    context.table('Recall of each action, learned online while co-players leave', [
      recallRow('steps after leaving refused', kept.at(-1)),
      recallRow(
        'kept (sabotage), at its worst',
        sabotaged.reduce((a, b) => (zeros(a) >= zeros(b) ? a : b)),
      ),
      recallRow('kept (sabotage), at the end', sabotaged.at(-1)),
    ]);
    const inSelfPlay = await context.seedLoop('self-play', (seed) => checkSelfPlay(context, game, seed));
    reportSelfPlay(context, game, inSelfPlay[0]);
    return {
      figures: {
        findings: shortened(findings),
        leaving: { kept: kept.at(-1), sabotaged: sabotaged.at(-1) },
        selfPlay: inSelfPlay,
        notes: NOTES,
      },
      bars: {
        ...measured(findings, 'hunt'),
        ...measured(findings, 'stay'),
        leaving_least_recall: Math.min(...leaving.map(({ kept: own }) => leastRecall(own.at(-1)))),
        leaving_sabotaged_zeros: Math.min(...leaving.map(({ sabotaged: own }) => Math.max(...own.map(zeros)))),
        self_play_least_recall: Math.min(...inSelfPlay.flatMap(({ kept: own }) => own.flatMap(foreseenRecalls))),
        self_play_top1: Math.min(...inSelfPlay.map(({ kept: own }) => lateShare(own))),
        self_play_sabotaged_zeros: Math.min(
          ...inSelfPlay.map(({ sabotaged: own }) => {
            return Math.max(...own.map((point) => foreseenRecalls(point).filter((recall) => recall === 0).length));
          }),
        ),
      },
    };
  },
};

/** Without the epochs before the last, which the CSV and NPZ files have. */
function shortened(findings: Partial<Record<Waits, Findings[]>>) {
  const ofModel = ({ epochs, ...rest }: Trained) => ({ ...rest, expected: epochs.at(-1) });
  const ofSeed = ({ models, ...rest }: Findings) => {
    return { ...rest, models: Object.fromEntries(Object.entries(models).map(([knows, own]) => [knows, ofModel(own)])) };
  };
  return Object.fromEntries(Object.entries(findings).map(([waits, seeds]) => [waits, seeds.map(ofSeed)]));
}

function barsOf(waits: Waits): Experiment['bars'] {
  const bars = RECIPES.flatMap(({ knows }) => [
    [`${waits}_${knows}_top1`, { what: `top-1 / best possible, ${knows} known, waits: ${waits}`, atLeast: 0.98 }],
    [`${waits}_${knows}_f1`, { what: `least F1 / best possible's F1 of any action, the same`, atLeast: 0.97 }],
  ]);
  return Object.fromEntries(bars) as Experiment['bars'];
}

function measured(findings: Partial<Record<Waits, Findings[]>>, waits: Waits): Record<string, number> {
  const least = (knows: Knowledge, of: (trained: Trained) => number) =>
    Math.min(...(findings[waits] ?? []).map(({ models }) => of(models[knows])));
  return Object.fromEntries(
    RECIPES.flatMap(({ knows }) => [
      [`${waits}_${knows}_top1`, least(knows, ({ top1Share }) => top1Share)],
      [`${waits}_${knows}_f1`, least(knows, ({ f1Share }) => f1Share)],
    ]),
  );
}

async function findOut(context: Context, game: Game, waits: Waits, seed: number): Promise<Findings> {
  const count = context.isQuick ? 2000 : Number(context.options['samples']);
  const parts = await playEpisodes(game, waits, count, seed);
  const data = splitSamples(game, waits, parts, count);
  const models: Partial<Record<Knowledge, Trained>> = {};
  for (const recipe of RECIPES) {
    const chosen = context.isQuick ? { ...recipe, epochs: 1 } : recipe;
    models[recipe.knows] = await trainModel(game, chosen, data, streamSeed(seed, 'networks'), context.say);
    const { top1Share, f1Share, seconds } = models[recipe.knows] as Trained;
    const shares = `${top1Share.toFixed(4)} of the best top-1, ${f1Share.toFixed(4)} of the best F1`;
    context.say(`waits ${waits}, ${recipe.knows}: ${shares} (${seconds.toFixed(0)} s)`);
  }
  const { optima } = data.heldOut;
  const stateOnly = moaEvaluation({ classes: game.actionNames, scores: optima.stateOnly, labels: optima.present });
  return {
    counts: { learning: rowsOf(data.learning), heldOut: rowsOf(data.heldOut), episodes: data.heldOut.episodes },
    models: models as Record<Knowledge, Trained>,
    presentAtLeast: stateOnly.top1,
  };
}

function rowsOf({ rows }: Samples): number {
  return rows['actions'].shape[0];
}

async function checkLeaving(context: Context, game: Game, seed: number) {
  const updates = context.isQuick ? 2 : Number(context.options['updates']);
  return {
    kept: await learnWhileLeaving(game, 'stay', false, updates, seed),
    sabotaged: await learnWhileLeaving(game, 'stay', true, updates, seed),
  };
}

async function checkSelfPlay(context: Context, game: Game, seed: number) {
  const envSteps = context.isQuick ? 10_240 : Number(context.options['self-play']);
  return {
    kept: await learnInSelfPlay(game, 'default', false, envSteps, seed),
    emptied: await learnInSelfPlay(game, 'emptied', false, envSteps, seed),
    sabotaged: await learnInSelfPlay(game, 'default', true, envSteps, seed),
  };
}

/** The model's recall of each action that is frequent enough to judge, and that knowing the policy foresees often. */
function foreseenRecalls({ model, optimal }: SelfPlayPoint): number[] {
  return model.classes
    .filter(({ count }, k) => count >= FREQUENT && optimal.classes[k].recall >= FORESEEN)
    .map(({ recall }) => recall);
}

function lateShare(points: readonly SelfPlayPoint[]): number {
  const late = points.slice(Math.floor(0.75 * points.length));
  return mean(late.map(({ model, optimal }) => model.top1 / optimal.top1));
}

type InSelfPlay = Readonly<Record<'kept' | 'emptied' | 'sabotaged', readonly SelfPlayPoint[]>>;

function reportSelfPlay(context: Context, game: Game, { kept: points, emptied }: InSelfPlay): void {
  const online = { default: points, emptied };
  context.table(
    'PPO self-play: a model that learns at the same time, by how it learns',
    Object.entries(online).map(([recipe, own]) => ({
      recipe,
      settings: JSON.stringify(ONLINE_RECIPES[recipe as keyof typeof online]),
      'top-1 / best, whole training': mean(own.map(({ model, optimal }) => model.top1 / optimal.top1)),
      'last quarter': lateShare(own),
      'least recall of a foreseen action': Math.min(...own.flatMap(foreseenRecalls)),
    })),
  );
  const shown = points.filter((_, i) => i % Math.ceil(points.length / 6) === 0 || i === points.length - 1);
  context.table(
    "PPO self-play: recall of each action by a model that learns at the same time, and by the policy's own probabilities",
    shown.map(({ envSteps, model, optimal }) => ({
      'environment steps': envSteps,
      'top-1': `${model.top1.toFixed(3)} / ${optimal.top1.toFixed(3)}`,
      ...Object.fromEntries(
        game.actionNames.map((name, k) => [
          name,
          model.classes[k].count > 0
            ? `${model.classes[k].recall.toFixed(2)} / ${optimal.classes[k].recall.toFixed(2)}`
            : '',
        ]),
      ),
    })),
  );
}

async function report(context: Context, game: Game, waits: Waits, { counts, models, presentAtLeast }: Findings) {
  const kinds = RECIPES.map(({ knows }) => knows);
  context.table(
    `Top-1 and top-3 on ${counts.heldOut} held-out samples of ${counts.learning + counts.heldOut}, NearestStag waits: ${waits}. ` +
      `The best of the present state alone lies between ${presentAtLeast.toFixed(4)} and the figure here`,
    [
      ...kinds.map((knows) => {
        const { epochs, optimal, labelled, top1Share } = models[knows];
        return {
          information: knows,
          'top-1': epochs[epochs.length - 1].top1,
          'best top-1': optimal.top1,
          share: top1Share,
          'top-1, as played': labelled.top1,
          'top-3': epochs[epochs.length - 1].top3,
          'balanced accuracy': epochs[epochs.length - 1].balancedAccuracy,
        };
      }),
      { information: 'field notes', 'top-1': NOTES.top1, 'top-3': NOTES.top3 },
    ],
  );
  context.table(`F1 / the best possible predictor's F1, NearestStag waits: ${waits}`, [
    ...kinds.map((knows) => f1Row(game, knows, models[knows])),
    Object.fromEntries([
      ['information', 'field notes'],
      ...game.actionNames.map((name, k) => [name, NOTES.f1[k].toFixed(2)]),
    ]),
  ]);
  for (const knows of kinds) {
    const { epochs, optimal } = models[knows];
    await writeMoaEvaluation(join(context.directory, `moa-${waits}-${knows}`), epochs);
    const figures = await moaFigures(epochs, optimal);
    await context.figure(`${waits}-${knows}-confusion`, figures.confusion);
    await context.figure(`${waits}-${knows}-recall`, figures.recall);
    await context.figure(`${waits}-${knows}-f1`, figures.f1);
    if (knows === 'type') await context.figure(`${waits}-classes`, figures.classes);
  }
}

function f1Row(game: Game, knows: string, { epochs, optimal }: Trained) {
  const last = epochs[epochs.length - 1];
  const cell = (k: number) =>
    optimal.classes[k].count > 0 ? `${last.classes[k].f1.toFixed(3)} / ${optimal.classes[k].f1.toFixed(3)}` : '';
  return Object.fromEntries([['information', knows], ...game.actionNames.map((name, k) => [name, cell(k)])]);
}

function recallRow(label: string, evaluation: MoaEvaluation | undefined) {
  const recalls = evaluation?.classes.map(({ name, recall }) => [name, recall] as const) ?? [];
  return Object.fromEntries([['buffer', label], ...recalls]);
}

function leastRecall(evaluation: MoaEvaluation | undefined): number {
  return Math.min(...occurring(evaluation).map(({ recall }) => recall));
}

/** Actions that occur and are never guessed where they were right. */
function zeros(evaluation: MoaEvaluation): number {
  return occurring(evaluation).filter(({ recall }) => recall === 0).length;
}

function occurring(evaluation: MoaEvaluation | undefined) {
  return evaluation?.classes.filter(({ count }) => count > 0) ?? [];
}
