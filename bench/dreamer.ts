import { type Agent, createGenerator, createRollout, vectorEnv } from '@coplay/core';
import { median } from '@coplay/diagnostics/statistics';
import { cartPole } from '@coplay/envs';
import { executorInfo } from '@coplay/tensor';
import { type DreamerAgentOptions, dreamerAgent } from '@coplay/trainers';
import { type Experiment, timeInTurns } from './harness';

/**
 * A setting, and milliseconds of an update of DreamerV3's own code in it: float32, compiled by XLA, on two idle Zen 4
 * cores.
 */
interface Setting {
  readonly options: Omit<DreamerAgentOptions, 'game' | 'id'>;
  readonly reference: number;
}

const SETTINGS: Readonly<Record<string, Setting>> = {
  nano_8x16: { options: { size: 'nano', batchSize: 8, sequenceLength: 16 }, reference: 24 },
  nano_16x32: { options: { size: 'nano', batchSize: 16, sequenceLength: 32 }, reference: 115 },
  size1m_last_8: { options: { size: 'size1m', starts: 8 }, reference: 169 },
  size1m_all_64: { options: { size: 'size1m' }, reference: 586 },
};

/** Runs of each setting, one after the other, with fresh parameters, replay and graphs. */
const RUNS = 3;

/** How long does an update of Dreamer take: sampling, noise, gradients, optimiser? */
export const bench: Experiment = {
  name: 'dreamer',
  description: 'DreamerV3: milliseconds of a joint update in four sizes, medians of three runs',
  minutes: 12,
  seeds: 1,
  bars: Object.fromEntries(
    Object.entries(SETTINGS).map(([name, { reference }]) => [
      name,
      { what: `${name}: ms of an update, median of ${RUNS} runs (the goal is ${reference / 2})`, atMost: reference },
    ]),
  ),
  async run(context) {
    context.say((await executorInfo()).reason);
    const names = Object.keys(SETTINGS).slice(0, context.isQuick ? 1 : undefined);
    const found: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]));
    for (let run = 1; run <= (context.isQuick ? 1 : RUNS); run++) {
      for (const name of names) {
        const milliseconds = await millisecondsOf(SETTINGS[name], context.isQuick ? 3 : 30);
        found[name].push(milliseconds);
        context.say(`${name}, run ${run}: ${milliseconds.toFixed(1)} ms`);
      }
    }
    context.table(
      'Milliseconds of an update on CartPole: of each run the median update, of the runs the median and the range',
      names.map((setting) => ({
        setting,
        ours: median(found[setting]),
        least: Math.min(...found[setting]),
        greatest: Math.max(...found[setting]),
        "DreamerV3's code, idle": SETTINGS[setting].reference,
      })),
    );
    const medianOf = (name: string) => (found[name] ? median(found[name]) : null);
    return {
      figures: { found },
      bars: Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, medianOf(name)])),
    };
  },
};

/** The median over updates on a replay that was filled once. */
async function millisecondsOf({ options }: Setting, rounds: number): Promise<number> {
  const game = cartPole();
  const agent = dreamerAgent({ game, id: 'agent_0', startAfter: 1_000_000, replayCapacity: 16_384, ...options });
  const { learner } = agent;
  const generator = createGenerator(1);
  await learner.initialise(generator.split(0));
  const rollout = createRollout(
    vectorEnv(game, { envs: 32, seed: 1 }),
    [agent as unknown as Agent],
    generator.split(1),
  );
  await learner.update({ experience: await rollout.collect(128), progress: 0, generator });
  const update = { name: 'update', units: 1, run: async () => void (await learner.train(1, generator)) };
  const [timing] = await timeInTurns([update], rounds);
  learner.dispose();
  return timing.milliseconds;
}
