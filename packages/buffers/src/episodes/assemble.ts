import { type ActionSpaces, allocate, type Experience, type ExperienceSpec, type NDArray } from '@coplay/core';
import {
  actionLayout,
  allocateCuts,
  allocateExperience,
  type Cuts,
  copyObservation,
  copyRow,
  dtypeOf,
  sizeOf,
} from '@coplay/core/arrays';
import { allocateExtras, checkSameKind, type StepField, stepFields, stepWidth } from './fields';

/** Consecutive steps of one environment. */
export interface Piece {
  readonly source: Experience<ActionSpaces>;
  readonly env: number;
  readonly start: number;
  readonly length: number;
}

/**
 * Experience made of pieces: each list of pieces becomes one row, its pieces one behind the other. Everything else here
 * (slices, episodes, segments, joins) is a choice of pieces, so that no field can get out of step with another.
 *
 * A row is cut where one of its pieces was cut by a time limit, and at its end unless the episode ended there.
 *
 * @param like   gives agents, spaces and extras; every source must have the same
 * @param rows   E lists of pieces; all pieces of a row are real, or all are imagined
 * @param steps  T; rows that are shorter are padded with zeros
 */
export function assemble(
  where: string,
  like: Experience<ActionSpaces>,
  rows: readonly (readonly Piece[])[],
  steps: number,
): Experience<ActionSpaces> {
  const { agents, observation, actionCount, actionSpaces = actionCount } = like;
  const spec: ExperienceSpec<ActionSpaces> = { agents, observation, actions: actionSpaces };
  const extras = allocateExtras(like.extras, rows.length, steps);
  const { states } = like;
  const result: Experience<ActionSpaces> = {
    ...allocateExperience(spec, rows.length, steps),
    extras,
    ...(states && { states: zeroStates(states, [rows.length, steps]) }),
  };
  const target = fieldsByName(result);
  const sources = new Map<Experience<ActionSpaces>, StepField[]>();
  for (const { source } of rows.flat()) {
    if (sources.has(source)) continue;
    checkSameKind(where, like, source);
    sources.set(source, stepFields(source));
  }
  rows.forEach((pieces, row) => {
    let offset = 0;
    for (const piece of pieces) {
      for (const field of sources.get(piece.source) as StepField[]) {
        const width = stepWidth(field, like.agents.length);
        const from = (piece.env * piece.source.steps + piece.start) * width;
        const values = field.data.subarray(from, from + piece.length * width);
        target[field.name].data.set(values, (row * steps + offset) * width);
      }
      offset += piece.length;
    }
    result.lengths[row] = offset;
    if (pieces.length > 0) result.isImagined[row] = pieces[0].source.isImagined[pieces[0].env];
  });
  return { ...result, cuts: assembleCuts(spec, rows, states) };
}

function fieldsByName(experience: Experience<ActionSpaces>): Record<string, StepField> {
  return Object.fromEntries(stepFields(experience).map((field) => [field.name, field]));
}

/** The observation after a step: `index` is a cut's number, or an environment and step that follow it. */
interface Look {
  readonly row: number;
  readonly step: number;
  readonly from: Pick<Cuts<ActionSpaces>, 'observations' | 'masks' | 'previousActions' | 'states'>;
  readonly index: number;
}

/** Zeroed states [...lead, S] like others [E, T, S]. */
function zeroStates({ data, shape }: NDArray, lead: readonly number[]): NDArray {
  const full = [...lead, shape[2]];
  return { data: allocate(dtypeOf(data), sizeOf(full)), shape: full };
}

/** @param states  those of one of the sources; undefined where they have none */
function assembleCuts(
  spec: ExperienceSpec<ActionSpaces>,
  rows: readonly (readonly Piece[])[],
  states: NDArray | undefined,
): Cuts<ActionSpaces> {
  const cutsOf = indexCuts(rows);
  const looks = rows.flatMap((pieces, row) => looksOf(pieces, row, cutsOf));
  const cuts = allocateCuts(spec, looks.length);
  const agents = spec.agents.length;
  const { width, maskSize } = actionLayout(spec);
  const after = states && zeroStates(states, [looks.length]);
  looks.forEach(({ row, step, from, index }, n) => {
    cuts.env[n] = row;
    cuts.step[n] = step;
    for (let agent = 0; agent < agents; agent++) {
      copyObservation(
        spec.observation,
        from.observations,
        index * agents + agent,
        cuts.observations,
        n * agents + agent,
      );
    }
    copyRow(from.masks, index, cuts.masks, n, agents * maskSize);
    copyRow(from.previousActions, index, cuts.previousActions, n, agents * width);
    if (after) copyRow(from.states!.data, index, after.data, n, after.shape[1]);
  });
  return { ...cuts, ...(after && { states: after }) };
}

/** The numbers of a source's cuts by environment and step. */
type CutIndex = Map<Experience<ActionSpaces>, Map<number, number>>;

function indexCuts(rows: readonly (readonly Piece[])[]): CutIndex {
  const index: CutIndex = new Map();
  for (const { source } of rows.flat()) {
    if (index.has(source)) continue;
    const { env, step } = source.cuts;
    index.set(source, new Map(Array.from(env, (e, n) => [e * source.steps + step[n], n])));
  }
  return index;
}

function looksOf(pieces: readonly Piece[], row: number, cutsOf: CutIndex): Look[] {
  const looks: Look[] = [];
  let offset = 0;
  pieces.forEach(({ source, env, start, length }, p) => {
    for (let t = start; t < start + length; t++) {
      const place = env * source.steps + t;
      const isLast = p === pieces.length - 1 && t === start + length - 1;
      const isEndOfSource = t + 1 === source.lengths[env];
      const isOver = source.ended[place] === 1 || (!isEndOfSource && source.isFirst[place + 1] === 1);
      if (!isOver && !isLast) continue;
      const step = offset + t - start;
      const cut = cutsOf.get(source)?.get(place);
      if (cut !== undefined) looks.push({ row, step, from: source.cuts, index: cut });
      else if (!isOver && !isEndOfSource) looks.push({ row, step, from: source, index: place + 1 });
    }
    offset += length;
  });
  return looks;
}
