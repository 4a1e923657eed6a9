import type { AgentInput, Experience, NamedArrays } from '@coplay/core';
import type { RowSource } from './input-encoder';

/** The rows of one agent who is about to act. */
export function actingRows(input: AgentInput, seat: number, extras: NamedArrays = {}): RowSource {
  const { rows, observations, masks, previousActions, active } = input;
  const nameRow = (row: number) => `environment ${row}`;
  return { rows, seat, offset: 0, stride: 1, observations, masks, previousActions, extras, active, nameRow };
}

/** One seat's rows `[E * T]` of an experience, padding and steps after its end included. */
export function experienceRows(experience: Experience, seat: number): RowSource {
  const { envs, steps, agents, observations, masks, previousActions, extras, active } = experience;
  const rows = envs * steps;
  const nameRow = (row: number) => `environment ${Math.floor(row / steps)}, step ${row % steps}`;
  const places = { offset: seat, stride: agents.length };
  return { rows, seat, ...places, observations, masks, previousActions, extras, active, nameRow };
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
    active: activeAtCuts(experience),
    nameRow: (row) => `environment ${cuts.env[row]}, after step ${cuts.step[row]}`,
  };
}

/** [N, A] 1 for agents that played in the step before a cut and were not ended by it: only they see what came after. */
function activeAtCuts({ cuts, steps, agents, active, terminated }: Experience): Uint8Array {
  const A = agents.length;
  return Uint8Array.from({ length: cuts.env.length * A }, (_, at) => {
    const cut = Math.floor(at / A);
    const row = (cuts.env[cut] * steps + cuts.step[cut]) * A + (at % A);
    return active[row] === 1 && terminated[row] === 0 ? 1 : 0;
  });
}
