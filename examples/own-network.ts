/**
 * A network of your own: `npx tsx --conditions=@coplay/source examples/own-network.ts`
 *
 * Wherever a network is asked for, a `tf.LayersModel` will do. Here it's one of a convolution and a dense layer on the
 * board of bsuite's Catch. The head that chooses actions, the critic and the optimiser are added for you.
 */
import { catchGame } from '@coplay/envs';
import { layersModel } from '@coplay/models';
import { useBackend } from '@coplay/tensor';
import { ppoAgent, selfPlay } from '@coplay/trainers';
import * as layers from '@tensorflow/tfjs-layers';

// A LayersModel holds tensors from the start, so it needs to know which backend will compute.
await useBackend();

const game = catchGame();
const [id] = game.agents;

/**
 * Called once for each network that's made, with the size of all it reads. The seeds make its first weights repeatable;
 * without them no two runs are equal.
 */
const network = layersModel((_shapes, flatSize) => {
  const { conv2d, dense, flatten, reshape } = layers.layers;
  const seeded = (seed: number) => layers.initializers.heNormal({ seed });
  return layers.sequential({
    layers: [
      reshape({ inputShape: [flatSize], targetShape: [...game.observation['planes'].shape] }),
      conv2d({ filters: 8, kernelSize: 3, activation: 'relu', kernelInitializer: seeded(1) }),
      flatten(),
      dense({ units: 64, activation: 'relu', kernelInitializer: seeded(2) }),
    ],
  });
});

const agents = [ppoAgent({ game, id, network, ppo: { learningRate: 2e-3, entropyWeight: 0 } })];
const run = selfPlay({ game, agents, envs: 16, seed: 1 });
for (const envSteps of process.env['COPLAY_QUICK'] ? [1_024] : [10_000, 20_000, 30_000]) {
  await run.train({ envSteps });
  const { mean } = await run.evaluate({ episodes: 100 });
  console.log(`After ${run.envSteps} steps it earns ${mean.toFixed(2)} (a miss is -1, a catch 1)`);
}
run.dispose();
