import { moaRows, splitEpisodes } from '@coplay/buffers';
import {
  createGenerator,
  createRollout,
  type Experience,
  type Game,
  type NamedArrays,
  ndarray,
  streamSeed,
  vectorEnv,
} from '@coplay/core';
import { type MoaEvaluation, moaEvaluation } from '@coplay/diagnostics';
import { createMoa, type MoaLearner } from '@coplay/trainers';
import { STAY, type Waits } from './rules';
import { mixedPlayers } from './samples';

/**
 * Models that learn while their co-players play and leave. With `sabotaged` they're fed the steps after a co-player
 * left too, as if it had been there and had stayed, without masks: what field implementations did.
 *
 * @returns the evaluation of the first co-player's model on episodes that it never learned from, after each update
 */
export async function learnWhileLeaving(
  game: Game,
  waits: Waits,
  sabotaged: boolean,
  updates: number,
  seed: number,
): Promise<MoaEvaluation[]> {
  const rolloutFor = (purpose: string, envs: number) => {
    const env = vectorEnv(game, { envs, seed: streamSeed(seed, `${purpose}/env`) });
    const generator = createGenerator(streamSeed(seed, `${purpose}/agents`));
    return createRollout(env, mixedPlayers(game, waits), generator);
  };
  const rollout = rolloutFor('train', 32);
  const [id, coPlayer] = game.agents;
  const moa = createMoa({ game, id, minRows: 1, goals: 'none' });
  const generator = createGenerator(streamSeed(seed, 'train/learners'));
  await moa.initialise(generator);
  const unseen = await rolloutFor('evaluate', 64).collect(105);
  const rows = moaRows(unseen, 1);
  const history: MoaEvaluation[] = [];
  for (let update = 0; update < updates; update++) {
    const experience = await rollout.collect(32);
    if (sabotaged) feedEverything(moa, experience);
    else moa.push(experience);
    await moa.update(generator);
    history.push(await evaluate(moa, game, coPlayer, rows));
  }
  moa.dispose();
  return history;
}

async function evaluate(moa: MoaLearner, game: Game, coPlayer: string, rows: NamedArrays): Promise<MoaEvaluation> {
  const scores = await moa.predictRows(coPlayer, rows);
  return moaEvaluation({ classes: game.actionNames, scores, labels: rows['actions'].data as Int32Array });
}

/**
 * Steps after an agent left, called steps in which it played and stayed: the buffer can't tell, because it is lied to.
 */
export function feedEverything(moa: MoaLearner, experience: Experience): void {
  const { active, actions, masks } = experience;
  const lie: Experience = {
    ...experience,
    active: active.map((_, i) => (isFilled(experience, i) ? 1 : 0)),
    actions: actions.map((action, i) => (active[i] === 1 ? action : STAY)),
    masks: masks.map(() => 1),
    terminated: new Uint8Array(active.length),
  };
  const episodes = splitEpisodes(lie);
  for (const coPlayer of moa.coPlayers) {
    const rows = moaRows(episodes, experience.agents.indexOf(coPlayer));
    moa.buffer.pushRows(coPlayer, { ...rows, goals: ndarray(new Int32Array(rows['actions'].data.length).fill(-1)) });
  }
}

function isFilled({ agents, steps, lengths }: Experience, i: number): boolean {
  const row = Math.floor(i / agents.length);
  return row % steps < lengths[Math.floor(row / steps)];
}
