import { createGenerator, streamSeed } from '@coplay/core';
import { learningCurves } from '@coplay/diagnostics';
import { bootstrap, mean } from '@coplay/diagnostics/statistics';
import { observationsWorldModel } from '@coplay/models';
import { createWorldModel, selfPlay, sharedHopPlusAgents } from '@coplay/trainers';
import type { Context, Experiment, SeedPlace } from '../bench/harness';
import { HORIZON, oneStep, openLoop } from './contrastive/accuracy';
import { dataOf, SETTINGS, type Setting } from './contrastive/settings';

/** The results of one seed, with or without the contrastive loss. */
interface SeedResult {
  /** Share of held-out transitions predicted exactly. */
  readonly oneStep: number;
  /** The same 1..10 steps ahead. */
  readonly openLoop: readonly number[];
  /** At the end of the model's training; null without it. */
  readonly contrastiveLoss: number | null;
  /** Mean return of HOP+ with such a world model, after training. */
  readonly return: number;
}

/** Transitions of a minibatch. */
const BATCH = 128;

/** Does a contrastive loss on its features make the model of observations more accurate, or HOP+ better? */
export const study: Experiment = {
  name: 'contrastive',
  description: 'The model of observations with and without a contrastive loss: accuracy, open loop, return of HOP+',
  minutes: 40,
  seeds: 10,
  options: {
    samples: { what: 'transitions to learn from, and as many held out', default: '6400' },
    steps: { what: 'gradient steps of each model', default: '512' },
    'env-steps': { what: 'environment steps of HOP+', default: '12288' },
    weight: { what: 'weight of the contrastive loss', default: '1' },
  },
  bars: {
    stag_hunt_accuracy: { what: 'stag hunt, without it: mean accuracy one step ahead', atLeast: 0.8 },
    cart_pole_accuracy: { what: 'cart pole, without it: mean accuracy one step ahead', atLeast: 0.9 },
    contrastive_loss: { what: 'greatest contrastive loss after training, over log 128 (equal features)', atMost: 0.8 },
  },
  async run(context) {
    const results: Record<string, Record<'without' | 'with', SeedResult[]>> = {};
    for (const setting of SETTINGS) {
      results[setting.label] = {
        without: await trainAll(context, setting, 0),
        with: await trainAll(context, setting, Number(context.options['weight'])),
      };
    }
    await report(context, results);
    const losses = Object.values(results).flatMap((arms) => arms.with.map(({ contrastiveLoss }) => contrastiveLoss!));
    return {
      figures: { results },
      bars: {
        stag_hunt_accuracy: mean(results['stag hunt'].without.map((seed) => seed.oneStep)),
        cart_pole_accuracy: mean(results['cart pole'].without.map((seed) => seed.oneStep)),
        contrastive_loss: Math.max(...losses) / Math.log(BATCH),
      },
    };
  },
};

function trainAll(context: Context, setting: Setting, weight: number): Promise<SeedResult[]> {
  const label = `${setting.label}, ${weight === 0 ? 'without' : 'with'}`;
  return context.seedLoop(label, async (seed, place) => ({
    ...(await trainModel(context, setting, weight, seed)),
    return: await trainHopPlus(context, setting, weight, seed, place),
  }));
}

const modelOf = (weight: number) => observationsWorldModel(weight === 0 ? {} : { contrastive: { weight } });

/** A world model that learns from a data set. */
async function trainModel(context: Context, setting: Setting, weight: number, seed: number) {
  const number = (name: string, quick: number) => (context.isQuick ? quick : Number(context.options[name]));
  const data = await dataOf(setting, seed, number('samples', 640));
  const learner = createWorldModel({ game: setting.game, model: modelOf(weight), batchSize: BATCH });
  const generator = createGenerator(streamSeed(seed, 'networks'));
  await learner.initialise(generator.fork());
  const steps = number('steps', 64);
  const metrics = await learner.pretrain(data.train, { steps, generator: generator.fork() });
  const judged = {
    oneStep: await oneStep(learner, learner.transitions(data.heldOut)),
    openLoop: await openLoop(learner, data.heldOut),
    contrastiveLoss: metrics['world_model/contrastive_loss'] ?? null,
  };
  learner.dispose();
  return judged;
}

/** The mean return of HOP+ after training; all agents share the policy and the world model. */
async function trainHopPlus(context: Context, setting: Setting, weight: number, seed: number, place: SeedPlace) {
  const { game, policy } = setting;
  const agents = sharedHopPlusAgents({ game, ...policy, omg: false, worldModel: { model: modelOf(weight) } });
  const run = selfPlay({ game, agents, envs: 16, steps: 32, seed, log: [...place.log] });
  await run.train({ envSteps: context.isQuick ? 2048 : Number(context.options['env-steps']) });
  const { mean: earned } = await run.evaluate({ episodes: context.isQuick ? 16 : 200 });
  run.dispose();
  return earned;
}

async function report(context: Context, results: Readonly<Record<string, Record<'without' | 'with', SeedResult[]>>>) {
  const measures: Readonly<Record<string, (seed: SeedResult) => number>> = {
    'accuracy one step ahead': (seed) => seed.oneStep,
    [`accuracy ${HORIZON} steps ahead`]: (seed) => seed.openLoop[HORIZON - 1],
    'return of HOP+': (seed) => seed.return,
  };
  context.table(
    'With and without the contrastive loss: means over seeds, and of the differences between equal seeds',
    Object.entries(results).flatMap(([game, arms]) => {
      return Object.entries(measures).map(([measure, read]) => {
        const [plain, contrastive] = [arms.without.map(read), arms.with.map(read)];
        const gain = bootstrap(contrastive.map((value, i) => value - plain[i]));
        const verdict = gain.lower > 0 ? 'yes' : gain.upper < 0 ? 'no, it harms' : 'no';
        return { game, measure, without: bootstrap(plain), with: bootstrap(contrastive), gain, helps: verdict };
      });
    }),
  );
  const curves = Object.entries(results).flatMap(([game, arms]) => {
    return Object.entries(arms).map(([arm, seeds]) => {
      const steps = seeds[0].openLoop.map((_, ahead) => ahead + 1);
      return [`${game}, ${arm}`, seeds.map((seed) => ({ steps, values: [...seed.openLoop] }))] as const;
    });
  });
  const options = {
    title: 'Open loop with the true actions, with and without a contrastive loss',
    x: 'steps ahead',
    y: 'share predicted exactly',
  };
  await context.figure('open-loop', await learningCurves(Object.fromEntries(curves), options));
}
