import {
  type ActionSpaces,
  checkOptions,
  type Experience,
  fail,
  type NamedArrays,
  type NDArray,
  show,
} from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import { checkExperience } from '@coplay/core/checks';
import { gatherRows, nonZero, reshapeRows, seatRows } from '@coplay/core/rows';
import { z } from 'zod';
import { type StepField, stepFields } from './fields';
import { splitSegments } from './split';

/** Options of {@link agentSequences}. */
export interface AgentSequencesOptions {
  /** L, steps in a sequence; at least 1 */
  readonly length: number;
  /** Extras of which only the first step's value is wanted, [B, ...]: stored recurrent states. Default none */
  readonly states?: readonly string[];
}

const sequencesSchema = z.strictObject({
  length: z.int().min(1).max(1e6),
  states: z.array(z.string()).readonly().default([]),
});

/**
 * One agent's steps as rows: those in which it was active, by environment and time.
 *
 * @param seat  the agent's index in `experience.agents`
 * @returns `observations/<field>` [B, ...], `masks` [B, K], `actions`, `rewards`, `terminated`, `truncated`, `isFirst`,
 *          `ended`, `isImagined` [B], `previousActions` [B, A] of everyone, and each extra by its name [B, ...]; in
 *          other spaces `actions` [B, W] and `previousActions` [B, A, W]
 */
export function agentRows(experience: Experience<ActionSpaces>, seat: number): NamedArrays {
  checkSeat('agentRows', experience, seat);
  const { active, ...columns } = agentColumns(experience, seat);
  return gatherRows(columns, nonZero(active.data));
}

/**
 * One agent's steps as sequences of L, [B, L, ...], for recurrent networks: the streams cut from their start, padded at
 * their end, without sequences in which the agent was never active. Episodes may begin within a sequence.
 *
 * @returns the fields of {@link agentRows} as [B, L, ...] and `active` [B, L], 0 in padding and where the agent was
 *          absent; but `isImagined` [B], and the `states` [B, ...] as they were stored in the first step
 */
export function agentSequences(
  experience: Experience<ActionSpaces>,
  seat: number,
  options: AgentSequencesOptions,
): NamedArrays {
  const { length, states } = checkOptions('agentSequences', sequencesSchema, options);
  checkSeat('agentSequences', experience, seat);
  const segments = splitSegments(experience, length);
  const columns = agentColumns(segments, seat);
  const sequences = reshapeRows(columns, [segments.envs, length]);
  const starts = Int32Array.from({ length: segments.envs }, (_, i) => i * length);
  for (const name of ['isImagined', ...states]) {
    const column = columns[name] ?? refuseState(name, experience);
    sequences[name] = gatherRows({ column }, starts)['column'];
  }
  const { active } = sequences;
  const isUsed = Array.from(starts, (start) => (active.data.subarray(start, start + length).includes(1) ? 1 : 0));
  return gatherRows(sequences, nonZero(isUsed));
}

/** All E T steps of one agent, [E T, ...] for each field. */
function agentColumns(experience: Experience<ActionSpaces>, seat: number): NamedArrays {
  const agents = experience.agents.length;
  const isImagined = Uint8Array.from({ length: experience.envs * experience.steps }, (_, row) => {
    return experience.isImagined[Math.floor(row / experience.steps)];
  });
  const columns: NamedArrays = { isImagined: { data: isImagined, shape: [isImagined.length] } };
  // States may hold what the agent doesn't see.
  for (const field of stepFields(experience).filter(({ name }) => name !== 'states')) {
    const name = field.name.replace(/^extras\//, '');
    if (name in columns) fail('agentRows', 'extras with names of their own', show(name), 'Rename the extra.');
    columns[name] = agentColumn(field, seat, agents, isImagined.length);
  }
  return columns;
}

/** @param rows  E T, which a mask of no bytes doesn't say */
function agentColumn({ data, of, shape }: StepField, seat: number, agents: number, rows: number): NDArray {
  if (of === 'step') return { data, shape: [data.length] };
  if (sizeOf(shape) === 0) return { data, shape: [rows, ...shape] };
  if (of === 'everyone') return { data, shape: [rows, agents, ...shape] };
  return seatRows(data, seat, agents, shape);
}

function checkSeat(where: string, experience: Experience<ActionSpaces>, seat: number): void {
  checkExperience(where, experience, 'experience', 'any');
  if (Number.isInteger(seat) && seat >= 0 && seat < experience.agents.length) return;
  const expected = `a seat from 0 to ${experience.agents.length - 1}`;
  fail(where, expected, show(seat), 'Give the index of the agent in experience.agents.');
}

function refuseState(name: string, experience: Experience<ActionSpaces>): never {
  const known = Object.keys(experience.extras).join(', ') || 'none';
  fail('agentSequences', `states among the extras: ${known}`, show(name), 'Let the agent give it with its extras.');
}
