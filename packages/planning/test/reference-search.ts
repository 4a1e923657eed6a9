import { createGenerator, type Game } from '@coplay/core';
import { allocateStepArrays } from '@coplay/core/arrays';

/** What a {@link referenceSearch} asks of a state. */
export interface Reference {
  readonly game: Game<'int32'>;
  readonly seat: number;
  readonly gamma: number;
  readonly exploration: number;
  readonly unvisited?: 'zero' | 'parent';
  /** K log-probabilities, or logits, and a value */
  evaluate(state: Int32Array): { readonly logits: readonly number[]; readonly value: number };
  /** What a co-player does, always. */
  coAction(state: Int32Array, seat: number): number;
}

/** What was found in a state. */
export interface Node {
  readonly state: Int32Array;
  readonly reward: number;
  readonly isOver: boolean;
  readonly value: number;
  readonly priors: readonly number[];
  readonly edges: { visits: number; sum: number; child: Node | undefined }[];
}

/**
 * The search of the specification in the plainest way, by objects and recursion, with co-players who always do the same
 * in a state: to compare with.
 */
export function referenceSearch(reference: Reference, root: Int32Array, simulations: number): Node {
  const { game, gamma, exploration, unvisited } = reference;
  const node = evaluated(reference, root, 0, 'open');
  const visit = (at: Node): number => {
    const total = at.edges.reduce((sum, edge) => sum + edge.visits, 0);
    const untried = unvisited === 'parent' ? meanValue(at) : 0;
    let best = -1;
    let bestScore = Number.NEGATIVE_INFINITY;
    for (let k = 0; k < game.actions; k++) {
      if (at.priors[k] < 0) continue;
      const { visits, sum } = at.edges[k];
      const score = (visits ? sum / visits : untried) + (exploration * Math.sqrt(total) * at.priors[k]) / (1 + visits);
      const isBetter = score > bestScore || (score === bestScore && at.priors[k] > at.priors[best]);
      if (isBetter) [best, bestScore] = [k, score];
    }
    const edge = at.edges[best];
    const isNew = !edge.child;
    edge.child ??= play(reference, at.state, best);
    const { child } = edge;
    const value = child.reward + gamma * (child.isOver || isNew ? child.value : visit(child));
    edge.visits++;
    edge.sum += value;
    return value;
  };
  for (let i = 0; i < simulations; i++) visit(node);
  return node;
}

/** Mean of the critic's value in a state and of every return from there. */
export function meanValue({ value, edges }: Node): number {
  const returns = edges.reduce((all, one) => ({ visits: all.visits + one.visits, sum: all.sum + one.sum }), {
    visits: 0,
    sum: 0,
  });
  return (value + returns.sum) / (1 + returns.visits);
}

function play(reference: Reference, before: Int32Array, action: number): Node {
  const { game, seat } = reference;
  const state = before.slice();
  const actions = Int32Array.from(game.agents, (_, agent) => {
    if (agent === seat) return action;
    return game.isActive(before, 0, agent) ? reference.coAction(before, agent) : 0;
  });
  const result = allocateStepArrays(game, 1);
  game.step(state, 0, actions, 0, createGenerator(1), result, 0);
  const kind = result.terminated[seat] ? 'ended' : result.truncated[seat] ? 'cut' : 'open';
  return evaluated(reference, state, result.rewards[seat], kind);
}

function evaluated(reference: Reference, state: Int32Array, reward: number, kind: 'open' | 'ended' | 'cut'): Node {
  const { game, seat } = reference;
  const edges = Array.from({ length: game.actions }, () => ({ visits: 0, sum: 0, child: undefined }));
  if (kind === 'ended') return { state, reward, isOver: true, value: 0, priors: [], edges };
  const mask = new Uint8Array(game.actions);
  game.legal(state, 0, seat, mask, 0);
  const { logits, value } = reference.evaluate(state);
  const largest = Math.max(...logits.filter((_, k) => mask[k]));
  const weights = logits.map((logit, k) => (mask[k] ? Math.exp(logit - largest) : 0));
  const sum = weights.reduce((a, b) => a + b, 0);
  const priors = weights.map((weight, k) => (mask[k] ? Math.fround(Math.fround(weight) / sum) : -1));
  return { state, reward, isOver: kind === 'cut', value, priors, edges };
}
