import { join } from 'node:path';
import { createGenerator, streamSeed } from '@coplay/core';
import { writeWhole } from '@coplay/core/node';
import { gatherRows } from '@coplay/core/rows';
import { learningCurves } from '@coplay/diagnostics';
import type { Curve } from '@coplay/diagnostics/statistics';
import {
  type OpenLoopErrors,
  planesFigure,
  truePlanes,
  type WorldModelReport,
  worldModelCsv,
  worldModelReport,
  worldModelTable,
} from '@coplay/diagnostics/world-model';
import { stagHunt } from '@coplay/envs';
import { cellsWorldModel, planesWorldModel } from '@coplay/models';
import { createWorldModel, type WorldModelLearner } from '@coplay/trainers';
import type { Context, Experiment } from '../bench/harness';
import { openLoop } from './world-model/open-loop';
import { channelsOf, dataOf, NOTES, type Setting } from './world-model/setting';

/** The results of one seed. */
interface SeedResult {
  readonly report: WorldModelReport;
  readonly openLoop: readonly OpenLoopErrors[];
  readonly loss: Curve;
  readonly seconds: number;
}

/** Steps that the open loop is judged over. */
const HORIZON = 35;

/** Does the world model predict the stag hunt, and better than a model of pixels? */
export const study: Experiment = {
  name: 'world-model',
  description: 'World models of the stag hunt on held-out play of rule-based agents: cells and pixels, 4x4 and 8x8',
  minutes: 25,
  seeds: 2,
  options: {
    samples: { what: 'transitions to learn from, and as many held out', default: '50000' },
    steps: { what: 'gradient steps of the cells model on 4x4', default: '3072' },
    'large-steps': { what: 'gradient steps of the cells model on 8x8', default: '2048' },
    'planes-steps': { what: 'gradient steps of the pixel model', default: '6144' },
  },
  bars: {
    exact: { what: 'cells 4x4: transitions predicted exactly, worst seed', atLeast: 0.999 },
    illegal_moves: { what: 'cells 4x4: share of predicted moves that cannot be', atMost: 0 },
    reward_mse: { what: 'cells 4x4: reward MSE (notes: 0.0012)', atMost: 1e-4 },
    observation_mse: { what: 'cells 4x4: observation MSE (notes: 0.0074)', atMost: 3e-5 },
    psnr: { what: 'cells 4x4: pooled PSNR in dB (notes: 24.08)', atLeast: 45 },
    open_loop_exact: { what: 'cells 4x4: share exact in the worst of 35 open-loop steps', atLeast: 0.99 },
    large_exact: { what: 'cells 8x8 with obstacles: transitions predicted exactly', atLeast: 0.999 },
    large_illegal_moves: { what: 'cells 8x8 with obstacles: share of predicted moves that cannot be', atMost: 0 },
    large_open_loop_exact: { what: 'cells 8x8: share exact in the worst of 35 open-loop steps', atLeast: 0.99 },
    planes_beside_notes: { what: 'pixels 4x4: greatest ratio of an error to that of the notes', atMost: 1 },
  },
  async run(context) {
    const { isQuick, options } = context;
    const small = stagHunt({ size: 4, agents: 4, stags: 1, hares: 4 });
    const large = stagHunt({ size: 8, agents: 4, stags: 1, hares: 4 });
    const steps = (name: string) => (isQuick ? 64 : Number(options[name]));
    const settings: Setting[] = [
      { label: 'cells 4x4', game: small, model: cellsWorldModel(), steps: steps('steps'), learningRate: 0.01 },
      { label: 'cells 8x8', game: large, model: cellsWorldModel(), steps: steps('large-steps'), learningRate: 0.01 },
      {
        label: 'pixels 4x4',
        game: small,
        model: planesWorldModel(),
        steps: steps('planes-steps'),
        learningRate: 0.004,
      },
    ];
    const results: Record<string, SeedResult[]> = {};
    for (const setting of settings) results[setting.label] = await trainAll(context, setting);
    return report(context, results);
  },
};

function trainAll(context: Context, setting: Setting): Promise<SeedResult[]> {
  const samples = context.isQuick ? 1000 : Number(context.options['samples']);
  return context.seedLoop(setting.label, async (seed) => {
    const { game, model, steps, learningRate } = setting;
    const data = await dataOf(game, seed, samples);
    const learner = createWorldModel({ game, model, learningRate });
    const generator = createGenerator(streamSeed(seed, 'networks'));
    await learner.initialise(generator.fork());
    const loss = { steps: [] as number[], values: [] as number[] };
    const start = performance.now();
    await learner.pretrain(data.train, {
      steps,
      generator: generator.fork(),
      onProgress: (done, metrics) => {
        loss.steps.push(done);
        loss.values.push(metrics['world_model/loss']);
        if (done % 512 === 0)
          context.say(`  ${done} of ${steps} steps, loss ${metrics['world_model/loss'].toExponential(2)}`);
      },
    });
    const seconds = (performance.now() - start) / 1000;
    const judged = await judge(context, learner, learner.transitions(data.heldOut), `${setting.label} seed ${seed}`);
    const steps35 = await openLoop(learner, data.heldOut);
    learner.dispose();
    return { report: judged, openLoop: steps35, loss, seconds };
  });
}

