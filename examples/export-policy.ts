/**
 * A trained agent as an ONNX file, played by ONNX Runtime without Coplay:
 * `npx tsx --conditions=@coplay/source examples/export-policy.ts`
 *
 * The game is bsuite's Catch. The file's inputs are the agent's observations as the game writes them, any number of
 * rows; encoding is part of it.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vectorEnv } from '@coplay/core';
import { catchGame } from '@coplay/envs';
import { mlp } from '@coplay/models';
import { argmaxRows } from '@coplay/tensor/distributions';
import { exportOnnx, ppoAgent, selfPlay } from '@coplay/trainers';
import { InferenceSession, Tensor } from 'onnxruntime-node';

const game = catchGame();
const agent = ppoAgent({
  game,
  id: game.agents[0],
  network: mlp({ hidden: [64] }),
  ppo: { learningRate: 2e-3, entropyWeight: 0 },
});
const run = selfPlay({ game, agents: [agent], envs: 16, seed: 1 });
await run.train({ envSteps: process.env['COPLAY_QUICK'] ? 1_024 : 30_000 });

const file = join(mkdtempSync(join(tmpdir(), 'coplay-')), 'catch.onnx');
const exported = await exportOnnx(agent, file, { value: true });
console.log(`${file}: ${exported.operations} operations, ${exported.size} bytes`);
console.table({ ...exported.inputs, ...exported.outputs });
run.dispose();

// From here on the file is all there is of the agent.
const EPISODES = 100;
const session = await InferenceSession.create(file);
const env = vectorEnv(game, { envs: EPISODES, seed: 2 });
const { shape } = game.observation['planes'];
let total = 0;
for (let step = 0; step < game.maxSteps && !env.ended.includes(1); step++) {
  const { logProbs } = await session.run({
    planes: new Tensor('uint8', env.observations['planes'] as Uint8Array, [EPISODES, ...shape]),
    mask: new Tensor('uint8', env.masks, [EPISODES, game.actions]),
  });
  env.step(argmaxRows(logProbs.data as Float32Array, EPISODES, game.actions));
  total += env.result.rewards.reduce((sum, reward) => sum + reward, 0);
}
console.log(
  `${EPISODES} episodes by ONNX Runtime alone: ${(total / EPISODES).toFixed(2)} on average (a miss is -1, a catch 1)`,
);
console.log(`
In Python:
  session = onnxruntime.InferenceSession('catch.onnx')
  print(session.get_modelmeta().custom_metadata_map['coplay.actions'])
  [log_probs] = session.run(['logProbs'], {'planes': planes, 'mask': mask})`);
