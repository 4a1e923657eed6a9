/*
 * The inter-episode part of HOP's model of others (inter-OM, Huang et al. 2024) as an input of the policy: for each
 * co-player the prior over its goals, by the goals that it showed in earlier episodes. Shapes: B rows, A agents, G
 * goals.
 */
import {
  type AgentId,
  type AgentInput,
  type AgentStep,
  type Experience,
  fail,
  type Game,
  type NDArray,
  ndarray,
  type SavedState,
} from '@coplay/core';
import { checkArgument, checkNumbers, typedArrays } from '@coplay/core/checks';
import { takeRows } from '@coplay/core/rows';
import { type GoalBeliefs, seenStates } from '@coplay/planning';
import { z } from 'zod';
import { checkGoalsSeen, goalBeliefs } from '../training/goal-beliefs';
import { GOAL_PRIORS } from './options';

/**
 * The priors of one agent, in B games at once. All games share its memory of a co-player; a game reads it when an
 * episode begins, and keeps that prior until the next one begins.
 */
export class GoalPriors {
  private readonly memory: GoalBeliefs;
  private readonly seat: number;
  /** (A - 1) G */
  private readonly size: number;
  /** [B, (A - 1) G] */
  private held = new Float32Array(0);

  /** @param goalDiscount  of the counts of goals shown, per episode; undefined for the default */
  constructor(
    private readonly game: Game,
    private readonly id: AgentId,
    goalDiscount: number | undefined,
  ) {
    this.memory = goalBeliefs(`HOP+ (${id})`, game, id, { inter: true, intra: false, goalDiscount });
    this.seat = game.agents.indexOf(id);
    this.size = priorSizeOf(game);
  }

  /**
   * The priors in a step that is about to be played.
   *
   * @returns [B, (A - 1) G] the co-players in cyclic order from the agent's own seat; each G numbers sum to 1
   */
  read(input: AgentInput): Float32Array {
    const { game, seat, size } = this;
    const { rows, isFirst } = input;
    this.memory.see(seenStates(game, input, seat), isFirst);
    const areNew = this.held.length !== rows * size;
    if (areNew) this.held = new Float32Array(rows * size);
    const now = cyclic(game, seat).flatMap((coPlayer) => Array.from(this.memory.prior(coPlayer)));
    for (let row = 0; row < rows; row++) if (areNew || isFirst[row] === 1) this.held.set(now, row * size);
    return this.held.slice();
  }

  /** Which goals were reached, and which episodes ended: the memory follows. */
  observe(step: AgentStep): void {
    this.memory.observe(step);
  }

  state(): SavedState {
    return { memory: this.memory.save(), held: this.held.slice() };
  }

  restore(saved: SavedState): void {
    const where = `HOP+ (${this.id}): restore of goalPriors`;
    checkArgument(where, 'saved', savedSchema, saved);
    const { memory, held } = saved as unknown as { memory: SavedState & { rows: number }; held: Float32Array };
    checkNumbers(where, 'saved.held', held, { length: memory.rows * this.size, min: 0, max: 1 });
    this.memory.restore(memory);
    this.held = held.slice();
  }
}

const savedSchema = z.looseObject({
  memory: z.looseObject({ rows: z.int().min(0) }),
  held: typedArrays('float32'),
});

/** The co-players of a seat, from the next one on. */
function cyclic({ agents }: Game, seat: number): AgentId[] {
  return [...agents.slice(seat + 1), ...agents.slice(0, seat)];
}

/** (A - 1) G, the numbers that a policy reads. */
export function priorSizeOf({ agents, goals }: Game): number {
  return (agents.length - 1) * (goals?.names.length ?? 0);
}

/** Refuses games of which an agent couldn't say which goals its co-players reached. */
export function checkGoalPriors(where: string, game: Game): void {
  const refuse = (expected: string, remedy: string) => fail(`${where}: option goalPriors`, expected, game.name, remedy);
  if (!game.goals) {
    refuse('a game with goals', 'Leave it out, or give the game goals ("Goals" in docs/writing-an-environment.md).');
  }
  if (!game.grid && !game.observesState) {
    const remedy =
      'Leave it out, declare observesState where that is so, or give the game grid parts ("Optional parts" in docs/writing-an-environment.md).';
    refuse('a game whose agents see the whole state', remedy);
  }
  checkGoalsSeen(`${where}: option goalPriors`, game, 'Leave it out');
}

/** The same experience with the priors at its cuts: those of the step before, since they last for an episode. */
export function withCutPriors(experience: Experience): Experience {
  const { cuts, steps, agents } = experience;
  const { data, shape } = experience.extras[GOAL_PRIORS] as NDArray<Float32Array>;
  const rows = Int32Array.from(cuts.env, (env, n) => env * steps + cuts.step[n]);
  const width = agents.length * shape[3];
  const atCuts = ndarray(takeRows(data, rows, width), [rows.length, agents.length, shape[3]]);
  return { ...experience, cuts: { ...cuts, extras: { ...cuts.extras, [GOAL_PRIORS]: atCuts } } };
}
