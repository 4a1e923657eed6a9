/**
 * A learning algorithm of your own: REINFORCE (Williams 1992) from public parts, two agents in the matrix stag hunt.
 *
 * Run it: `npx tsx --conditions=@coplay/source examples/own-learner.ts`
 *
 * A learner makes parameters (`initialise`), learns from each rollout (`update`), and is saved and restored (`state`,
 * `restore`). `lockstep` is optional: with it, the calls of both agents in the same turn become one call of one graph.
 */
import { isDeepStrictEqual } from 'node:util';
import {
  type AgentId,
  type Experience,
  type Game,
  type Generator,
  type Metrics,
  monteCarloReturns,
  type NamedArrays,
  ndarray,
  type SavedState,
} from '@coplay/core';
import { mean, seatRows } from '@coplay/core/rows';
import { matrixGame } from '@coplay/envs';
import { actingRows, experienceRows, inputEncoder, mlp } from '@coplay/models';
import { denseLayer, prefixed, within } from '@coplay/models/layers';
import {
  adam,
  type Compiled,
  compileTogether,
  type StepFunction,
  stackVariables,
  type TensorRecord,
  tf,
  type Variables,
  valueAndGradients,
  variables,
} from '@coplay/tensor';
import { logProbOf, maskedLogProbs, sampleCategorical } from '@coplay/tensor/distributions';
import { type Learner, type LearnerData, type LearningAgent, type Lockstep, selfPlay } from '@coplay/trainers';

const GAMMA = 0.9;
const LEARNING_RATE = 0.02;

/** Parameters, the optimiser's memory, and the functions over them. */
interface Network {
  readonly params: Variables;
  readonly slots: Variables;
  act: Compiled;
  train: Compiled;
}

class Reinforce implements Learner {
  readonly name: string;
  readonly ids: readonly AgentId[];
  readonly config = { algorithm: 'reinforce', gamma: GAMMA, learningRate: LEARNING_RATE };
  updates = 0;
  private readonly encoder;
  private readonly body;
  private readonly head;
  private readonly optimiser = adam();
  private network: Network | undefined;

  constructor(
    readonly game: Game,
    readonly id: AgentId,
  ) {
    this.name = id;
    this.ids = [id];
    this.encoder = inputEncoder(game);
    this.body = mlp({ hidden: [32] })(this.encoder.shapes); // reads all inputs, in any game
    this.head = denseLayer({ inputSize: this.body.outputSize, outputSize: game.actions, gain: 0.01 }); // logits
  }

  /** log pi(. | observation) [B, K] */
  private logProbs(params: TensorRecord, { masks, ...inputs }: TensorRecord): tf.Tensor {
    const features = this.body.apply(within('body', params), inputs);
    return maskedLogProbs(this.head.apply(within('head', params), features), masks);
  }

  private readonly actStep: StepFunction<'params'> = ({ params }, inputs) => {
    return { outputs: { logProbs: this.logProbs(params, inputs) } };
  };

  /** One gradient step on -mean(advantage log pi(action)), over rows in which the agent plays. */
  private readonly trainStep: StepFunction<'params' | 'slots'> = (
    state,
    { actions, advantages, active, ...inputs },
  ) => {
    const { loss, gradients } = valueAndGradients((params) => {
      const taken = logProbOf(this.logProbs(params, inputs), actions); // [B]
      const sum = tf.sum(tf.mul(advantages, taken)); // advantages are 0 where the agent has left
      return { loss: tf.neg(tf.div(sum, tf.maximum(tf.sum(active), 1))) as tf.Scalar, metrics: {} };
    }, state.params);
    const { params, slots } = this.optimiser.update(gradients, state.slots, state.params, LEARNING_RATE);
    return { state: { params, slots }, outputs: { loss } };
  };

  /** Gives learners functions over their own parameters, which run in one graph where they are called together. */
  private join(learners: readonly Reinforce[]): void {
    const networks = learners.map((learner) => learner.running);
    const params = stackVariables(networks.map((network) => network.params));
    const slots = stackVariables(networks.map((network) => network.slots));
    const acts = compileTogether(this.actStep, { name: 'reinforce/act', state: { params } });
    const trains = compileTogether(this.trainStep, { name: 'reinforce/train', state: { params, slots } });
    networks.forEach((network, i) => {
      network.act?.dispose();
      network.train?.dispose();
      Object.assign(network, { act: acts[i], train: trains[i] });
    });
  }

  get lockstep(): Lockstep<Reinforce> {
    const kind = `reinforce in ${this.game.name}`; // all have the same network and options
    return { kind, networks: this.running, join: (learners) => this.join(learners) };
  }

