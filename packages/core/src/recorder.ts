import { type ActionArray, type ActionLayout, type ActionSpaces, actionLayout } from './action-spaces';
import type { AgentOutput, Saved } from './agent';
import { allocate, dtypeOf, sizeOf } from './arrays';
import type { RolloutEnv } from './batch';
import { fail } from './errors';
import { allocateCuts, allocateExperience, type Cuts, copyObservation, copyRow, type Experience } from './experience';
import type { NamedArrays, NDArray, TypedArray } from './typed-arrays';

/** Writes a stream of steps into an {@link Experience}. */
export class Recorder {
  private readonly layout: ActionLayout;
  private readonly experience: Experience<ActionSpaces> & { readonly states: NDArray };
  private readonly extras: Record<string, { data: TypedArray; shape: number[] }> = {};
  private readonly cuts: { env: number; step: number; cuts: Cuts<ActionSpaces>; state: TypedArray }[] = [];

  constructor(
    private readonly env: RolloutEnv<ActionSpaces>,
    private readonly steps: number,
  ) {
    const { game, envs } = env;
    const { stateSize: S, stateType } = game;
    this.layout = actionLayout(game);
    const states = { data: allocate(stateType, envs * steps * S), shape: [envs, steps, S] };
    this.experience = { ...allocateExperience(game, envs, steps), states };
  }

  /** Before step t: the observations. */
  before(t: number): void {
    const { env, experience, steps } = this;
    const { game, envs } = env;
    const { width, maskSize } = this.layout;
    const agents = game.agents.length;
    for (let e = 0; e < envs; e++) {
      const step = e * steps + t;
      for (const name in game.observation) {
        const size = agents * sizeOf(game.observation[name].shape);
        copyRow(env.observations[name], e, experience.observations[name], step, size);
      }
      copyRow(env.masks, e, experience.masks, step, agents * maskSize);
      copyRow(env.active, e, experience.active, step, agents);
      copyRow(env.previousActions, e, experience.previousActions, step, agents * width);
      copyRow(env.states, e, experience.states.data, step, game.stateSize);
      experience.isFirst[step] = env.isFirst[e];
    }
  }

  /** After step t: the actions and their outcome. */
  after(t: number, actions: ActionArray, outputs: readonly AgentOutput<Saved, ActionSpaces>[]): void {
    const { env, experience, steps } = this;
    const agents = env.agents.length;
    const { rewards, terminated, truncated } = env.result;
    for (let e = 0; e < env.envs; e++) {
      const step = e * steps + t;
      copyRow(actions, e, experience.actions, step, agents * this.layout.width);
      copyRow(rewards, e, experience.rewards, step, agents);
      copyRow(terminated, e, experience.terminated, step, agents);
      copyRow(truncated, e, experience.truncated, step, agents);
      const ended = env.ended[e];
      experience.ended[step] = ended;
      if (ended === 1 || t === steps - 1) this.cut(e, t, actions, ended === 1);
    }
    this.keepInfos(t);
    outputs.forEach((output, seat) => {
      for (const name in output.extras) this.keepExtra(name, output.extras[name], seat, t);
    });
  }

  finish(): Experience<ActionSpaces> {
    return { ...this.experience, cuts: this.joinCuts(), extras: this.extras };
  }

  /** Keeps what came after step t of environment e. */
  private cut(e: number, t: number, actions: ActionArray, ended: boolean): void {
    const { env } = this;
    const { width, maskSize } = this.layout;
    const agents = env.agents.length;
    const { stateSize: S } = env.game;
    const state = (ended ? env.finalStates : env.states).slice(e * S, (e + 1) * S);
    const cuts = allocateCuts(env.game, 1);
    const observations = ended ? env.finalObservations : env.observations;
    for (let seat = 0; seat < agents; seat++) {
      copyObservation(env.game.observation, observations, e * agents + seat, cuts.observations, seat);
      const wasActive = this.experience.active[(e * this.steps + t) * agents + seat] === 1;
      if (wasActive) copyRow(actions, e * agents + seat, cuts.previousActions, seat, width); // else they say "none"
    }
    copyRow(ended ? env.finalMasks : env.masks, e, cuts.masks, 0, agents * maskSize);
    this.cuts.push({ env: e, step: t, cuts, state });
  }

  private joinCuts(): Cuts<ActionSpaces> {
    const { game } = this.env;
    const { width, maskSize } = this.layout;
    const agents = game.agents.length;
    const states = allocate(game.stateType, this.cuts.length * game.stateSize);
    const joined = allocateCuts(game, this.cuts.length);
    this.cuts.forEach(({ env, step, cuts, state }, n) => {
      joined.env[n] = env;
      joined.step[n] = step;
      for (const name in game.observation) {
        copyRow(
          cuts.observations[name],
          0,
          joined.observations[name],
          n,
          agents * sizeOf(game.observation[name].shape),
        );
      }
      copyRow(cuts.masks, 0, joined.masks, n, agents * maskSize);
      copyRow(cuts.previousActions, 0, joined.previousActions, n, agents * width);
      copyRow(state, 0, states, n, game.stateSize);
    });
    return { ...joined, states: { data: states, shape: [this.cuts.length, game.stateSize] } };
  }

  private keepInfos(t: number): void {
    const { env, steps } = this;
    const agents = env.agents.length;
    for (const [name, values] of Object.entries(env.result.infos)) {
      const extra = this.extraNamed(`info/${name}`, values, [env.envs]);
      for (let e = 0; e < env.envs; e++) copyRow(values, e, extra.data, e * steps + t, agents);
    }
  }

  /** Puts one agent's numbers `[E, ...]` into `[E, T, A, ...]`. */
  private keepExtra(name: string, { data, shape }: NamedArrays[string], seat: number, t: number): void {
    const { envs, agents } = this.env;
    const size = sizeOf(shape.slice(1));
    const extra = this.extraNamed(name, data, shape);
    if (extra.data.length !== envs * this.steps * agents.length * size) {
      const expected = `${name} of shape [${[envs, ...extra.shape.slice(3)]}]`;
      fail(`${agents[seat]}.act`, expected, `[${shape}]`, 'Give an extra the same shape in every step and agent.');
    }
    for (let e = 0; e < envs; e++) copyRow(data, e, extra.data, (e * this.steps + t) * agents.length + seat, size);
  }

  private extraNamed(name: string, like: TypedArray, shape: readonly number[]) {
    this.extras[name] ??= this.allocateExtra(like, shape);
    return this.extras[name];
  }

  private allocateExtra(like: TypedArray, shape: readonly number[]) {
    const full = [this.env.envs, this.steps, this.env.agents.length, ...shape.slice(1)];
    const data = allocate(dtypeOf(like), sizeOf(full));
    if (data instanceof Float32Array || data instanceof Float64Array) data.fill(Number.NaN);
    return { data, shape: full };
  }
}
