import type { AgentInput, Experience, NamedArrays } from '@coplay/core';
import type { RowSource } from './encoder';

/** The rows of one agent who is about to act. */
export function actingRows(input: AgentInput, seat: number, extras: NamedArrays = {}): RowSource {
  const { rows, observations, masks, previousActions } = input;
  const nameRow = (row: number) => `environment ${row}`;
  return { rows, seat, offset: 0, stride: 1, observations, masks, previousActions, extras, nameRow };
}

/** One seat's rows `[E * T]` of an experience, padding and steps after its end included. */
export function experienceRows(experience: Experience, seat: number): RowSource {
  const { envs, steps, agents, observations, masks, previousActions, extras } = experience;
  const rows = envs * steps;
  const nameRow = (row: number) => `environment ${Math.floor(row / steps)}, step ${row % steps}`;
  return { rows, seat, offset: seat, stride: agents.length, observations, masks, previousActions, extras, nameRow };
}

/** One seat's rows `[N]` of the places where an experience was cut. */
export function cutRows(experience: Experience, seat: number): RowSource {
  const { cuts, agents } = experience;
  const { observations, masks, previousActions, extras = {} } = cuts;
  return {
    rows: cuts.env.length,
    seat,
    offset: seat,
    stride: agents.length,
    observations,
    masks,
    previousActions,
    extras,
    nameRow: (row) => `environment ${cuts.env[row]}, after step ${cuts.step[row]}`,
  };
}
