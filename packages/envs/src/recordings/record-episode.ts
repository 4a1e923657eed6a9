import {
  type ActionArray,
  type ActionSpaces,
  type Agent,
  type AgentOutput,
  type AnyGame,
  allocate,
  checkGame,
  checkOptions,
  createGenerator,
  createRollout,
  type DType,
  fail,
  type Game,
  type Generator,
  type GeneratorState,
  type Saved,
  type Simulator,
  seatAgents,
  streamSeed,
  vectorEnv,
} from '@coplay/core';
import { allocateStepArrays } from '@coplay/core/arrays';
import { checkAgent, checkEpisodeLength, checkRewards, checkSimulator } from '@coplay/core/checks';
import { z } from 'zod';
import { wrap } from '../wrappers/wrap';
import { frameOf } from './frame';
import { insightOf } from './insights';
import {
  type RecordedFrame,
  type RecordedPrediction,
  type RecordedStep,
  type Recording,
  spacesOf,
  stepOf,
} from './recording';

/** Options of {@link recordEpisode}. */
export interface RecordEpisodeOptions {
  /** Seed of the game and of the agents, an integer in [0, 2^53). Default 0 */
  readonly seed?: number | undefined;
  /** A map of the game to start from instead of a random state. */
  readonly layout?: unknown;
  /** Whether everything that agents see is written down too: a file grows several times. Default false */
  readonly observations?: boolean | undefined;
  /**
   * A model of the world, such as `createWorldModel(...).simulator({ sample: false })`, that predicts every next frame.
   * Default: none
   */
  readonly simulator?: Simulator | undefined;
}

const schema = z
  .object({
    seed: z.int().min(0).max(Number.MAX_SAFE_INTEGER).default(0),
    layout: z.unknown().optional(),
    observations: z.boolean().default(false),
    simulator: z.custom<Simulator>().optional(),
  })
  .strict();

/**
 * Plays one episode and records it. The agents' memory beyond an episode is restored afterwards.
 *
 * An agent's `extras` about its choice are recorded as `RecordedInsight`: `policy` [1, K], `values` [1], `visits`
 * [1, K], and `beliefs` [1, A G], a row of goals for every seat, its own included. Any agent may have such extras;
 * `withInsight` of `@coplay/trainers` adds them to trained agents. No option changes the episode.
 *
 * @throws CoplayError for bad options, or agents that don't fit the game
 */
export async function recordEpisode<Spaces extends ActionSpaces>(
  game: Game<DType, Spaces>,
  agents: readonly Agent<Saved, Spaces>[],
  options: RecordEpisodeOptions = {},
): Promise<Recording> {
  return record(game as unknown as AnyGame, agents as readonly unknown[] as readonly AnyAgent[], options);
}

type AnyAgent = Agent<Saved, ActionSpaces>;

async function record(game: AnyGame, agents: readonly AnyAgent[], options: RecordEpisodeOptions): Promise<Recording> {
  checkGame('recordEpisode', game, 'any');
  const { seed, layout, observations, simulator } = checkOptions('recordEpisode', schema, options);
  for (const agent of seatAgents('recordEpisode', game.agents, agents)) checkAgent('recordEpisode', agent);
  if (simulator !== undefined) {
    checkGame('recordEpisode with a simulator', game); // its actions are discrete
    checkSimulator('recordEpisode: option simulator', simulator, game as unknown as Game);
  }
  const tape = new Tape(game, observations);
  const env = vectorEnv(tape.recordedGame, { envs: 1, seed: streamSeed(seed, 'record/env') });
  if (layout !== undefined) env.reset({ layout });
  const rollout = createRollout(env, agents, createGenerator(streamSeed(seed, 'record/agents')));
  const memories = agents.map((agent) => agent.save?.());
  const dice = createGenerator(streamSeed(seed, 'record/simulator'));
  try {
    do {
      tape.tell(await rollout.step());
      checkEpisodeLength('recordEpisode', game, tape.length);
      if (simulator) tape.foretell(await foretold(game as unknown as Game, simulator, tape.last(), dice, observations));
    } while (env.ended[0] === 0);
  } finally {
    agents.forEach((agent, i) => {
      const memory = memories[i];
      if (memory) agent.restore?.(memory);
    });
  }
  return tape.recording(rollout.agents.map((agent) => agent.name));
}

