import { z } from 'zod';
import {
  type ActionArray,
  type ActionLayout,
  type ActionSpaces,
  actionFault,
  actionLayout,
  choicesOf,
  isBox,
  maskSizeOf,
  widthOf,
} from './action-spaces';
import type { Agent, AgentInput, AgentOutput, Saved, SavedState } from './agent';
import { allocate, dtypeOf, isTypedArray } from './arrays';
import type { RolloutEnv } from './batch';
import { checkGame } from './check-game';
import { checkFunction, checkNumber, checkTypedArray } from './check-values';
import { checkArgument, typedArrays } from './checks';
import { fail, show } from './errors';
import { allocateObservations, copyObservation, copyRow, type Experience } from './experience';
import { checkGenerator, type Generator, type GeneratorState, generatorFrom } from './generator';
import { checkObservations } from './observations';
import { Recorder } from './recorder';
import { mapColumns } from './rows';
import { checkAgent, seatAgents } from './seats';
import type { ArrayOf, DType } from './typed-arrays';

const arrays = z.record(z.string(), typedArrays());
const bytes = typedArrays('uint8');
const envSchema = z.looseObject({
  agents: z.array(z.string()),
  envs: z.int().min(1),
  observations: arrays,
  finalObservations: arrays,
  masks: bytes,
  finalMasks: bytes,
  active: bytes,
  isFirst: bytes,
  previousActions: typedArrays('int32', 'float32'),
  ended: bytes,
  result: z.looseObject({}),
  states: typedArrays(),
  finalStates: typedArrays(),
});

/** The functions of a batch of environments aren't its own properties, so they are looked at here. */
function checkEnv(env: RolloutEnv<ActionSpaces>): void {
  checkArgument('createRollout', 'env', envSchema, env);
  checkFunction('createRollout', 'env.step', env.step);
  checkGame('createRollout', env.game, 'any', 'play');
}

function savedSchema(agents: number) {
  const words = z.array(z.int().min(0)).length(4);
  return z.looseObject({
    states: z.array(z.unknown()).length(agents),
    generators: z.array(words).length(agents),
  });
}

/** Refuses a saved state of an agent that lacks entries of the present one, or has arrays of another type or length. */
function checkAgentState(where: string, present: unknown, saved: unknown): void {
  const remedy = 'Seat the agents that the state was saved with.';
  if (isTypedArray(present)) {
    // An array that is empty at first may grow while the agent plays.
    const isAlike = isTypedArray(saved) && dtypeOf(saved) === dtypeOf(present);
    if (isAlike && (saved.length === present.length || present.length === 0)) return;
    fail(where, `${present.length} numbers of ${dtypeOf(present)}`, show(saved), remedy);
  }
  if (Array.isArray(present)) {
    if (!Array.isArray(saved)) fail(where, 'a list', show(saved), remedy);
  } else if (typeof present === 'object' && present !== null) {
    if (typeof saved !== 'object' || saved === null) fail(where, 'a record', show(saved), remedy);
    for (const [name, value] of Object.entries(present)) {
      checkAgentState(`${where}.${name}`, value, (saved as Record<string, unknown>)[name]);
    }
  }
}

/** Agents seated in a batch of environments, ready to play on from where they are. */
export interface Rollout<Spaces extends ActionSpaces = number> {
  readonly env: RolloutEnv<Spaces>;
  /** In the order of the seats. */
  readonly agents: readonly Agent<Saved, Spaces>[];
  /**
   * Plays one step in every environment and lets the agents see it.
   *
   * @returns each agent's answer, in the order of the seats
   */
  step(): Promise<readonly AgentOutput<Saved, Spaces>[]>;
  /** Plays `steps` steps in every environment and records them. */
  collect(steps: number): Promise<Experience<Spaces>>;
  /** Recurrent states and generators; the environment and the agents' memories are saved by their owners. */
  state(): SavedState;
  restore(saved: SavedState): void;
}

/**
 * The loop in which agents meet an environment, real or imagined. Each agent draws from a generator of its own, which
 * depends on its seat: how many numbers one agent draws changes nothing for the others.
 *
 * @param generator  advanced by one draw: the next rollout that is made with it plays otherwise
 * @param states  in the order of the seats, the recurrent states to go on with. Default: those at an episode's start
 * @throws CoplayError unless there is exactly one agent for each id of the game
 */
export function createRollout<Spaces extends ActionSpaces>(
  env: RolloutEnv<Spaces>,
  agents: readonly Agent<Saved, Spaces>[],
  generator: Generator,
  states?: readonly Saved[],
): Rollout<Spaces> {
  checkEnv(env);
  const seated = seatAgents('createRollout', env.agents, agents);
  seated.forEach((agent) => void checkAgent('createRollout', agent));
  checkGenerator('createRollout', generator);
  if (states !== undefined && !(Array.isArray(states) && states.length === seated.length)) {
    fail(
      'createRollout: states',
      `${seated.length} states, one for each agent`,
      show(states),
      'Leave them out at first.',
    );
  }
  const rollout: Rollout<ActionSpaces> = new SeatedAgents(
    env as unknown as AnyEnv,
    seated as readonly unknown[] as readonly AnyAgent[],
    generator,
    states,
  );
  return rollout as unknown as Rollout<Spaces>;
}

