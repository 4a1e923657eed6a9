import { type ActionSpaces, type AgentOutput, type AnyGame, fail, type NDArray, type Saved } from '@coplay/core';
import { actionLayout, maskSizeOf } from '@coplay/core/arrays';
import type { RecordedInsight } from './recording';

/**
 * The numbers in an agent's extras about its choice in one game, under the names of {@link recordEpisode}.
 *
 * @returns null where it told nothing
 * @throws CoplayError for an extra of another size
 */
export function insightOf(
  game: AnyGame,
  seat: number,
  { extras = {} }: AgentOutput<Saved, ActionSpaces>,
): RecordedInsight | null {
  const K = maskSizeOf(actionLayout(game).spaces[seat]);
  const G = game.goals?.names.length ?? 0;
  const sizes = { policy: K, visits: K, values: 1, beliefs: game.agents.length * G };
  const numbers = (name: keyof typeof sizes): readonly number[] | undefined => {
    const extra = extras[name];
    if (extra) checkSize(game.agents[seat], name, extra, sizes[name]);
    // A rollout fills in NaN for agents without extras; JSON has no NaN.
    return extra && Array.from(extra.data).every(Number.isFinite) ? Array.from(extra.data) : undefined;
  };
  const [policy, visits, values, beliefs] = [
    numbers('policy'),
    numbers('visits'),
    numbers('values'),
    numbers('beliefs'),
  ];
  const insight: RecordedInsight = {
    ...(policy && { policy }),
    ...(values && { value: values[0] }),
    ...(beliefs && { beliefs: byCoPlayer(game, seat, beliefs, G) }),
    ...(visits && { visits }),
  };
  return Object.keys(insight).length > 0 ? insight : null;
}

function byCoPlayer(
  game: AnyGame,
  seat: number,
  beliefs: readonly number[],
  G: number,
): Record<string, readonly number[]> {
  const others = game.agents.map((id, other) => [id, beliefs.slice(other * G, (other + 1) * G)] as const);
  return Object.fromEntries(others.filter((_, other) => other !== seat));
}

function checkSize(id: string, name: string, { data, shape }: NDArray, size: number): void {
  if (data.length === size) return;
  const expected = `the extra ${name} of ${size} ${size === 1 ? 'number' : 'numbers'}`;
  fail(
    `recordEpisode: ${id}`,
    expected,
    `[${shape}]`,
    'Give it another name, or the shape that recordEpisode documents.',
  );
}
