import { allocate, checkGame, fail, type Game, generatorFrom } from '@coplay/core';
import { allocateStepArrays } from '@coplay/core/arrays';
import { checkRecording } from './check';
import { type Recording, stepOf } from './recording';

/**
 * Plays the actions of a recording again and checks that the same comes of them: that a file belongs to this game, or
 * that its rules haven't changed since.
 *
 * @throws CoplayError that names the first step that differs
 */
export function replayEpisode(game: Game, recording: Recording): void {
  checkGame('replayEpisode', game);
  checkRecording('replayEpisode', recording);
  const { frames, steps } = recording;
  checkBelongs(game, recording);
  const state = allocate(game.stateType, game.stateSize);
  state.set(frames[0].state);
  const generator = generatorFrom(recording.generator);
  const result = allocateStepArrays(game, 1);
  steps.forEach(({ insights: _, predicted: __, ...recorded }, t) => {
    const actions = Int32Array.from(recorded.actions, (action) => action ?? 0);
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

function checkBelongs(game: Game, recording: Recording): void {
  const { frames, steps } = recording;
  const isFitting = frames[0]?.state.length === game.stateSize && frames.length === steps.length + 1;
  const sameOptions = inOrder(recording.options) === inOrder(game.options);
  if (recording.game !== game.name || !sameOptions || !isFitting) {
    const got = `one of ${recording.game} with options ${JSON.stringify(recording.options)}`;
    const expected = `a recording of ${game.name} with options ${JSON.stringify(game.options)}`;
    fail('replayEpisode', expected, got, 'Make the game with the options that are in the recording.');
  }
}

/** Options as text, by name: a game that is made of recorded options has them in another order. */
function inOrder(options: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(Object.entries(options).sort(([a], [b]) => (a < b ? -1 : 1)));
}
