import {
  type Agent,
  checkOptions,
  createGenerator,
  createRollout,
  type Game,
  type GeneratorState,
  splitSeed,
  vectorEnv,
} from '@coplay/core';
import { z } from 'zod';
import { type RecordedFrame, type RecordedStep, type Recording, stepOf } from './recording';
import { wrap } from './wrap';

/** Options of {@link recordEpisode}. */
export interface RecordEpisodeOptions {
  /** Seed of the game and of the agents, an integer in [0, 2^53). Default 0 */
  readonly seed?: number | undefined;
  /** A map of the game to start from instead of a random state. */
  readonly layout?: unknown;
}

const schema = z
  .object({ seed: z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(0), layout: z.unknown().optional() })
  .strict();

/**
 * Plays one episode and writes it down. What the agents remember beyond an episode is put back afterwards.
 *
 * @throws CoplayError for bad options, or agents that don't fit the game
 */
export async function recordEpisode(
  game: Game,
  agents: readonly Agent[],
  options: RecordEpisodeOptions = {},
): Promise<Recording> {
  const { seed, layout } = checkOptions('recordEpisode', schema, options);
  const tape = new Tape(game);
  const env = vectorEnv(tape.recordedGame, { envs: 1, seed: splitSeed(seed, 0) });
  if (layout !== undefined) env.reset({ layout });
  const rollout = createRollout(env, agents, createGenerator(splitSeed(seed, 1)));
  const memories = agents.map((agent) => agent.save?.());
  try {
    do await rollout.step();
    while (env.ended[0] === 0);
  } finally {
    agents.forEach((agent, i) => {
      const memory = memories[i];
      if (memory) agent.restore?.(memory);
    });
  }
  return tape.recording(rollout.agents.map((agent) => agent.name));
}

/** Listens to the steps of a game played in one environment. */
class Tape {
  readonly recordedGame: Game;
  private readonly frames: RecordedFrame[] = [];
  private readonly steps: RecordedStep[] = [];
  private generator: GeneratorState = [0, 0, 0, 0];

  constructor(private readonly game: Game) {
    this.recordedGame = wrap(game, {
      step: (state, offset, actions, actionsOffset, generator, result, row) => {
        if (this.frames.length === 0) {
          this.frames.push(frameOf(game, state, offset));
          this.generator = generator.state();
        }
        const wasActive = game.agents.map((_, agent) => game.isActive(state, offset, agent));
        game.step(state, offset, actions, actionsOffset, generator, result, row);
        this.steps.push(stepOf(game, wasActive, actions.subarray(actionsOffset), result, row));
        this.frames.push(frameOf(game, state, offset));
      },
    });
  }

  recording(players: readonly string[]): Recording {
    const { name, options, agents, actionNames } = this.game;
    const { generator, frames, steps } = this;
    const heading = { format: 'coplay-episode', version: 1, game: name, options } as const;
    return { ...heading, agents, players, actionNames, generator, frames, steps };
  }
}

function frameOf(game: Game, state: Parameters<Game['step']>[0], offset: number): RecordedFrame {
  const layout = game.writeLayout?.(state, offset);
  const scene = game.scene?.(state, offset);
  return {
    state: Array.from(state.subarray(offset, offset + game.stateSize)),
    ...(layout !== undefined && { layout }),
    ...(scene && { scene }),
  };
}
