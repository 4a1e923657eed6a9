import {
  createGenerator,
  createRollout,
  type Experience,
  type Game,
  type Metrics,
  type NamedArrays,
  type SavedState,
  vectorEnv,
} from '@coplay/core';
import { mlp, type TorsoBuilder } from '@coplay/models';
import { denseLayer, torsoBuilder } from '@coplay/models/layers';
import { tf } from '@coplay/tensor';
import {
  type PpoAgent,
  type PpoOptions,
  ppoAgent,
  type SelfPlayOptions,
  selfPlay,
  sharedPpoAgents,
} from '@coplay/trainers';
import { expect } from 'vitest';

// What the trials of bugs that other projects had share.

/** A network that is quickly made. */
export const network = mlp({ hidden: [8] });

/** A dense layer whose features are multiplied by a number that its config doesn't say. */
export function ownNetwork(gain: number, config: Record<string, unknown> = { kind: 'own' }): TorsoBuilder {
  return torsoBuilder(config, (shapes) => {
    const sizes = Object.values(shapes).map((shape) => shape.reduce((a, b) => a * b, 1));
    const layer = denseLayer({ inputSize: sizes.reduce((a, b) => a + b, 0), outputSize: 4 });
    const flat = (x: tf.Tensor) => tf.reshape(x, [x.shape[0], -1]);
    return {
      outputSize: 4,
      init: layer.init,
      apply: (params, inputs) => {
        const x = tf.concat(Object.values(inputs).map(flat), 1) as tf.Tensor2D;
        return tf.mul(gain, tf.tanh(tf.add(1, layer.apply(params, x)))) as tf.Tensor2D;
      },
    };
  });
}

/** The step after which an agent leaves that stays. */
export const NEVER = Infinity;

/** Runs self-play and returns what was logged, update by update. */
export async function trained(options: SelfPlayOptions, envSteps: number): Promise<Metrics[]> {
  const entries: Metrics[] = [];
  const log = {
    start: () => {},
    close: () => {},
    write: ({ metrics }: { metrics: Metrics }) => void entries.push(metrics),
  };
  const run = selfPlay({ ...options, log: [log] });
  await run.train({ envSteps });
  run.dispose();
  return entries;
}

export function expectFinite(metrics: Metrics): void {
  for (const [key, value] of Object.entries(metrics)) expect(Number.isFinite(value), `${key} = ${value}`).toBe(true);
}

/** Plays a rollout with the agents as they are; those of one learner begin with its first parameters. */
export async function collected(
  game: Game,
  agents: readonly PpoAgent[],
  envs: number,
  steps: number,
): Promise<Experience> {
  await prepare(agents);
  return createRollout(vectorEnv(game, { envs, seed: 3 }), agents, createGenerator(4)).collect(steps);
}

/** First parameters, with a policy far from uniform: a row that meets another row's numbers then shows. */
export async function prepare(agents: readonly PpoAgent[]): Promise<void> {
  for (const learner of new Set(agents.map((agent) => agent.learner))) {
    await learner.initialise(createGenerator(5));
    await changeParameter(learner, 'actor/head/kernel', 100);
  }
}

/** Multiplies a parameter by a factor; returns all of them as they are then. */
export async function changeParameter(
  learner: PpoAgent['learner'],
  name: string,
  factor: number,
): Promise<NamedArrays> {
  const saved = await learner.state();
  const params = saved['params'] as unknown as NamedArrays;
  const { data, shape } = params[name];
  const changed = { ...params, [name]: { data: data.map((weight) => factor * weight), shape } };
  await learner.restore({ ...saved, params: changed as unknown as SavedState });
  return changed;
}

/** One update of the learner of the first agent. */
export function updated(agents: readonly PpoAgent[], experience: Experience): Promise<Metrics> {
  return agents[0].learner.update({ experience, progress: 0, generator: createGenerator(6) });
}

/** Line-ups of PPO agents for every seat. */
export const kinds = [
  {
    name: 'own weights',
    make: (game: Game, ppo: PpoOptions) => game.agents.map((id) => ppoAgent({ game, id, network, ppo })),
  },
  { name: 'shared weights', make: (game: Game, ppo: PpoOptions) => sharedPpoAgents({ game, network, ppo }) },
  {
    name: 'a recurrent network',
    make: (game: Game, ppo: PpoOptions) => game.agents.map((id) => ppoAgent({ game, id, network, ppo, recurrent: 4 })),
  },
  {
    name: 'a recurrent network, shared, with ValueNorm',
    make: (game: Game, ppo: PpoOptions) =>
      sharedPpoAgents({ game, network, recurrent: 4, ppo: { ...ppo, normaliseValues: true } }),
  },
];
