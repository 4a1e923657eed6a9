import { parallelEnv } from '@coplay/core';
import {
  cartPole,
  catchGame,
  gymHunt,
  matrixGame,
  nearestStag,
  permuteSeats,
  randomAgent,
  recordEpisode,
  renderReplay,
  renderSvg,
  renderText,
  stagHunt,
} from '@coplay/envs';
import { describe, expect, it } from 'vitest';

const game = stagHunt({ size: 3, agents: 2, stags: 1, hares: 1 });

function stateOf(layout: unknown): Int32Array {
  const state = new Int32Array(game.stateSize);
  game.readLayout?.(layout, state, 0);
  return state;
}

const apart = stateOf('1..\n.S2\n#.h');
const together = stateOf({
  agents: [
    [1, 1],
    [1, 1],
  ],
  stags: [[1, 1]],
  hares: [[0, 2]],
});

/** How often a piece of text occurs. */
function count(text: string, piece: string): number {
  return text.split(piece).length - 1;
}

describe('renderText', () => {
  it('draws a cell for each place', () => {
    expect(renderText(game, apart)).toBe('1 . .\n. S 2\n# . h');
  });

  it('shows everything that shares a cell, in columns of one width', () => {
    expect(renderText(game, together)).toBe('.   .   h\n.   S12 .\n.   .   .');
  });

  it('draws the state at an offset', () => {
    const two = new Int32Array(2 * game.stateSize);
    two.set(apart);
    two.set(together, game.stateSize);
    expect(renderText(game, two, game.stateSize)).toBe(renderText(game, together));
  });

  it('colours agents, and nothing else, when asked to', () => {
    const text = renderText(game, apart, 0, { color: true });
    expect(text).not.toBe(renderText(game, apart));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
    expect(text.replace(/\u001b\[[\d;]+m([12])\u001b\[0m/g, '$1')).toBe(renderText(game, apart));
  });

  it('says which games have no picture', () => {
    expect(() => renderText(matrixGame(), new Int32Array(2))).toThrow('matrix-stag-hunt, which has none');
    expect(() => renderSvg(cartPole(), new Float64Array(6))).toThrow('cart-pole, which has none');
  });
});

describe('renderSvg', () => {
  it('draws a numbered circle for each agent and a square for each other thing', () => {
    const svg = renderSvg(game, apart);
    expect(count(svg, '<circle')).toBe(2);
    expect(count(svg, '<text')).toBe(4); // 1, 2, S, h
    expect(count(svg, '<rect')).toBe(4); // the ground, an obstacle, S, h
    for (const symbol of ['1', '2', 'S', 'h']) expect(svg).toContain(`>${symbol}</text>`);
    const colors = [...svg.matchAll(/<circle[^>]*fill="(#\w+)"/g)].map(([, color]) => color);
    expect(new Set(colors).size).toBe(2);
    expect(svg.length).toBeLessThan(2000);
  });

  it('keeps things of one cell inside it and apart', () => {
    const svg = renderSvg(game, together, 0, { cellSize: 100 });
    const circles = [...svg.matchAll(/<circle cx="([\d.]+)" cy="([\d.]+)" r="([\d.]+)"/g)].map((found) =>
      found.slice(1).map(Number),
    );
    expect(circles).toHaveLength(2);
    for (const [x, y, r] of circles) {
      // Row 1, column 1 of cells of 100 pixels.
      for (const edge of [x - r, x + r, y - r, y + r]) expect(edge).toBeGreaterThanOrEqual(100);
      for (const edge of [x - r, x + r, y - r, y + r]) expect(edge).toBeLessThanOrEqual(200);
    }
    const [[x1, y1, r1], [x2, y2, r2]] = circles;
    expect(Math.hypot(x1 - x2, y1 - y2)).toBeGreaterThanOrEqual(r1 + r2);
  });

  it('has a title and a description for those who cannot see it', () => {
    const svg = renderSvg(game, apart);
    expect(svg).toContain('role="img"');
    expect(svg).toContain('<title>stag-hunt, step 0</title>');
    expect(svg).toContain(
      '3 rows and 3 columns with 1 obstacle cells: stag in row 2, column 2; hare in row 3, column 3; agent 1 in row 1',
    );
    expect(renderSvg(game, apart, 0, { title: 'a < b & "c"' })).toContain(
      '<title>a &lt; b &amp; &quot;c&quot;</title>',
    );
  });

  it('is well-formed: every tag that opens closes', () => {
    for (const state of [apart, together]) {
      const open: string[] = [];
      for (const [, slash, name, end] of renderSvg(game, state).matchAll(/<(\/?)(\w+)[^>]*?(\/?)>/g)) {
        if (slash) expect(open.pop()).toBe(name);
        else if (!end) open.push(name);
      }
      expect(open).toEqual([]);
    }
  });

  it('refuses bad options', () => {
    expect(() => renderSvg(game, apart, 0, { cellSize: 0 })).toThrow('cellSize');
    expect(() => renderSvg(game, apart, 0, { size: 3 } as object)).toThrow('"size"');
  });

  it.each([gymHunt(), catchGame(), permuteSeats(stagHunt())])('draws $name', (other) => {
    const env = parallelEnv(other);
    env.reset();
    expect(renderSvg(env.game, env.state())).toMatch(/^<svg[\s\S]*<\/svg>\n$/);
  });
});

describe('renderReplay', () => {
  it('tells who did what, what it earned and how it ended', async () => {
    const agents = game.agents.map((id) => nearestStag({ game, id }));
    const recording = await recordEpisode(game, agents, { layout: '1S2\n...\n..h' });
    // Both walk onto the stag and hunt it: 5 each. One cell holds three things once, so all cells are three wide.
    expect(renderReplay(recording)).toBe(
      [
        'stag-hunt: 1 agent_0 NearestStag, 2 agent_1 NearestStag',
        '',
        'start',
        '1   S   2',
        '.   .   .',
        '.   .   h',
        '',
        'step 1',
        '.   S12 .    1 right',
        '.   .   .    2 left',
        '.   .   h',
        '',
        'step 2',
        '.   .   .    1 hunt stag  +5, leaves',
        '.   .   .    2 hunt stag  +5, leaves',
        '.   .   h',
        '',
        'The end after 2 steps',
        '1 agent_0 NearestStag: return 5',
        '2 agent_1 NearestStag: return 5',
      ].join('\n'),
    );
    expect(renderReplay(recording, { color: true })).toContain('\u001b[1;34m1\u001b[0m');
  });

  it('does without pictures, and says when time was up', async () => {
    const matrix = matrixGame({ kind: 'coordination', maxSteps: 1 });
    const recording = await recordEpisode(
      matrix,
      matrix.agents.map((id) => randomAgent({ game: matrix, id })),
    );
    const text = renderReplay(recording);
    expect(text).toMatch(/step 1\n1 (left|right)/);
    expect(text).toContain('Time is up after 1 step\n1 agent_0 Random: return ');
  });
});
