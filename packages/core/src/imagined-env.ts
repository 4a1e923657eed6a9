import type { RolloutEnv } from './batch';
import { checkRewards } from './check-rewards';
import { allocateStepArrays, isOver, rememberActions } from './env-rows';
import { allocateObservations } from './experience';
import type { AgentId, Game, StepArrays } from './game';
import type { Generator } from './generator';
import type { ImaginationStarts } from './imagination-starts';
import type { ObservationArrays } from './observations';
import type { Simulator } from './simulator';
import type { ArrayOf, DType } from './typed-arrays';

/**
 * B games that are played in a {@link Simulator}, for a rollout. A game that is over stays over: no agent is active in
 * it any more.
 */
export class ImaginedEnv implements RolloutEnv {
  readonly game: Game;
  readonly agents: readonly AgentId[];
  readonly envs: number;
  readonly observations: ObservationArrays;
  readonly masks: Uint8Array;
  readonly active: Uint8Array;
  readonly isFirst: Uint8Array;
  readonly previousActions: Int32Array;
  readonly result: StepArrays;
  readonly ended: Uint8Array;
  readonly states: ArrayOf<DType>;
  readonly finalStates: ArrayOf<DType>;
  /** The observation at a game's end stays the observation from then on. */
  readonly finalObservations: ObservationArrays;
  readonly finalMasks: Uint8Array;
  /** [B] 1 once the game is over */
  private readonly isOver: Uint8Array;

  constructor(
    private readonly simulator: Simulator,
    starts: ImaginationStarts,
    private readonly generator: Generator,
  ) {
    const { game } = simulator;
    this.game = game;
    this.agents = game.agents;
    this.envs = starts.isFirst.length;
    const rows = this.envs * game.agents.length;
    this.states = starts.states.slice() as ArrayOf<DType>;
    this.finalStates = this.states;
    this.observations = allocateObservations(game.observation, rows);
    this.masks = new Uint8Array(rows * game.actions);
    this.finalObservations = this.observations;
    this.finalMasks = this.masks;
    this.active = new Uint8Array(rows);
    this.isFirst = starts.isFirst.slice();
    this.previousActions = starts.previousActions.slice();
    this.result = allocateStepArrays(game, this.envs);
    this.ended = new Uint8Array(this.envs);
    this.isOver = new Uint8Array(this.envs);
    for (let env = 0; env < this.envs; env++) this.look(env);
  }

  async step(actions: Int32Array): Promise<void> {
    await this.simulator.step(this.states, actions, this.generator, this.result);
    for (let env = 0; env < this.envs; env++) {
      rememberActions(this, env, actions);
      if (this.isOver[env] === 1) this.silence(env);
      else this.ended[env] = isOver(this.result, env, this.agents.length) ? 1 : 0;
      this.isOver[env] |= this.ended[env];
      this.isFirst[env] = 0;
      this.look(env);
    }
    const { game, states } = this;
    const check = { rewards: this.result.rewards, rows: this.envs, source: 'the simulator' };
    checkRewards('imagine', game, check, (env) => {
      return `imagined episode ${env}, step ${game.elapsed(states, env * game.stateSize)}`;
    });
  }

  /** Writes the observations and legal actions of a game's agents. */
  private look(env: number): void {
    const { game, states } = this;
    const offset = env * game.stateSize;
    const agents = game.agents.length;
    for (let agent = 0; agent < agents; agent++) {
      const row = env * agents + agent;
      game.legal(states, offset, agent, this.masks, row * game.actions);
      game.observe(states, offset, agent, this.observations, row);
      this.active[row] = this.isOver[env] === 0 && game.isActive(states, offset, agent) ? 1 : 0;
    }
  }

  /** Nothing happens in a game that is over. */
  private silence(env: number): void {
    const agents = this.agents.length;
    this.ended[env] = 0;
    this.result.rewards.fill(0, env * agents, (env + 1) * agents);
    this.result.terminated.fill(0, env * agents, (env + 1) * agents);
    this.result.truncated.fill(0, env * agents, (env + 1) * agents);
  }
}
