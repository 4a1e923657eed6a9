import {
  type ActionSpaces,
  type AnyGame,
  allocate,
  checkGame,
  type DType,
  fail,
  type Game,
  generatorFrom,
} from '@coplay/core';
import { actionLayout, allocateStepArrays } from '@coplay/core/arrays';
import { checkRecording } from './check';
import { type Recording, spacesOf, stepOf } from './recording';

/**
 * Plays the actions of a recording again and checks that the same comes of them: that a file belongs to this game, or
 * that its rules haven't changed since.
 *
 * @throws CoplayError that names the first step that differs
 */
export function replayEpisode<Spaces extends ActionSpaces>(game: Game<DType, Spaces>, recording: Recording): void {
  replay(game as unknown as AnyGame, recording);
}

function replay(game: AnyGame, recording: Recording): void {
  checkGame('replayEpisode', game, 'any');
  checkRecording('replayEpisode', recording);
  const { frames, steps } = recording;
  checkBelongs(game, recording);
  const state = allocate(game.stateType, game.stateSize);
  state.set(frames[0].state);
  const generator = generatorFrom(recording.generator);
  const result = allocateStepArrays(game, 1);
  const { dtype, width } = actionLayout(game);
  const actions = allocate(dtype, game.agents.length * width);
  steps.forEach(({ insights: _, predicted: __, ...recorded }, t) => {
    actions.fill(0);
    recorded.actions.forEach((action, agent) => {
      if (action !== null) actions.set(typeof action === 'number' ? [action] : action, agent * width);
    });
    const wasActive = recorded.actions.map((action) => action !== null);
    game.step(state, 0, actions, 0, generator, result, 0);
    const played = stepOf(game, wasActive, actions, result, 0);
    const isSame =
      JSON.stringify(played) === JSON.stringify(recorded) &&
      frames[t + 1].state.every((value, i) => value === state[i]);
    if (isSame) return;
    const remedy = 'The recording was made by another game or version.';
    fail('replayEpisode', `step ${t + 1} as it was recorded`, 'another result', remedy);
  });
}

function checkBelongs(game: AnyGame, recording: Recording): void {
  const { frames, steps } = recording;
  const isFitting = frames[0]?.state.length === game.stateSize && frames.length === steps.length + 1;
  const sameOptions = inOrder(recording.options) === inOrder(game.options);
  const sameSpaces = JSON.stringify(recording.spaces) === JSON.stringify(spacesOf(game).spaces);
  if (recording.game !== game.name || !sameOptions || !sameSpaces || !isFitting) {
    const got = `one of ${recording.game} with options ${JSON.stringify(recording.options)}`;
    const expected = `a recording of ${game.name} with options ${JSON.stringify(game.options)}`;
    fail('replayEpisode', expected, got, 'Make the game with the options that are in the recording.');
  }
}

/** Options as text, by name: a game that is made of recorded options has them in another order. */
function inOrder(options: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1)));
}
