import type { ActionSpaces, Agent, AgentId, Experience, Generator, Saved, Trainer } from '@coplay/core';

/** A learner's data after each rollout. */
export interface LearnerData<Spaces extends ActionSpaces = number> {
  /** Of all agents; a learner reads the rows of its own ids (and what else its algorithm is entitled to). */
  readonly experience: Experience<Spaces>;
  /** Imagined experience, as additional data; see `imagine`. */
  readonly imagined?: readonly Experience<Spaces>[];
  /** Share of the training that was done before this update, in [0, 1]: for schedules. */
  readonly progress: number;
  /** For shuffling; it's the learner's own. */
  readonly generator: Generator;
  /** Receives warnings: the option `warn` of the run. Default: warnings are left out */
  readonly warn?: (line: string) => void;
}

/** The algorithm behind one agent, or behind several that share weights. */
export interface Learner extends Trainer<LearnerData> {
  /** For metrics and messages: the agent's id, or `shared`. */
  readonly name: string;
  /** Whose trajectories it learns from. */
  readonly ids: readonly AgentId[];
  /** Learners that it's made of, such as the PPO inside of HOP+. */
  readonly parts?: readonly Learner[];
  /** Updates done so far. */
  readonly updates: number;
  /**
   * How it runs in lockstep with others of its kind: the calls that they make in the same turn become one call of one
   * graph. Undefined for a learner that runs by itself. Read before each training, once there are parameters.
   */
  readonly lockstep?: Lockstep<this> | undefined;
  /**
   * How it learns from actions that its agents' policies didn't draw, such as those of an exploration:
   *
   * - `log-probs`: it weights them by the extra `logProbs`, the log-probability with which each action was drawn
   * - `any`: what it learns doesn't depend on how actions were drawn
   *
   * Undefined for a learner that can't: `selfPlay` refuses an exploration of its agents.
   */
  readonly offPolicy?: 'log-probs' | 'any' | undefined;
  /** Makes the first parameters, unless there are some already. Called before the first rollout. */
  initialise(generator: Generator): Promise<void>;
  /** Its description for a run directory, as JSON. */
  readonly config: Readonly<Record<string, unknown>>;
}

/**
 * How a learner runs in lockstep with others. `compileTogether` of `@coplay/tensor` makes the functions that `join`
 * gives; examples/own-learner.ts shows a whole learner.
 */
export interface Lockstep<One = Learner> {
  /** Learners with the same text can share graphs: it names the algorithm, and all options that a graph depends on. */
  readonly kind: string;
  /**
   * The present networks: another object after each change that makes `join` necessary again, such as a restore.
   * Learners whose networks were joined already are left as they are.
   */
  readonly networks: object;
  /** Gives all of these learners, which are of this kind, functions that run in one graph. */
  join(learners: readonly One[]): void;
}

/** An agent that learns. Agents that share weights name the same learner. */
export interface LearningAgent<State extends Saved = Saved, Spaces extends ActionSpaces = number>
  extends Agent<State, Spaces> {
  readonly learner: Learner;
}

/** Whether an agent learns. */
export function isLearning<Spaces extends ActionSpaces>(
  agent: Agent<Saved, Spaces>,
): agent is LearningAgent<Saved, Spaces> {
  return typeof agent === 'object' && agent !== null && 'learner' in agent && agent.learner !== undefined;
}

const hiding = new WeakSet<object>();

/** Notes that an agent acts for one that learns, but has no learner itself. */
export function hideLearner(agent: object): void {
  hiding.add(agent);
}

/** Whether {@link hideLearner} was called for an agent: a run would not train it. */
export function hidesLearner(agent: object): boolean {
  return hiding.has(agent);
}