type AnyEnv = RolloutEnv<ActionSpaces>;
type AnyAgent = Agent<Saved, ActionSpaces>;

class SeatedAgents implements Rollout<ActionSpaces> {
  private generators: Generator[];
  private readonly layout: ActionLayout;
  private readonly inputs: AgentInput<ActionSpaces>[];
  private readonly actions: ActionArray;
  private readonly wasActive: Uint8Array;
  private states: Saved[];

  constructor(
    readonly env: AnyEnv,
    readonly agents: readonly AnyAgent[],
    generator: Generator,
    states: readonly Saved[] | undefined,
  ) {
    const own = generator.fork();
    this.generators = agents.map((_, seat) => own.split(seat));
    this.layout = actionLayout(env.game);
    this.inputs = agents.map((_, seat) => allocateInput(env, this.layout, seat));
    this.states = agents.map((agent, seat) => states?.[seat] ?? agent.initialState(env.envs));
    this.actions = allocate(this.layout.dtype, env.envs * agents.length * this.layout.width);
    this.wasActive = new Uint8Array(env.envs * agents.length);
  }

  async step(): Promise<readonly AgentOutput<Saved, ActionSpaces>[]> {
    const { env, agents } = this;
    // All are asked at once, so that networks of one kind can answer in one batch; of several failures, the first
    // seat's is reported.
    const answers = await Promise.allSettled(agents.map((_, seat) => this.ask(seat)));
    const outputs = answers.map((answer) => {
      if (answer.status === 'rejected') throw answer.reason;
      return answer.value;
    });
    this.wasActive.set(env.active);
    await env.step(this.actions);
    this.tell();
    return outputs;
  }

  async collect(steps: number): Promise<Experience<ActionSpaces>> {
    checkNumber('rollout.collect', 'steps', steps, { min: 1, max: 1e8, whole: true });
    const { env } = this;
    const recorder = new Recorder(env, steps);
    for (let t = 0; t < steps; t++) {
      recorder.before(t);
      const outputs = await this.step();
      recorder.after(t, this.actions, outputs);
    }
    return recorder.finish();
  }

  state(): SavedState {
    return { states: [...this.states], generators: this.generators.map((generator) => [...generator.state()]) };
  }

  restore(saved: SavedState): void {
    checkArgument('rollout.restore', 'saved', savedSchema(this.agents.length), saved);
    const states = saved['states'] as readonly Saved[];
    states.forEach((state, seat) => {
      checkAgentState(`rollout.restore: saved.states[${seat}]`, this.states[seat], state);
    });
    const words = saved['generators'] as unknown as readonly GeneratorState[];
    this.generators = words.map((state) => generatorFrom(state));
    this.states = [...states];
  }

  /** One agent's answer, with its actions put into their places. */
  private async ask(seat: number): Promise<AgentOutput<Saved, ActionSpaces>> {
    const { env } = this;
    const agent = this.agents[seat];
    const input = this.inputs[seat];
    gatherInput(env, this.layout, seat, input);
    this.checkInput(seat, input);
    const output = await agent.act(input, this.states[seat], this.generators[seat]);
    this.checkOutput(seat, input, output);
    this.states[seat] = output.state;
    this.place(seat, input, output.actions);
    return output;
  }

  /** Puts an agent's actions [E, w] among those of all agents [E, A, W]. */
  private place(seat: number, { active }: AgentInput<ActionSpaces>, chosen: ActionArray): void {
    const { actions, layout } = this;
    const count = this.agents.length;
    const own = widthOf(layout.spaces[seat]);
    for (let e = 0; e < this.env.envs; e++) {
      const at = (e * count + seat) * layout.width;
      // A row of an absent agent may hold anything: its record must not depend on that.
      for (let i = 0; i < own; i++) actions[at + i] = active[e] === 1 ? chosen[e * own + i] : 0;
    }
  }

  /**
   * Passes the step to every agent with `observe`, each with its own copies: an agent that writes into them affects no
   * other.
   */
  private tell(): void {
    const { env } = this;
    const { rewards, terminated, infos } = env.result;
    const states = env.game.observesState ? statesAfter(env) : undefined;
    for (const agent of this.agents) {
      agent.observe?.({
        rows: env.envs,
        actions: this.actions.slice(),
        active: this.wasActive.slice(),
        rewards: rewards.slice(),
        ended: env.ended.slice(),
        terminated: terminated.slice(),
        infos: mapColumns(infos, (values) => values.slice()),
        ...(states && { states: states.slice() as ArrayOf<DType> }),
      });
    }
  }

  /**
   * Refuses an observation that isn't finite or doesn't fit its kind: networks would learn from it, or answer nonsense.
   */
  private checkInput(seat: number, { rows, observations, active }: AgentInput<ActionSpaces>): void {
    const { game, states } = this.env;
    const check = { spec: game.observation, observations, rows, active };
    checkObservations(game.name, check, (row) => {
      return `${game.agents[seat]} in environment ${row}, step ${game.elapsed(states, row * game.stateSize)}`;
    });
  }

