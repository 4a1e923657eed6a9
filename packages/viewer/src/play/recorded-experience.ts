import {
  type ActionSpace,
  type ActionSpaces,
  type Agent,
  type AnyGame,
  allocate,
  checkGame,
  createGenerator,
  createRollout,
  type DType,
  type Experience,
  type Game,
  generatorFrom,
  vectorEnv,
} from '@coplay/core';
import { actionLayout, isBox, widthOf } from '@coplay/core/arrays';
import { checkRecording, type Recording, replayEpisode } from '@coplay/envs';
import { changedGame } from './changed-game';

/**
 * A recorded game as experience, as a rollout collects it: for buffers, learners and models of co-players. The actions
 * are played again by the rules, and must lead to the recorded states. It's a real episode: `isImagined` is 0; there
 * are no extras but the infos of the game.
 *
 * @param game  of the recording: `gameOfRecording(recording)`
 * @returns [1, T, A, ...] the whole episode
 * @throws CoplayError that names the first step that differs, or for another game
 */
export async function recordedExperience<Spaces extends ActionSpaces>(
  game: Game<DType, Spaces>,
  recording: Recording,
): Promise<Experience<Spaces>> {
  return (await experienceOf(game as unknown as AnyGame, recording)) as unknown as Experience<Spaces>;
}

async function experienceOf(game: AnyGame, recording: Recording): Promise<Experience<ActionSpaces>> {
  checkGame('recordedExperience', game, 'any');
  checkRecording('recordedExperience', recording);
  replayEpisode(game, recording);
  let generator = generatorFrom(recording.generator);
  const again = changedGame(game, {
    reset(state, offset) {
      state.set(recording.frames[0].state, offset);
      generator = generatorFrom(recording.generator);
    },
    step: (state, offset, actions, at, _, result, row) => game.step(state, offset, actions, at, generator, result, row),
  });
  const { spaces } = actionLayout(game);
  const players = game.agents.map((_, seat) => readerOf(recording, seat, spaces[seat]));
  const rollout = createRollout(vectorEnv(again, { envs: 1 }), players, createGenerator(0));
  return rollout.collect(recording.steps.length);
}

/** Repeats the recorded actions of a seat. Its state counts the steps. */
function readerOf(
  { agents, players, steps }: Recording,
  seat: number,
  space: ActionSpace,
): Agent<number, ActionSpaces> {
  const actionAt = (step: number) => {
    const values = allocate(isBox(space) ? 'float32' : 'int32', widthOf(space)); // zeros for an agent that has left
    const action = steps[step].actions[seat];
    if (action !== null) values.set(typeof action === 'number' ? [action] : action);
    return values;
  };
  return {
    id: agents[seat],
    name: players[seat],
    initialState: () => 0,
    act: (_, step) => ({ actions: actionAt(step), state: step + 1 }),
  };
}
