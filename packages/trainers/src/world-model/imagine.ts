import { observationRows } from '@coplay/buffers';
import { type Generator, type NamedArrays, ndarray, type Simulator } from '@coplay/core';
import { concatRows, gatherRows, paddedCount, padRows, reshapeRows, sliceRows } from '@coplay/core/rows';
import type { WorldModel } from '@coplay/models';
import type { SimulatorOptions } from './options';

/** The predictions of all members: rows [N, B, ...] to [N, B, ...]; without the first axis for a single member. */
export type Imagine = (rows: NamedArrays) => Promise<NamedArrays>;

/** Rows that run in one call at most. */
const LARGEST = 4096;

/** The combined prediction of the members. */
export interface Expectation {
  /** [B, ...] means over the members */
  readonly imagined: NamedArrays;
  /** [B] variance over the members, a mean over all that is imagined of a row; 0 for a single member */
  readonly disagreement: Float32Array;
}

/** All members on all rows [B, ...]. */
export async function expectation(imagine: Imagine, members: number, rows: NamedArrays): Promise<Expectation> {
  const count = countOf(rows);
  const parts: Expectation[] = [];
  for (let start = 0; start < count; start += LARGEST) {
    const size = Math.min(LARGEST, count - start);
    parts.push(await expectPart(imagine, members, sliceRows(rows, start, start + size), size));
  }
  return parts.length === 1 ? parts[0] : joinParts(parts);
}

/**
 * One member for each row [B, ...], at random and in equal numbers: with a member drawn anew in every step, an imagined
 * episode can't feed on the errors of one of them (Chua et al. 2018, TS1).
 */
export async function byRandomMembers(
  imagine: Imagine,
  members: number,
  rows: NamedArrays,
  generator: Generator,
): Promise<NamedArrays> {
  const count = countOf(rows);
  if (members === 1) return sliceRows(await imagine(padRows(rows, paddedCount(count))), 0, count);
  const each = paddedCount(Math.ceil(count / members));
  const order = generator.shuffle(range(0, count));
  const places = new Int32Array(members * each); // unused places repeat row 0
  const placeOf = new Int32Array(count);
  order.forEach((row, k) => {
    const place = (k % members) * each + Math.floor(k / members);
    places[place] = row;
    placeOf[row] = place;
  });
  const imagined = await imagine(reshapeRows(gatherRows(rows, places), [members, each]));
  return gatherRows(reshapeRows(imagined, [members * each], 2), placeOf);
}

async function expectPart(imagine: Imagine, members: number, rows: NamedArrays, count: number): Promise<Expectation> {
  const size = paddedCount(count);
  const full = padRows(rows, size);
  if (members === 1) {
    return { imagined: sliceRows(await imagine(full), 0, count), disagreement: new Float32Array(count) };
  }
  const repeated = gatherRows(
    full,
    Int32Array.from({ length: members * size }, (_, i) => i % size),
  );
  const all = await imagine(reshapeRows(repeated, [members, size]));
  return average(all, members, size, count);
}

function average(all: NamedArrays, members: number, size: number, count: number): Expectation {
  const imagined: NamedArrays = {};
  const disagreement = new Float32Array(count);
  const widths = Object.values(all).reduce((sum, { data }) => sum + data.length / (members * size), 0);
  for (const [name, { data, shape }] of Object.entries(all)) {
    const width = data.length / (members * size);
    const means = new Float32Array(count * width);
    for (let i = 0; i < means.length; i++) {
      let [sum, squares] = [0, 0];
      for (let member = 0; member < members; member++) {
        const value = data[member * size * width + i];
        sum += value;
        squares += value * value;
      }
      means[i] = sum / members;
      disagreement[Math.floor(i / width)] += Math.max(0, squares / members - means[i] ** 2) / widths;
    }
    imagined[name] = ndarray(means, [count, ...shape.slice(2)]);
  }
  return { imagined, disagreement };
}

function joinParts(parts: readonly Expectation[]): Expectation {
  return {
    imagined: concatRows(parts.map(({ imagined }) => imagined)),
    disagreement: Float32Array.from(parts.flatMap(({ disagreement }) => [...disagreement])),
  };
}

/** A world model as a simulator. It always uses the parameters of the moment. */
export function modelSimulator(
  model: WorldModel,
  members: number,
  imagine: Imagine,
  { sample = true }: SimulatorOptions,
): Simulator {
  const { game, source = game, history = 0, ownView } = model;
  const agents = game.agents.length;
  return {
    game,
    ...(model.statesOf && {
      statesAt: (experience, steps, seat) => {
        const rows = observationRows(experience, steps, { game: source, history });
        return model.statesOf!(ownView ? ownView.rows(rows, seat) : rows);
      },
    }),
    async step(states, actions, generator, result) {
      const rows = model.encode(states, actions);
      const imagined = await byRandomMembers(imagine, members, rows, generator);
      const happened: NamedArrays = model.decode(imagined, rows, sample ? generator : undefined);
      const rewards = happened['rewards'].data;
      const terminated = happened['terminated'].data;
      for (let row = 0; row * game.stateSize < states.length; row++) {
        const offset = row * game.stateSize;
        model.write(happened, row, states, offset);
        const isOver = game.elapsed(states, offset) >= game.maxSteps;
        const first = ownView?.seatOf(states, offset) ?? 0;
        for (let i = 0; i < agents; i++) {
          const at = row * agents + ((first + i) % agents);
          const ended = terminated[row * agents + i];
          if (!ownView) result.rewards[at] = rewards[at];
          else result.rewards[at] = i === 0 ? rewards[row] : 0;
          result.terminated[at] = ended;
          result.truncated[at] = isOver && ended === 0 ? 1 : 0;
        }
      }
    },
  };
}

/** B */
function countOf(rows: NamedArrays): number {
  return Object.values(rows)[0].shape[0];
}

function range(start: number, count: number): Int32Array {
  return Int32Array.from({ length: count }, (_, i) => start + i);
}