  /** Refuses actions that are missing, masked, or asked of an agent that has none. */
  private checkOutput(seat: number, input: AgentInput<ActionSpaces>, output: AgentOutput<Saved, ActionSpaces>): void {
    const agent = this.agents[seat];
    const actionCount = this.layout.spaces[seat];
    if (typeof actionCount !== 'number') {
      this.checkSpace(seat, input, output);
      return;
    }
    if (output?.actions?.length !== input.rows) {
      const got = show(output?.actions);
      fail(`${agent.name} (${agent.id}).act`, `actions for ${input.rows} rows`, got, 'Answer one action for each row.');
    }
    for (let row = 0; row < input.rows; row++) {
      if (input.active[row] === 0) continue;
      const action = output.actions[row];
      if (input.masks[row * actionCount + action] !== 1) this.refuse(agent, input, row, action);
    }
  }

  /** The same for a box and for several choices. */
  private checkSpace(
    seat: number,
    { rows, active, masks }: AgentInput<ActionSpaces>,
    output: AgentOutput<Saved, ActionSpaces>,
  ): void {
    const agent = this.agents[seat];
    const space = this.layout.spaces[seat];
    const where = `${agent.name} (${agent.id}).act`;
    const [width, maskSize] = [widthOf(space), maskSizeOf(space)];
    checkTypedArray(where, 'actions', output?.actions, isBox(space) ? 'float32' : 'int32', rows * width);
    for (let row = 0; row < rows; row++) {
      if (active[row] === 0) continue;
      const fault = actionFault(space, output.actions, row * width);
      if (fault) fail(where, `${fault.expected} for ${this.nameRow(agent, row)}`, fault.got, fault.remedy);
      let start = row * maskSize;
      choicesOf(space).forEach((count, i) => {
        const option = output.actions[row * width + i];
        if (masks[start + option] !== 1) {
          const expected = `a legal option of choice ${i} for ${this.nameRow(agent, row)}`;
          fail(where, expected, show(option), 'Choose among the options whose mask is 1.');
        }
        start += count;
      });
    }
  }

  private nameRow({ id }: AnyAgent, row: number): string {
    const { game, states } = this.env;
    return `${id} in environment ${row}, step ${game.elapsed(states, row * game.stateSize)}`;
  }

  private refuse(agent: AnyAgent, input: AgentInput<ActionSpaces>, row: number, action: number): never {
    const { game } = this.env;
    const count = input.masks.length / input.rows;
    const legal = Array.from({ length: count }, (_, k) => k)
      .filter((k) => input.masks[row * count + k] === 1)
      .map((k) => (typeof game.actions === 'number' ? `${k} ${game.actionNames[k]}` : `${k}`));
    const place = this.nameRow(agent, row);
    if (legal.length === 0) {
      fail(
        `${game.name}`,
        `a legal action for ${place}`,
        'a mask of zeros',
        'An active agent needs one legal action, such as to stay.',
      );
    }
    const where = `${agent.name} (${agent.id}).act`;
    fail(
      where,
      `a legal action for ${place}: ${legal.join(', ')}`,
      show(action),
      'Choose among the actions whose mask is 1.',
    );
  }
}

/** [E, S] the states after the last step, of games that ended with it the last one: a copy. */
function statesAfter({ states, finalStates, ended, game, envs }: AnyEnv): ArrayOf<DType> {
  const after = states.slice() as ArrayOf<DType>;
  for (let e = 0; e < envs; e++) if (ended[e] === 1) copyRow(finalStates, e, after, e, game.stateSize);
  return after;
}

function allocateInput(env: AnyEnv, { spaces, width, dtype }: ActionLayout, seat: number): AgentInput<ActionSpaces> {
  const { game, envs } = env;
  return {
    rows: envs,
    observations: allocateObservations(game.observation, envs),
    masks: new Uint8Array(envs * maskSizeOf(spaces[seat])),
    active: new Uint8Array(envs),
    isFirst: new Uint8Array(envs),
    previousActions: allocate(dtype, envs * game.agents.length * width),
    ...(game.observesState && { states: allocate(game.stateType, envs * game.stateSize) }),
  };
}

/** Copies one seat's observation out of the environment's arrays. */
function gatherInput(
  env: AnyEnv,
  { spaces, maskSize }: ActionLayout,
  seat: number,
  input: AgentInput<ActionSpaces>,
): void {
  const { game } = env;
  const own = maskSizeOf(spaces[seat]);
  const agents = game.agents.length;
  for (let e = 0; e < env.envs; e++) {
    const row = e * agents + seat;
    copyObservation(game.observation, env.observations, row, input.observations, e);
    if (own === maskSize) copyRow(env.masks, row, input.masks, e, own);
    else input.masks.set(env.masks.subarray(row * maskSize, row * maskSize + own), e * own);
    input.active[e] = env.active[row];
  }
  input.isFirst.set(env.isFirst);
  input.previousActions.set(env.previousActions);
  input.states?.set(env.states);
}
