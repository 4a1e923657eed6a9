import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Agent } from '@coplay/core';
import { createGenerator } from '@coplay/core';
import { tf, useBackend } from '@coplay/tensor';
import { useThreads } from '@coplay/tensor/threads';
import { dreamerAgent, selfPlay } from '@coplay/trainers';
import { beforeAll, describe, expect, it } from 'vitest';
import { countGame } from './count-game';

const small = { size: 'debug', batchSize: 2, sequenceLength: 4, horizon: 3 } as const;
/** Above any capacity: nothing is trained on by itself. */
const BY_HAND = 1e6;

beforeAll(async () => {
  await useBackend('wasm');
  useThreads(1); // no trials
});

/** Bytes of arrays that are held, garbage collected; V8 frees their memory a moment after it has let go of them. */
async function arrayBytes(): Promise<number> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  collect();
  await new Promise((resolve) => setTimeout(resolve, 50));
  collect();
  return process.memoryUsage().arrayBuffers;
}

// Number 9 of dreamer-regressions.test.ts, in a process of its own, since it measures the process.
describe('9: memory', () => {
  it.each([
    ['onnx', 150],
    ['eager', 10],
  ] as const)(
    'is flat on %s over %i updates: tensors, their bytes, arrays of the process',
    { tags: ['slow'] },
    async (executor, updates) => {
      const game = countGame();
      const before = tf.memory().numTensors;
      const agent = dreamerAgent({ ...small, game, id: 'agent_0', executor, startAfter: BY_HAND, replayCapacity: 200 });
      const run = selfPlay({ game, agents: [agent as Agent], envs: 1, steps: 10, seed: 1 });
      await run.train({ envSteps: 40 });
      const generator = createGenerator(2);
      const held = () => {
        const { numTensors, numDataBuffers, numBytes } = tf.memory();
        return { numTensors, numDataBuffers, numBytes, dataIds: tf.engine().backend.numDataIds() };
      };
      await agent.learner.train(10, generator); // compiled, pools filled
      const start = held();
      const arrays = await arrayBytes();
      await agent.learner.train(updates, generator);
      expect(held()).toEqual(start);
      // Inputs of an update are 620 bytes: kept, those of 150 updates would be 93 kB.
      expect((await arrayBytes()) - arrays).toBeLessThan(20_000);
      run.dispose();
      expect(tf.memory().numTensors).toBe(before);
    },
  );
});
