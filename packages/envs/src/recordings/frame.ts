import type { AnyGame } from '@coplay/core';
import { allocateObservations, sizeOf } from '@coplay/core/arrays';
import type { RecordedFrame, RecordedObservation } from './recording';

type State = Parameters<AnyGame['step']>[0];

/** A state as a frame of a recording. */
export function frameOf(game: AnyGame, state: State, offset: number, observations: boolean): RecordedFrame {
  const layout = game.writeLayout?.(state, offset);
  const scene = game.scene?.(state, offset);
  return {
    state: Array.from(state.subarray(offset, offset + game.stateSize)),
    ...(layout !== undefined && { layout }),
    ...(scene && { scene }),
    ...(observations && { observations: observationsOf(game, state, offset) }),
  };
}

function observationsOf(game: AnyGame, state: State, offset: number): (RecordedObservation | null)[] {
  const seen = allocateObservations(game.observation, 1);
  return game.agents.map((_, agent) => {
    if (!game.isActive(state, offset, agent)) return null;
    game.observe(state, offset, agent, seen, 0);
    const fields = Object.entries(game.observation).map(([name, { shape }]) => {
      return [name, Array.from(seen[name].subarray(0, sizeOf(shape)))] as const;
    });
    return Object.fromEntries(fields);
  });
}
