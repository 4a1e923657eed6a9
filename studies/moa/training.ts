import { createGenerator, type Game } from '@coplay/core';
import { type MoaEvaluation, moaEvaluation } from '@coplay/diagnostics';
import { mlp } from '@coplay/models';
import { createMoa, type MoaLearner } from '@coplay/trainers';
import type { Optima } from './optimum';
import type { Samples } from './samples';
import { turnedRows } from './symmetries';

/** The information that a model may use. */
export type Knowledge = 'type' | 'history' | 'present';

/** How a kind of model is trained. */
export interface Recipe {
  readonly knows: Knowledge;
  readonly hidden: readonly number[];
  /** Units of the GRU; 0 for none */
  readonly recurrent: number;
  readonly minibatchSize: number;
  readonly epochs: number;
  readonly learningRate: number;
}

/** The results of one trained model. */
export interface Trained {
  /** Expected values, by the distributions of the rules; one for each epoch that was evaluated. */
  readonly epochs: readonly MoaEvaluation[];
  /** Evaluated on the players' actions, after training. */
  readonly labelled: MoaEvaluation;
  /** The best possible predictor, where several actions are equally likely the model's choice among them. */
  readonly optimal: MoaEvaluation;
  /** Top-1 of the model / top-1 of the best possible. */
  readonly top1Share: number;
  /** The least, over the actions that occur, of F1 of the model / F1 of the best possible. */
  readonly f1Share: number;
  readonly seconds: number;
}

/** Epochs between evaluations. */
const EVERY = 4;

/** Trains a model of the players on samples, and evaluates it on others. */
export async function trainModel(
  game: Game,
  recipe: Recipe,
  data: { readonly learning: Samples; readonly heldOut: Samples },
  seed: number,
  say: (line: string) => void,
): Promise<Trained> {
  const { knows, recurrent, minibatchSize, epochs, hidden } = recipe;
  const moa = createMoa({
    game,
    id: game.agents[0],
    goals: knows === 'type' ? 'hindsight' : 'none',
    unknownShare: 0,
    centred: true,
    recurrent,
    minibatchSize,
    network: mlp({ hidden, activation: 'relu' }),
  });
  const generator = createGenerator(seed);
  await moa.initialise(generator);
  const coPlayer = game.agents[1]; // all seats see the same from their own place, so one network learns from all
  const evaluated: MoaEvaluation[] = [];
  const start = performance.now();
  const rate = (epoch: number) => recipe.learningRate * (1 - epoch / epochs);
  for (let epoch = 0; epoch < epochs; epoch++) {
    const rows = turnedRows(data.learning.rows, generator); // the same samples, seen from other sides
    const rates = { learningRate: rate(epoch), finalLearningRate: rate(epoch + 1) };
    await moa.pretrain({ [coPlayer]: rows }, { generator, epochs: 1, ...rates });
    const isDue = epoch % EVERY === EVERY - 1 || epoch === epochs - 1;
    if (!isDue) continue;
    const { expected, optimal } = await judge(moa, game, knows, data.heldOut);
    evaluated.push(expected);
    say(
      `  ${knows}, epoch ${epoch + 1} of ${epochs}: top-1 ${expected.top1.toFixed(4)}, best ${optimal.top1.toFixed(4)}`,
    );
  }
  const seconds = (performance.now() - start) / 1000;
  const { expected, labelled, optimal } = await judge(moa, game, knows, data.heldOut);
  moa.dispose();
  const f1Shares = expected.classes.flatMap(({ f1 }, k) =>
    optimal.classes[k].count > 0 ? [f1 / optimal.classes[k].f1] : [],
  );
  return {
    epochs: evaluated,
    labelled,
    optimal,
    top1Share: expected.top1 / optimal.top1,
    f1Share: Math.min(...f1Shares),
    seconds,
  };
}

async function judge(moa: MoaLearner, game: Game, knows: Knowledge, { rows, optima }: Samples) {
  const scores = await moa.predictRows(game.agents[1], rows);
  const actions = rows['actions'].data as Int32Array;
  const best: Float64Array = optima[knows satisfies keyof Optima];
  const classes = game.actionNames;
  return {
    expected: moaEvaluation({ classes, scores, labels: best }),
    labelled: moaEvaluation({ classes, scores, labels: actions }),
    optimal: moaEvaluation({ classes, scores: best, labels: best, tieBreak: scores }),
  };
}
