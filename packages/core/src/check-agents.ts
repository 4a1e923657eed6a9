import { type ActionSpaces, actionLayout, maskSizeOf } from './action-spaces';
import type { AgentInput, AgentStep } from './agent';
import { sizeOf } from './arrays';
import { checkCount, checkRecord, checkTypedArray } from './check-values';
import { fail, show } from './errors';
import type { AnyGame } from './game';
import { checkGenerator, type Generator } from './generator';
import type { ObservationArrays } from './observations';
import { isNumberArray } from './typed-arrays';

/** The part of a game that the arguments of its agents are checked by. */
export type SeatedGame = Pick<AnyGame, 'agents' | 'actions' | 'observation' | 'infos' | 'stateType' | 'stateSize'>;

/**
 * Refuses the input of `act` if an array is missing, or has another dtype or length than the rows need. It reads no
 * values, so it costs almost no time.
 *
 * @param where  the agent and its method, for the message: `PPO (agent_0).act`
 * @param seat   the agent's seat, whose space determines the size of its masks. Default 0
 */
export function checkAgentInput(where: string, game: SeatedGame, input: AgentInput<ActionSpaces>, seat = 0): void {
  checkRecord(where, 'input', input);
  const { rows, observations, masks, active, isFirst, previousActions } = input;
  checkCount(where, 'input.rows', rows);
  checkObservationArrays(where, 'input.observations', game, observations, rows);
  const { spaces, dtype, width } = actionLayout(game);
  checkTypedArray(where, 'input.masks', masks, 'uint8', rows * maskSizeOf(spaces[seat]));
  checkTypedArray(where, 'input.active', active, 'uint8', rows);
  checkTypedArray(where, 'input.isFirst', isFirst, 'uint8', rows);
  checkTypedArray(where, 'input.previousActions', previousActions, dtype, rows * game.agents.length * width);
}

/**
 * Refuses the input and the generator of `act`. The agent itself checks its state.
 *
 * @param where  the agent and its method, for the message: `PPO (agent_0).act`
 * @param seat   the agent's seat, whose space determines the size of its masks. Default 0
 */
export function checkAct(
  where: string,
  game: SeatedGame,
  input: AgentInput<ActionSpaces>,
  generator: Generator,
  seat = 0,
): void {
  checkAgentInput(where, game, input, seat);
  checkGenerator(where, generator);
}

/**
 * Refuses observations that lack a field of the game, or hold another number of values than the rows need.
 *
 * @param where  the function whose argument they are, for the message
 * @param name   the argument's name
 */
export function checkObservationArrays(
  where: string,
  name: string,
  { observation }: Pick<AnyGame, 'observation'>,
  observations: ObservationArrays,
  rows: number,
): void {
  checkRecord(where, name, observations);
  for (const field in observation) {
    const { shape } = observation[field];
    const data: unknown = observations[field];
    const length = rows * sizeOf(shape);
    if (isNumberArray(data) && data.length === length) continue;
    const expected = `a typed array of ${length} values, [${shape}] in ${rows} rows`;
    const remedy = 'Make the agent with the game that it plays.';
    fail(`${where}: ${name}.${field}`, expected, show(data), remedy);
  }
}

/**
 * Refuses the step given to `observe` if an array is missing, or has another dtype or length than the rows need.
 *
 * @param where  the agent and its method, for the message: `HOP (agent_0).observe`
 */
export function checkAgentStep(where: string, game: SeatedGame, step: AgentStep<ActionSpaces>): void {
  checkRecord(where, 'step', step);
  const { rows, actions, active, rewards, ended, terminated, infos, states } = step;
  checkCount(where, 'step.rows', rows);
  const size = rows * game.agents.length;
  const { dtype, width } = actionLayout(game);
  checkTypedArray(where, 'step.actions', actions, dtype, size * width);
  checkTypedArray(where, 'step.active', active, 'uint8', size);
  checkTypedArray(where, 'step.rewards', rewards, 'float32', size);
  checkTypedArray(where, 'step.ended', ended, 'uint8', rows);
  checkTypedArray(where, 'step.terminated', terminated, 'uint8', size);
  checkRecord(where, 'step.infos', infos);
  for (const name of game.infos) checkTypedArray(where, `step.infos.${name}`, infos[name], 'float32', size);
  if (states !== undefined) checkTypedArray(where, 'step.states', states, game.stateType, rows * game.stateSize);
}
