import {
  type Agent,
  checkGame,
  createGenerator,
  createRollout,
  type Experience,
  type Game,
  generatorFrom,
  vectorEnv,
} from '@coplay/core';
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
export async function recordedExperience(game: Game, recording: Recording): Promise<Experience> {
  checkGame('recordedExperience', game);
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
  const players = game.agents.map((_, seat) => readerOf(recording, seat));
  const rollout = createRollout(vectorEnv(again, { envs: 1 }), players, createGenerator(0));
  return rollout.collect(recording.steps.length);
}

/** Repeats the recorded actions of a seat. Its state counts the steps. */
function readerOf({ agents, players, steps }: Recording, seat: number): Agent<number> {
  return {
    id: agents[seat],
    name: players[seat],
    initialState: () => 0,
    act: (_, step) => ({ actions: Int32Array.of(steps[step].actions[seat] ?? 0), state: step + 1 }),
  };
}
