import type { Agent, Saved } from '@coplay/core';

/** Seconds in which at least one of the agents acts. */
export interface ActingWatch {
  /** Since the last call. */
  take(): number;
}

/**
 * Puts a stopwatch around `act` of agents that are asked at once and answer in one batch: it runs from the first
 * question to the last answer, so that time which they spend together counts once.
 */
export function watchActing<State extends Saved>(agents: readonly Agent<State>[]): ActingWatch {
  let milliseconds = 0;
  let start = 0;
  let acting = 0;
  for (const agent of agents) {
    const act = agent.act.bind(agent);
    agent.act = async (...input) => {
      if (acting++ === 0) start = performance.now();
      try {
        return await act(...input);
      } finally {
        if (--acting === 0) milliseconds += performance.now() - start;
      }
    };
  }
  return {
    take() {
      const taken = milliseconds / 1000;
      milliseconds = 0;
      return taken;
    },
  };
}
