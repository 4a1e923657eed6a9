import { createGenerator, type Game, type Generator } from '@coplay/core';
import { allocateObservations, allocateStepArrays } from '@coplay/core/arrays';

/** Places [row, column] written as two digits each: `at('00 12')` is [[0, 0], [1, 2]]. */
export function at(places: string): [number, number][] {
  return places.split(' ').map((place) => [Number(place[0]), Number(place[1])]);
}

/** One game by hand, with plain arrays in and out. */
export class Play {
  readonly state: Int32Array;
  readonly result;
  readonly A: number;

  constructor(
    readonly game: Game<'int32'>,
    readonly generator: Generator = createGenerator(1),
  ) {
    this.A = game.agents.length;
    this.state = new Int32Array(game.stateSize);
    this.result = allocateStepArrays(game, 1);
  }

  /** Starts from a layout, or at random. */
  start(layout?: unknown): this {
    if (layout === undefined) this.game.reset(this.state, 0, this.generator);
    else this.game.readLayout!(layout, this.state, 0);
    return this;
  }

  /** Plays one step; returns copies of what the game wrote. */
  outcome(actions: readonly number[]) {
    this.game.step(this.state, 0, Int32Array.from(actions), 0, this.generator, this.result, 0);
    const { rewards, terminated, truncated, infos } = this.result;
    return {
      rewards: [...rewards],
      terminated: [...terminated],
      truncated: [...truncated],
      infos: Object.fromEntries(Object.entries(infos).map(([name, values]) => [name, [...values]])),
    };
  }

  /** A step of the stag hunt. */
  step(actions: readonly number[]) {
    const { infos, ...played } = this.outcome(actions);
    return {
      ...played,
      illegal: infos['illegal'],
      caughtHare: infos['caught_hare'],
      caughtStag: infos['caught_stag'],
    };
  }

  mask(agent: number): number[] {
    const mask = new Uint8Array(this.game.actions);
    this.game.legal(this.state, 0, agent, mask, 0);
    return [...mask];
  }

  /** Each field of an agent's observation, flat. */
  observe(agent: number): Record<string, number[]> {
    const fields = allocateObservations(this.game.observation, 1);
    // The previous content of the arrays must not matter.
    for (const field of Object.values(fields)) field.fill(7);
    this.game.observe(this.state, 0, agent, fields, 0);
    return Object.fromEntries(Object.entries(fields).map(([name, values]) => [name, [...values]]));
  }

  /** The cells [row, column] that are set in a plane of an agent's observation. */
  plane(agent: number, name: string): number[][] {
    const { shape, channels } = this.game.observation['planes'];
    const [, columns, C] = shape;
    const channel = channels!.indexOf(name);
    const { planes } = this.observe(agent);
    const cells: number[][] = [];
    for (let cell = 0; cell * C < planes.length; cell++) {
      if (planes[cell * C + channel] === 1) cells.push([Math.floor(cell / columns), cell % columns]);
    }
    return cells;
  }

  layout(): string {
    return this.game.writeLayout!(this.state, 0);
  }

  isOver(): boolean {
    return this.game.agents.every((_, i) => this.result.terminated[i] === 1 || this.result.truncated[i] === 1);
  }
}