/** Every figure on held-out transitions; of the first seed also pictures of its predictions. */
async function judge(
  context: Context,
  learner: WorldModelLearner,
  rows: ReturnType<WorldModelLearner['transitions']>,
  label: string,
): Promise<WorldModelReport> {
  const { happened, planes } = await learner.predict(rows);
  if (!planes) throw new Error(`The model ${learner.model.kind} has no planes`);
  const channels = channelsOf(learner.model.game);
  if (label.endsWith('seed 1')) {
    const busy = mostEvents(rows['rewards'].data, learner.model.game.agents.length);
    const predicted = gatherRows({ planes }, [busy])['planes'];
    const actual = truePlanes(gatherRows(rows, [busy]), predicted.shape);
    const title = `${label}: a held-out step in which much happens`;
    const suffix = label.replaceAll(' ', '-').replace('-seed-1', '');
    await context.figure(suffix, await planesFigure({ channels, predicted, actual }, 0, { title }));
  }
  return worldModelReport({ channels, planes, happened, rows });
}

/** The transition in which the most agents are paid. */
function mostEvents(rewards: ArrayLike<number>, agents: number): number {
  let [best, most] = [0, 0];
  for (let row = 0; row * agents < rewards.length; row++) {
    let paid = 0;
    for (let i = 0; i < agents; i++) if (rewards[row * agents + i] !== 0) paid++;
    if (paid > most) [best, most] = [row, paid];
  }
  return best;
}

async function report(context: Context, results: Record<string, SeedResult[]>) {
  const reports = Object.fromEntries(
    Object.entries(results).flatMap(([label, seeds]) =>
      seeds.map((seed, i): [string, Partial<WorldModelReport>] => [`${label}, seed ${i + 1}`, seed.report]),
    ),
  );
  const columns = { 'notes (pixels 4x4)': NOTES, ...reports };
  context.table('Held-out transitions', worldModelTable(columns));
  await writeWhole(join(context.directory, 'world-model.csv'), worldModelCsv(columns), { makeFolder: true });
  context.table(
    'Open loop: share of episodes whose state is exact after so many steps, mean over seeds',
    [1, 2, 5, 10, 20, HORIZON].map((step) => ({
      step,
      ...Object.fromEntries(Object.entries(results).map(([label, seeds]) => [label, exactAt(seeds, step)])),
    })),
  );
  context.table(
    'Training',
    Object.entries(results).map(([setting, seeds]) => ({
      setting,
      seeds: seeds.length,
      'last loss': seeds[0].loss.values.at(-1),
      'minutes a seed': seeds.reduce((sum, { seconds }) => sum + seconds, 0) / seeds.length / 60,
    })),
  );
  const calibrated = results['cells 4x4'][0].report.calibration;
  context.table(
    'Calibration of the cells model, 4x4, seed 1: where agents go',
    calibrated.bins.filter(({ count }) => count > 0),
  );
  await drawCurves(context, results);
  return { figures: { results }, bars: barsOf(results) };
}

async function drawCurves(context: Context, results: Record<string, SeedResult[]>): Promise<void> {
  const curves = Object.fromEntries(
    Object.entries(results).map(([label, seeds]) => [
      label,
      seeds.map((seed) => ({
        steps: seed.openLoop.map(({ step }) => step),
        values: seed.openLoop.map(({ exact }) => exact),
      })),
    ]),
  );
  const options = {
    title: 'Open loop with the true actions',
    x: 'steps ahead',
    y: 'share of states predicted exactly',
  };
  await context.figure('open-loop', await learningCurves(curves, options));
}

/** Mean over the seeds that have such a step. */
function exactAt(seeds: readonly SeedResult[], step: number): number | undefined {
  const shares = seeds.flatMap(({ openLoop: steps }) =>
    steps.filter((row) => row.step === step).map(({ exact }) => exact),
  );
  return shares.length === 0 ? undefined : shares.reduce((sum, share) => sum + share, 0) / shares.length;
}

/** The worst seed of each figure. */
function barsOf(results: Record<string, SeedResult[]>): Record<string, number> {
  const of = (label: string, read: (report: WorldModelReport) => number) =>
    results[label].map((seed) => read(seed.report));
  const worstStep = (label: string) =>
    Math.min(...results[label].flatMap(({ openLoop: steps }) => steps.slice(0, HORIZON).map(({ exact }) => exact)));
  return {
    exact: Math.min(...of('cells 4x4', ({ exact }) => exact)),
    illegal_moves: Math.max(...of('cells 4x4', ({ illegalMoveRate }) => illegalMoveRate)),
    reward_mse: Math.max(...of('cells 4x4', ({ rewardMse }) => rewardMse)),
    observation_mse: Math.max(...of('cells 4x4', ({ observationMse }) => observationMse)),
    psnr: Math.min(...of('cells 4x4', ({ psnrPooled }) => psnrPooled)),
    open_loop_exact: worstStep('cells 4x4'),
    large_exact: Math.min(...of('cells 8x8', ({ exact }) => exact)),
    large_illegal_moves: Math.max(...of('cells 8x8', ({ illegalMoveRate }) => illegalMoveRate)),
    large_open_loop_exact: worstStep('cells 8x8'),
    planes_beside_notes: Math.max(...of('pixels 4x4', besideNotes)),
  };
}

/** The greatest ratio of an error to the notes' own; of PSNR the worse of the two means counts, the other way round. */
function besideNotes({ observationMse, psnrMean, psnrPooled, rewardMse, channelMse }: WorldModelReport): number {
  const channels = Object.entries(NOTES.channelMse).map(([name, mse]) => channelMse[name] / mse);
  const decibels = NOTES.psnrMean / Math.min(psnrMean, psnrPooled);
  return Math.max(observationMse / NOTES.observationMse, rewardMse / NOTES.rewardMse, decibels, ...channels);
}