/** The simulator's prediction of the last step. */
async function foretold(
  game: Game,
  simulator: Simulator,
  { before, step }: { readonly before: RecordedFrame; readonly step: RecordedStep },
  dice: Generator,
  observations: boolean,
): Promise<RecordedPrediction> {
  const state = allocate(game.stateType, game.stateSize);
  state.set(before.state);
  const result = allocateStepArrays(game, 1);
  await simulator.step(
    state,
    Int32Array.from(step.actions, (action) => (action as number | null) ?? 0),
    dice,
    result,
  );
  return {
    ...frameOf(game, state, 0, observations),
    rewards: Array.from(result.rewards, (reward) => finite(game, reward)),
    terminated: Array.from(result.terminated, (ended) => ended === 1),
  };
}

/**
 * A model that predicts NaN or infinity has diverged. JSON can't hold such numbers, and a reader would take them for
 * damage.
 */
function finite(game: Game, reward: number): number {
  if (Number.isFinite(reward)) return reward;
  const remedy = 'Record without it, or with a model that was trained.';
  return fail('recordEpisode: option simulator', `finite rewards of ${game.name}`, String(reward), remedy);
}

/** Listens to the steps of a game played in one environment. */
class Tape {
  readonly recordedGame: AnyGame;
  private readonly frames: RecordedFrame[] = [];
  private readonly steps: RecordedStep[] = [];
  private generator: GeneratorState = [0, 0, 0, 0];

  constructor(
    private readonly game: AnyGame,
    private readonly observations: boolean,
  ) {
    this.recordedGame = wrap(game, {
      step: (state, offset, actions, actionsOffset, generator, result, row) => {
        if (this.frames.length === 0) {
          this.frames.push(frameOf(game, state, offset, observations));
          this.generator = generator.state();
        }
        const wasActive = game.agents.map((_, agent) => game.isActive(state, offset, agent));
        game.step(state, offset, actions, actionsOffset, generator, result, row);
        const check = { rewards: result.rewards, rows: 1, first: row, source: 'step() of the game' };
        checkRewards('recordEpisode', game, check, () => `step ${game.elapsed(state, offset)}`);
        this.steps.push(stepOf(game, wasActive, (actions as ActionArray).subarray(actionsOffset), result, row));
        this.frames.push(frameOf(game, state, offset, observations));
      },
    });
  }

  /** Steps played so far. */
  get length(): number {
    return this.steps.length;
  }

  /** The step that was played last, and the frame before it. */
  last(): { readonly before: RecordedFrame; readonly step: RecordedStep } {
    return { before: this.frames[this.frames.length - 2], step: this.steps[this.steps.length - 1] };
  }

  /** The agents' answers before the last step. */
  tell(outputs: readonly AgentOutput<Saved, ActionSpaces>[]): void {
    const { actions } = this.last().step;
    const insights = outputs.map((output, seat) =>
      actions[seat] === null ? null : insightOf(this.game, seat, output),
    );
    if (insights.some((insight) => insight !== null)) this.add({ insights });
  }

  /** The prediction of the last step. */
  foretell(predicted: RecordedPrediction): void {
    this.add({ predicted });
  }

  recording(players: readonly string[]): Recording {
    const { name, options, agents, actionNames, goals, observation } = this.game;
    const { generator, frames, steps } = this;
    const { version, spaces } = spacesOf(this.game);
    const heading = { format: 'coplay-episode', version, game: name, options } as const;
    const believes = steps.some(({ insights }) => insights?.some((insight) => insight?.beliefs));
    return {
      ...heading,
      agents,
      players,
      actionNames,
      ...(spaces && { spaces }),
      ...(believes && goals && { goals: goals.names }),
      ...(this.observations && { observation }),
      generator,
      frames,
      steps,
    };
  }

  private add(more: Partial<RecordedStep>): void {
    this.steps[this.steps.length - 1] = { ...this.last().step, ...more };
  }
}
