import { type ActionArray, type ActionLayout, actionLayout, maskSizeOf } from '../action-spaces';
import { sizeOf } from '../arrays';
import { show } from '../errors';
import type { AnyGame, StepArrays } from '../game';
import type { Generator } from '../generator';
import type { ObservationArrays } from '../observations';
import type { ArrayOf, DType } from '../typed-arrays';
import { type Findings, Unplayable } from './findings';
import { firstDifference, type Guarded, guarded, MARK } from './guarded';

/** The outputs of a step, by name: `rewards`, `terminated`, `truncated` and `infos.NAME`, [A] each. */
export type Outcome = Readonly<Record<string, readonly number[]>>;

/** An agent's observation, by field. */
export type Sight = Readonly<Record<string, readonly number[]>>;

/**
 * Calls a game's functions on arrays with margins, and notes where they write outside their part. The numbers come back
 * as lists; judging them is left to the rules.
 */
export class Probe {
  readonly agents: number;
  private readonly state: Guarded<ArrayOf<DType>>;
  readonly layout: ActionLayout;
  /** By seat, of the size of the agent's own mask */
  private readonly masks: readonly Guarded<Uint8Array>[];
  private readonly actions: Guarded<ActionArray>;
  private readonly results: ResultArrays;
  private readonly stepArrays: StepArrays;

  constructor(
    readonly game: AnyGame,
    readonly findings: Findings,
  ) {
    this.agents = game.agents.length;
    this.state = guarded(game.stateType, game.stateSize);
    this.layout = actionLayout(game);
    this.masks = this.layout.spaces.map((space) => guarded('uint8', maskSizeOf(space)));
    this.actions = guarded(this.layout.dtype, this.agents * this.layout.width);
    this.results = resultArrays(game);
    this.stepArrays = stepArraysOf(game, this.results);
  }

  /** Starts an episode in a state array filled with `rubbish`. */
  reset(generator: Generator, rubbish: number = MARK): void {
    this.state.fill(rubbish);
    this.call('reset', () => this.game.reset(this.state.array, this.state.offset, generator));
    this.checkMargins('reset', 'state', this.state);
  }

  /** Starts an episode from a map, in a state array filled with `rubbish`. */
  readLayout(layout: unknown, rubbish: number = MARK): void {
    this.state.fill(rubbish);
    this.call('readLayout', () => this.game.readLayout?.(layout, this.state.array, this.state.offset));
    this.checkMargins('readLayout', 'state', this.state);
  }

  save(): number[] {
    return this.state.read();
  }

  load(state: readonly number[]): void {
    this.state.write(state);
  }

  step(actions: readonly number[], generator: Generator): Outcome {
    const { state, stepArrays } = this;
    this.actions.fill(0);
    this.actions.write(actions);
    for (const result of Object.values(this.results)) {
      result.fill(result.array instanceof Float32Array ? Number.NaN : MARK);
    }
    this.call('step', () =>
      this.game.step(state.array, state.offset, this.actions.array, this.actions.offset, generator, stepArrays, 1),
    );
    this.checkMargins('step', 'state', state);
    for (const [name, array] of Object.entries(this.results)) this.checkMargins('step', name, array);
    if (this.actions.strayed() !== undefined || firstDifference(this.actions.read(), actions) >= 0) {
      this.findings.add('arrays', 'step', 'the actions to be left alone', 'changed actions', 'Copy what you change.');
    }
    return Object.fromEntries(Object.entries(this.results).map(([name, array]) => [name, array.read()]));
  }

  legal(agent: number): number[] {
    const { state } = this;
    const mask = this.masks[agent];
    mask.fill(MARK);
    this.look('legal', () => this.game.legal(state.array, state.offset, agent, mask.array, mask.offset));
    this.checkMargins('legal', 'mask', mask);
    return mask.read();
  }

  /**
   * An agent's observation, written into rows that held `rubbish` before.
   *
   * @param isWide  writes into float64 instead of the field's dtype, so that numbers that don't fit are seen as written
   */
  observe(agent: number, rubbish: number = MARK, isWide = false): Sight {
    const { game, state } = this;
    const rows: [string, Guarded][] = Object.entries(game.observation).map(([name, { shape, dtype }]) => {
      const row: Guarded = guarded(isWide ? 'float64' : dtype, sizeOf(shape));
      row.fill(rubbish);
      return [name, row];
    });
    const out: ObservationArrays = Object.fromEntries(rows.map(([name, row]) => [name, row.array]));
    this.look('observe', () => game.observe(state.array, state.offset, agent, out, 1));
    for (const [name, row] of rows) this.checkMargins('observe', `observations of ${show(name)}`, row);
    return Object.fromEntries(rows.map(([name, row]) => [name, row.read()]));
  }

  isActive(agent: number): boolean {
    return this.look('isActive', () => this.game.isActive(this.state.array, this.state.offset, agent));
  }

  elapsed(): number {
    return this.look('elapsed', () => this.game.elapsed(this.state.array, this.state.offset));
  }

  writeLayout(): string | undefined {
    return this.look('writeLayout', () => this.game.writeLayout?.(this.state.array, this.state.offset));
  }

  scene(): ReturnType<NonNullable<AnyGame['scene']>> | undefined {
    return this.look('scene', () => this.game.scene?.(this.state.array, this.state.offset));
  }

  /** Calls a function that may only read the state. */
  private look<T>(place: string, read: () => T): T {
    const before = this.save();
    const answer = this.call(place, read);
    if (firstDifference(before, this.save()) >= 0 || this.state.strayed() !== undefined) {
      this.findings.add('arrays', place, 'the state to be left alone', 'a changed state', 'Change it in step() only.');
      this.state.fill(MARK);
      this.load(before);
    }
    return answer;
  }

  private call<T>(place: string, run: () => T): T {
    try {
      return run();
    } catch (error) {
      const remedy = 'Every state, agent and action in range must be playable.';
      this.findings.add('exception', place, 'no exception', String(error), remedy);
      throw new Unplayable(place, { cause: error });
    }
  }

  private checkMargins(place: string, what: string, array: Guarded): void {
    const stray = array.strayed();
    if (stray === undefined) return;
    const expected = `${what} written only within the ${array.size} values from the given offset on`;
    const remedy = 'Count every index from the offset (or row) that is given.';
    this.findings.add('arrays', place, expected, `a change ${stray} values from there`, remedy);
    const own = array.read();
    array.fill(MARK);
    array.write(own);
  }
}

/** One guarded array for each name of an {@link Outcome}. */
type ResultArrays = Readonly<Record<string, Guarded<Float32Array> | Guarded<Uint8Array>>>;

function resultArrays({ agents, infos }: AnyGame): ResultArrays {
  const arrays: Record<string, ResultArrays[string]> = {
    rewards: guarded('float32', agents.length),
    terminated: guarded('uint8', agents.length),
    truncated: guarded('uint8', agents.length),
  };
  for (const name of infos) arrays[`infos.${name}`] = guarded('float32', agents.length);
  return arrays;
}

/** The same arrays as a game's step takes them. */
function stepArraysOf({ infos }: AnyGame, results: ResultArrays): StepArrays {
  return {
    rewards: results['rewards'].array as Float32Array,
    terminated: results['terminated'].array as Uint8Array,
    truncated: results['truncated'].array as Uint8Array,
    infos: Object.fromEntries(infos.map((name) => [name, results[`infos.${name}`].array as Float32Array])),
  };
}
