import { z } from 'zod';
import type { Agent, Saved } from './agent';
import { dtypeOf, sizeOf } from './arrays';
import { checkArgument, typedArrays } from './checks';
import { isOverState } from './env-rows';
import { checkOptions, fail } from './errors';
import { allocateCuts, type Cuts, copyRow, type Experience } from './experience';
import type { Game } from './game';
import type { Generator } from './generator';
import { checkGenerator } from './generator';
import type { ImaginationStarts } from './imagination-starts';
import { ImaginedEnv } from './imagined-env';
import { createRollout } from './rollout';
import { takeRows } from './rows';
import { checkAgent, seatAgents } from './seats';
import { checkSimulator, type Simulator } from './simulator';

/** Options of {@link imagine}. */
export interface ImagineOptions {
  /** H, steps at most; at least 1 */
  readonly horizon: number;
  /** For the agents and the simulator. It's advanced, so that the next call draws other numbers. */
  readonly generator: Generator;
  /**
   * In the order of the seats, the recurrent states with which the agents go on. Default: those at an episode's start
   */
  readonly agentStates?: readonly Saved[];
}

/** Children of the generator. */
const SPLITS = { agents: 0, world: 1 };

/**
 * Plays B episodes in a simulator, from given states on: the same loop and the same kind of experience as in the real
 * game, with `isImagined` set. One episode, or its first H steps, in each row; an episode that goes on after them has a
 * cut there, so that values are bootstrapped.
 *
 * @returns [B, H, A, ...], padded after `lengths`
 * @throws CoplayError for starts that don't fit the game, and for a state in which the game is over
 */
export async function imagine(
  simulator: Simulator,
  agents: readonly Agent[],
  starts: ImaginationStarts,
  options: ImagineOptions,
): Promise<Experience> {
  checkSimulator('imagine: simulator', simulator);
  checkArgument('imagine', 'starts', startsSchema, starts);
  const { horizon, generator, agentStates } = checkOptions('imagine', optionsSchema, options);
  checkGenerator('imagine', generator);
  for (const agent of seatAgents('imagine', simulator.game.agents, agents)) checkAgent('imagine', agent);
  checkStarts(simulator.game, starts, agentStates);
  const own = generator.fork();
  const env = new ImaginedEnv(simulator, starts, own.split(SPLITS.world));
  const rollout = createRollout(env, agents, own.split(SPLITS.agents), agentStates);
  const experience = await rollout.collect(horizon);
  experience.isImagined.fill(1);
  experience.lengths.set(filledSteps(experience));
  return { ...experience, cuts: cutsWithin(experience, simulator.game.stateSize) };
}

const startsSchema = z.looseObject({
  states: typedArrays(),
  previousActions: typedArrays('int32'),
  isFirst: typedArrays('uint8'),
});
const optionsSchema = z.strictObject({
  horizon: z.int().min(1),
  generator: z.custom<Generator>((value) => typeof value === 'object' && value !== null, 'a generator'),
  agentStates: z.array(z.custom<Saved>(() => true)).optional(),
});

function checkStarts(game: Game, starts: ImaginationStarts, agentStates: readonly Saved[] | undefined): void {
  const { states, previousActions, isFirst } = starts;
  const agents = game.agents.length;
  const rows = isFirst.length;
  const check = (name: string, length: number, expected: number, type = 'numbers') => {
    if (length === expected) return;
    const remedy = 'Give every array of the starts for the same games.';
    fail(`imagine: ${name}`, `${expected} ${type} for ${rows} games of ${game.name}`, String(length), remedy);
  };
  if (rows === 0) fail('imagine: isFirst', 'at least one game', 'none', 'Give somewhere to start.');
  if (dtypeOf(states) !== game.stateType) {
    fail(
      'imagine: states',
      `${game.stateType} of ${game.name}`,
      dtypeOf(states),
      "Give states of the simulator's game.",
    );
  }
  check('states', states.length, rows * game.stateSize);
  for (let row = 0; row < rows; row++) {
    if (!isOverState(game, states, row * game.stateSize)) continue;
    fail('imagine: states', 'states from which play goes on', `one that is over in row ${row}`, 'Leave that row out.');
  }
  check('previousActions', previousActions.length, rows * agents);
  if (agentStates) check('agentStates', agentStates.length, agents, 'states, one for each agent,');
}

/** [B] steps until and including the one in which the episode ended. */
function filledSteps({ envs, steps, ended }: Experience): Int32Array {
  return Int32Array.from({ length: envs }, (_, env) => {
    const end = ended.subarray(env * steps, (env + 1) * steps).indexOf(1);
    return end < 0 ? steps : end + 1;
  });
}

/** The cuts at filled steps. */
function cutsWithin(experience: Experience, stateSize: number): Cuts {
  const { cuts, agents, observation, actionCount, lengths } = experience;
  const kept = Int32Array.from(cuts.env.keys()).filter((n) => cuts.step[n] < lengths[cuts.env[n]]);
  const within = allocateCuts({ agents, observation, actions: actionCount }, kept.length);
  kept.forEach((from, to) => {
    within.env[to] = cuts.env[from];
    within.step[to] = cuts.step[from];
    copyRow(cuts.masks, from, within.masks, to, agents.length * actionCount);
    copyRow(cuts.previousActions, from, within.previousActions, to, agents.length);
    for (const name in observation) {
      const size = agents.length * sizeOf(observation[name].shape);
      copyRow(cuts.observations[name], from, within.observations[name], to, size);
    }
  });
  const states = takeRows(cuts.states!.data, kept, stateSize); // a rollout records them
  return { ...within, states: { data: states, shape: [kept.length, stateSize] } };
}
