/**
 * Trains for ten minutes and watches memory: the tensor count and the resident memory must be flat. Not part of `npm test`.
 *
 *   npm run soak                     10 minutes
 *   npm run soak -- --minutes 2
 */
import { parseArgs } from 'node:util';
import { stagHunt } from '@coplay/envs';
import { executorInfo, tf, useBackend } from '@coplay/tensor';
import { interruptSignal, pastSelves, ppoAgent, ppoPresets, selfPlay } from '@coplay/trainers';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } });
const milliseconds = Number(values.minutes) * 60_000;
await useBackend('auto'); // tensors are counted
console.log(`${(await executorInfo()).reason}; ${values.minutes} minutes`);

const game = stagHunt({ size: 4, agents: 4, stags: 1, hares: 4 });
const ppo = ppoPresets.stagHunt;
const first = ppoAgent({ game, id: 'agent_0', ppo });
const samples: { readonly minute: number; readonly tensors: number; readonly megabytes: number }[] = [];
const stop = new AbortController();
interruptSignal(() => stop.abort());
const start = performance.now();

/** Notes memory about forty times, and stops when the time is over. */
function watch(): void {
  const elapsed = performance.now() - start;
  if (elapsed >= (samples.length * milliseconds) / 40) {
    globalThis.gc?.();
    const sample = {
      minute: elapsed / 60_000,
      tensors: tf.memory().numTensors,
      megabytes: process.memoryUsage.rss() / 2 ** 20,
    };
    samples.push(sample);
    console.log(`${sample.minute.toFixed(2)} min  ${sample.tensors} tensors  ${sample.megabytes.toFixed(0)} MB`);
  }
  if (elapsed >= milliseconds) stop.abort();
}

const run = selfPlay({
  game,
  agents: [
    first,
    ppoAgent({ game, id: 'agent_1', ppo, recurrent: 16 }),
    ppoAgent({ game, id: 'agent_2', ppo, critic: 'joint' }),
    pastSelves({ id: 'agent_3', of: first, every: 5, size: 3 }),
  ],
  seed: 1,
  onRollout: watch,
});
await run.train({ envSteps: Number.MAX_SAFE_INTEGER, signal: stop.signal });

// The first quarter warms up: the pool fills, the compiler settles. From then on the halves must agree.
const steady = samples.slice(Math.ceil(samples.length / 4));
const half = Math.floor(steady.length / 2);
const meanOf = (part: typeof steady) => part.reduce((sum, sample) => sum + sample.megabytes, 0) / part.length;
const growth = meanOf(steady.slice(half)) - meanOf(steady.slice(0, half));
const tensors = new Set(steady.map((sample) => sample.tensors));
const isFlat = growth < 20 && tensors.size === 1;
console.log(
  `${run.updates} updates; tensors ${[...tensors].join(', ')}; resident memory grew by ${growth.toFixed(1)} MB between the halves`,
);
console.log(isFlat ? 'flat' : 'NOT FLAT: something is kept');
process.exitCode = isFlat ? 0 : 1;
