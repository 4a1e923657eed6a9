import { createHash } from 'node:crypto';
import { CoplayError, evaluate } from '@coplay/core';
import { useBackend } from '@coplay/tensor';
import { type ZooAgents, type ZooCard, zoo, zooCards } from '@coplay/zoo';
import { beforeAll, describe, expect, it } from 'vitest';
import { filesUnder, root } from '../../../scripts/lib/workspaces';
import { bytesOf } from '../src/file';
import { AGENTS } from '../src/generated/agents';

const EPISODES = 32;
const cards = zooCards();
/** One of them is enough for the quick tests. */
const tagsOf = ({ name }: ZooCard) => (name === 'matrix-stag-hunt/ppo' ? [] : ['slow']);

beforeAll(() => useBackend('wasm'));

/** The mean return of an agent in a few episodes, and its standard error. */
async function played({ game, agents }: ZooAgents): Promise<{ mean: number; error: number }> {
  const { returns } = await evaluate(game, agents, { episodes: EPISODES, seed: 7 });
  const A = agents.length;
  const sums = Array.from({ length: EPISODES }, (_, i) => {
    return returns.subarray(i * A, (i + 1) * A).reduce((sum, value) => sum + value / A, 0);
  });
  const mean = sums.reduce((sum, value) => sum + value / EPISODES, 0);
  const variance = sums.reduce((sum, value) => sum + (value - mean) ** 2 / (EPISODES - 1), 0);
  return { mean, error: Math.sqrt(variance / EPISODES) };
}

describe.each(cards)('$name', (card) => {
  it('plays, and gets the return of its card', { tags: tagsOf(card) }, async () => {
    const agents = await zoo(card.name);
    const { mean, error } = await played(agents);
    agents.dispose();
    // Both means are estimates: of a 95 % interval the half is 1.96 standard errors. Five of their difference.
    const ofCard = (card.return.upper - card.return.lower) / 2 / 1.96;
    expect(Math.abs(mean - card.return.mean)).toBeLessThanOrEqual(5 * Math.hypot(error, ofCard) + 1e-9);
  });

  it('has a card that fits its file', async () => {
    const { BASE64 } = await AGENTS[card.name as keyof typeof AGENTS]();
    const bytes = Buffer.from(BASE64, 'base64');
    expect([bytes.length, createHash('sha256').update(bytes).digest('hex')]).toEqual([card.bytes, card.sha256]);
    const { mean, lower, upper, episodes } = card.return;
    expect(lower <= mean && mean <= upper && episodes >= 1000).toBe(true);
    expect(card.commit).toMatch(/^[0-9a-f]{12}$/);
  });
});

describe('the zoo', () => {
  it('has a card for each configuration', () => {
    const runs = `${root}/packages/zoo/runs/`;
    const names = filesUnder(runs, '.json').map((path) => path.replace(runs, '').replace('.json', ''));
    expect(cards.map(({ name }) => name)).toEqual(names.sort());
    expect(Object.keys(AGENTS)).toEqual(names);
  });

  it('lists all names where one is unknown', async () => {
    const error = await zoo('stag-hunt-4x4/poo').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CoplayError);
    expect((error as Error).message).toContain(cards.map(({ name }) => name).join(', '));
    expect((error as Error).message).toContain('"stag-hunt-4x4/poo"');
  });

  it('refuses a file with another checksum', async () => {
    const [card] = cards;
    const { BASE64 } = await AGENTS[card.name as keyof typeof AGENTS]();
    const broken = `${BASE64.slice(0, -8)}${BASE64.endsWith('AAAAAAAA') ? 'BBBBBBBB' : 'AAAAAAAA'}`;
    await expect(bytesOf(card, broken)).rejects.toThrow(
      `zoo: ${card.name}: expected a file with the SHA-256 ${card.sha256}`,
    );
  });

  it('gives cards of its own to each caller', () => {
    (zooCards()[0] as { name: string }).name = 'mine';
    expect(zooCards()[0].name).toBe(cards[0].name);
  });
});
