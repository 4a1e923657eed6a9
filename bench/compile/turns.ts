import { setTimeout } from 'node:timers/promises';
import { median } from '@coplay/diagnostics/statistics';
import type { Machine, MachineName } from './machines';
import type { Step } from './steps';

/** How fast a machine ran a step. */
export interface Speed {
  readonly machine: MachineName;
  /** Milliseconds of a run: the median of all, the shortest, and the median of each round. */
  readonly median: number;
  readonly shortest: number;
  readonly rounds: readonly number[];
  readonly runs: number;
}

/** How long things are timed. */
export interface Patience {
  readonly rounds: number;
  /** Milliseconds of a turn, about; at least one run is made. */
  readonly turn: number;
}

/** Milliseconds between two turns, in which threads that spin while they wait for work go to sleep. */
const PAUSE = 20;

/**
 * Times machines in turns, one computing at a time: other work on the computer affects all of them. Every second round
 * goes backwards, so that none always runs behind the same other one.
 */
export async function timeStep(machines: readonly Machine[], step: Step, { rounds, turn }: Patience): Promise<Speed[]> {
  const lots: number[] = [];
  for (const machine of machines) lots.push(await warmUp(machine, step, turn));
  const samples = machines.map((): (readonly number[])[] => []);
  for (let round = 0; round < rounds; round++) {
    const order = machines.map((_, i) => (round % 2 === 0 ? i : machines.length - 1 - i));
    for (const i of order) {
      await setTimeout(PAUSE);
      samples[i].push(await machines[i].time(step, lots[i]));
    }
  }
  for (const machine of machines) machine.forget(step);
  return machines.map(({ name }, i) => ({
    machine: name,
    median: median(samples[i].flat()),
    shortest: Math.min(...samples[i].flat()),
    rounds: samples[i].map((round) => median([...round])),
    runs: samples[i].flat().length,
  }));
}

/** Compiles, lets compilers settle for a turn, and returns how many runs fit a turn. */
async function warmUp(machine: Machine, step: Step, turn: number): Promise<number> {
  const first = await machine.time(step, 3);
  const fitting = (milliseconds: number) => Math.max(1, Math.min(1000, Math.round(turn / milliseconds)));
  return fitting(median([...(await machine.time(step, fitting(Math.min(...first))))]));
}

/**
 * How many times as long one takes as another: the median over rounds of the ratio within a round. undefined where
 * one wasn't timed.
 */
export function ratio(speeds: readonly Speed[], one: MachineName, other: MachineName): number | undefined {
  const [a, b] = [one, other].map((name) => speeds.find(({ machine }) => machine === name));
  return a && b && median(a.rounds.map((milliseconds, round) => milliseconds / b.rounds[round]));
}