  private get running(): Network {
    if (!this.network) throw new Error(`${this.name} has no parameters yet: call initialise(generator).`);
    return this.network;
  }

  private start(params: NamedArrays, slots: NamedArrays): void {
    this.dispose();
    this.network = { params: variables(params), slots: variables(slots) } as Network;
    this.join([this]);
  }

  async initialise(generator: Generator): Promise<void> {
    if (this.network) return;
    const params = {
      ...prefixed('body', this.body.init(generator.fork())),
      ...prefixed('head', this.head.init(generator.fork())),
    };
    this.start(params, this.optimiser.init(params));
  }

  /** [B, K] for the rows of an input or of an experience. */
  async policy(rows: ReturnType<typeof actingRows>): Promise<Float32Array> {
    const masks = ndarray(rows.masks, [rows.rows, this.game.actions]);
    const { logProbs } = await this.running.act({ ...this.encoder.encode(rows), masks });
    return logProbs.data as Float32Array;
  }

  /** Learns from whole episodes: rollouts here are as long as an episode. The baseline is the mean return of a step. */
  async update({ experience }: LearnerData): Promise<Metrics> {
    const { game } = this;
    const seat = game.agents.indexOf(this.id);
    const A = game.agents.length;
    const returns = seatRows(monteCarloReturns(experience, { gamma: GAMMA }), seat, A).data; // [E T]
    const active = Float32Array.from(seatRows(experience.active, seat, A).data); // 0 in rows after the agent left
    const { loss } = await this.running.train({
      ...this.encoder.encode(experienceRows(experience, seat)), // [E T, ...]
      masks: seatRows(experience.masks, seat, A, [game.actions]),
      actions: seatRows(experience.actions, seat, A),
      advantages: ndarray(advantagesOf(experience, returns, active)),
      active: ndarray(active),
    });
    this.updates++;
    return { 'reinforce/loss': loss.data[0], 'reinforce/return': mean(returns.filter((_, row) => active[row] === 1)) };
  }

  async state(): Promise<SavedState> {
    const { params, slots } = this.running;
    return { params: await params.read(), slots: await slots.read(), updates: this.updates };
  }

  async restore(saved: SavedState): Promise<void> {
    const { params, slots, updates } = saved as unknown as { [Name in 'params' | 'slots']: NamedArrays } & Learner;
    this.start(params, slots);
    this.updates = updates;
  }

  dispose(): void {
    for (const part of Object.values(this.network ?? {})) part.dispose();
    this.network = undefined;
  }
}

/**
 * [E T] returns minus the mean return of the same step over the environments in which the agent plays; 0 after it
 * left.
 */
function advantagesOf({ steps }: Experience, returns: Float32Array, active: Float32Array): Float32Array {
  const isPlayed = (row: number, t: number) => row % steps === t && active[row] === 1;
  const baseline = Array.from({ length: steps }, (_, t) => mean(returns.filter((_, row) => isPlayed(row, t))));
  return returns.map((value, row) => (active[row] === 1 ? value - baseline[row % steps] : 0));
}

function reinforceAgent(game: Game, id: AgentId): LearningAgent<null> {
  const learner = new Reinforce(game, id);
  const seat = game.agents.indexOf(id);
  return {
    id,
    name: 'REINFORCE',
    learner,
    initialState: () => null,
    async act(input, state, generator) {
      const logProbs = await learner.policy(actingRows(input, seat));
      return { actions: sampleCategorical(logProbs, input.rows, game.actions, generator), state };
    },
  };
}

const steps = 8;
const game = matrixGame({ kind: 'stag-hunt', maxSteps: steps });
const agents = game.agents.map((id) => reinforceAgent(game, id));
const run = selfPlay({ game, agents, envs: 64, steps, seed: 1 });
const before = await run.evaluate({ episodes: 200 });
await run.train({ envSteps: (process.env['COPLAY_QUICK'] ? 5 : 300) * 64 * steps });
const after = await run.evaluate({ episodes: 200 });
console.log(`In lockstep: ${run.lockstep.map((ids) => ids.join(' and ')).join('; ')}`);
console.table({ before: before.returnMean, after: after.returnMean });

// Saved, restored into new agents, and the same to the bit.
const saved = await run.state();
const again = selfPlay({ game, agents: game.agents.map((id) => reinforceAgent(game, id)), envs: 64, steps, seed: 1 });
await again.restore(saved);
const restored = await again.evaluate({ episodes: 200 });
console.log(`Restored agents play the same games: ${isDeepStrictEqual(restored, after)}`);
for (const one of [run, again]) one.dispose();
