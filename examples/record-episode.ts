/**
 * An episode on file and on a page: each agent's observations, choices and beliefs about the other, and a learned world
 * model's predictions. One agent of HOP and one of PPO learn together first, and the model learns from their
 * experience.
 *
 * Run it: `npx tsx --conditions=@coplay/source examples/record-episode.ts`, then open runs/record-episode/replay.html.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createGenerator, createRollout, vectorEnv } from '@coplay/core';
import { progress } from '@coplay/diagnostics';
import { readRecording, recordEpisode, replayEpisode, stagHunt, writeRecording } from '@coplay/envs';
import { createWorldModel, hopAgent, planner, ppoAgent, selfPlay, withInsight } from '@coplay/trainers';
import { replayPage } from '@coplay/viewer';

const isQuick = Boolean(process.env['COPLAY_QUICK']);
const directory = 'runs/record-episode';
const game = stagHunt({ size: 4, agents: 2, stags: 1, hares: 2 });

const search = { trees: 1, simulations: 20, exploration: 20, rationality: 12 };
const hop = hopAgent({ game, id: 'agent_0', search, hop: { minibatches: 32, learningRate: 1e-3 } });
const ppo = ppoAgent({ game, id: 'agent_1' });
const run = selfPlay({ game, agents: [hop, ppo], envs: 64, steps: 8, seed: 1, log: [progress()] });
await run.train({ envSteps: isQuick ? 1_024 : 16_384 });

const generator = createGenerator(2);
const played = await createRollout(vectorEnv(game, { envs: 64, seed: 3 }), [hop, ppo], generator).collect(16);
const worldModel = createWorldModel({ game });
await worldModel.initialise(generator);
await worldModel.pretrain(played, { steps: isQuick ? 64 : 512, generator });

// Agents that tell how they choose play as they would without.
const agents = [planner(hop, { trees: 5, simulations: isQuick ? 10 : 50 }), ppo].map((agent) => withInsight(agent));
const simulator = worldModel.simulator({ sample: false }); // the most probable next state, not one of many
const recording = await recordEpisode(game, agents, { seed: 4, observations: true, simulator });

mkdirSync(directory, { recursive: true });
const file = join(directory, 'episode.coplay');
await writeRecording(file, recording);
const read = await readRecording(file);
replayEpisode(game, read); // the same actions lead to the same states, or it throws
writeFileSync(join(directory, 'replay.html'), await replayPage(read, { title: 'HOP and PPO in a stag hunt' }));

const { steps } = read;
const right = steps.filter(({ predicted }, t) => String(predicted?.state) === String(read.frames[t + 1].state)).length;
console.log(`${steps.length} steps, of which the world model foretold ${right} exactly`);
console.log(`${file} and ${directory}/replay.html are written.`);
worldModel.dispose();
run.dispose();
