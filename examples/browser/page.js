/** The page's script: four agents learn the Markov Stag Hunt where it is read. `?steps=20000` for a shorter training. */
import { recordEpisode, renderReplay, stagHunt } from '@coplay/envs';
import { useOnnxWeb } from '@coplay/tensor';
import { ppoAgent, ppoPresets, selfPlay } from '@coplay/trainers';
import * as ort from 'onnxruntime-web/wasm';

const [progress, replay, stop] = ['progress', 'replay', 'stop'].map((id) => document.getElementById(id));
const envSteps = Number(new URLSearchParams(location.search).get('steps') ?? 150_000);

// Without this line the same code runs operation by operation on tfjs, slower.
const { reason } = await useOnnxWeb(ort, { wasmPaths: new URL('ort/', location.href).href });
progress.textContent = `${reason}\n`;

/** Shows the figures of an update. */
const log = {
  start() {},
  write({ envSteps: done, metrics }) {
    const mean = metrics['episode/return_mean']?.toFixed(2) ?? '-';
    const speed = metrics['time/steps_per_second'].toFixed(0);
    progress.textContent = `${reason}\n${done} steps of ${envSteps}, mean return ${mean}, ${speed} steps/s\n`;
  },
  close() {},
};

const game = stagHunt({ size: 4, agents: 4, stags: 1, hares: 4 });
const run = selfPlay({
  game,
  agents: game.agents.map((id) => ppoAgent({ game, id, ppo: ppoPresets.stagHunt })),
  envs: 32,
  steps: 32,
  seed: 1,
  log: [log],
});
const controller = new AbortController();
stop.addEventListener('click', () => controller.abort());
await run.train({ envSteps, signal: controller.signal });
stop.disabled = true;

const { mean, episodes } = await run.evaluate({ episodes: 100 });
progress.textContent += `Evaluation: ${episodes} new episodes, mean return ${mean.toFixed(2)}\n`;
replay.textContent = renderReplay(await recordEpisode(game, run.agents, { seed: 1 }), { color: false });
