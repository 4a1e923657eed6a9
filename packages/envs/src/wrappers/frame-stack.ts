import {
  type ActionSpaces,
  allocate,
  checkGame,
  type DType,
  fail,
  type Game,
  type ObservationField,
  type ObservationSpec,
  show,
  type TypedArray,
} from '@coplay/core';
import { sizeOf } from '@coplay/core/arrays';
import { mapColumns } from '@coplay/core/rows';
import { wrap, wrapOptions } from './wrap';

/**
 * Shows the last observations together, the newest last: velocities and other things that one observation hides
 * (`VecFrameStack` of stable-baselines3). Each field [..., C] becomes [..., frames C]. At the start of an episode the
 * first observation stands in for the ones before it, as in Gymnasium's `FrameStackObservation`.
 *
 * The state holds the last states of the game, from which the observations are made.
 *
 * @param frames  observations that are shown, 2 to 64
 * @throws CoplayError for another number
 */
export function frameStack<State extends DType, Spaces extends ActionSpaces>(
  game: Game<State, Spaces>,
  frames: number,
): Game<State, Spaces> {
  checkGame('frameStack', game, 'any');
  if (!Number.isInteger(frames) || frames < 2 || frames > 64) {
    fail('frameStack', 'frames from 2 to 64', show(frames), 'Give the number of observations that are shown together.');
  }
  const S = game.stateSize;
  const images = Object.entries(game.observation).flatMap(([name, { shape, dtype }]) => {
    const last = shape.at(-1) ?? 1;
    const size = sizeOf(shape);
    return size === last ? [] : [{ name, last, lines: size / last, scratch: allocate(dtype, frames * size) }];
  });

  /** Changes a row of a field from one frame after the other, [frames, ..., C], to [..., frames C]. */
  function interleave(data: TypedArray, base: number, { last, lines, scratch }: (typeof images)[number]): void {
    for (let i = 0; i < scratch.length; i++) scratch[i] = data[base + i];
    for (let line = 0; line < lines; line++) {
      for (let frame = 0; frame < frames; frame++) {
        const to = base + (line * frames + frame) * last;
        const from = (frame * lines + line) * last;
        for (let i = 0; i < last; i++) data[to + i] = scratch[from + i];
      }
    }
  }

  const readLayout = game.readLayout?.bind(game);
  // The newest state is the first, so that all functions of the game find their own.
  return wrap(game, {
    stateSize: frames * S,
    observation: stacked(game.observation, frames),
    options: wrapOptions(game, 'frameStack', frames),
    ...(game.observesState && { observesState: true }),
    reset(state, offset, generator) {
      game.reset(state, offset, generator);
      for (let i = 1; i < frames; i++) state.copyWithin(offset + i * S, offset, offset + S);
    },
    step(state, offset, actions, actionsOffset, generator, result, row) {
      state.copyWithin(offset + S, offset, offset + (frames - 1) * S);
      game.step(state, offset, actions, actionsOffset, generator, result, row);
    },
    observe(state, offset, agent, out, row) {
      // A row has room for one row of the game for each frame.
      for (let frame = 0; frame < frames; frame++) {
        game.observe(state, offset + (frames - 1 - frame) * S, agent, out, row * frames + frame);
      }
      for (let i = 0; i < images.length; i++) {
        const image = images[i];
        interleave(out[image.name], row * image.scratch.length, image);
      }
    },
    ...(readLayout && {
      readLayout(layout, state, offset) {
        readLayout(layout, state, offset);
        for (let i = 1; i < frames; i++) state.copyWithin(offset + i * S, offset, offset + S);
      },
    }),
  });
}

function stacked(observation: ObservationSpec, frames: number): ObservationSpec {
  return mapColumns(observation, (field): ObservationField => {
    const { shape, channels, kind, classes } = field;
    const last = shape.at(-1) ?? 1;
    const age = (frame: number) => frames - 1 - frame;
    const named = (frame: number) => channels?.map((name) => (age(frame) === 0 ? name : `${name} ${age(frame)} ago`));
    const names = Array.from({ length: frames }, (_, frame) => named(frame) ?? []).flat();
    return {
      ...field,
      shape: [...shape.slice(0, -1), frames * last],
      ...(kind === 'one-hot' && { classes: classes ?? last }), // several codes now
      ...(channels && { channels: names }),
    };
  });
}
