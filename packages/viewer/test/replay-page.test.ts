import { gunzipSync } from 'node:zlib';
import { rulesSimulator, type Scene } from '@coplay/core';
import { nearestStag, type Recording, recordEpisode, stagHunt } from '@coplay/envs';
import { replayPage } from '@coplay/viewer';
import { beforeAll, describe, expect, it } from 'vitest';
import { boardSvg } from '../page/replay/board';
import { channelPairs, differingCells } from '../page/replay/differences';

const game = stagHunt({ size: 8, agents: 4, stags: 2, hares: 6 });
let recording: Recording;
beforeAll(async () => {
  const agents = game.agents.map((id) => nearestStag({ game, id }));
  recording = await recordEpisode(game, agents, { observations: true, simulator: rulesSimulator(game) });
});

describe('replayPage', () => {
  it('holds the recordings, is small, and asks no network', async () => {
    const page = await replayPage([recording, recording]);
    const packed = [...page.matchAll(/<script type="application\/gzip"[^>]*>([^<]*)<\/script>/g)];
    expect(packed).toHaveLength(2);
    for (const [, text] of packed) {
      const read = JSON.parse(gunzipSync(Buffer.from(text, 'base64')).toString());
      expect(read).toEqual(JSON.parse(JSON.stringify(recording)));
    }
    console.log(`${page.length} bytes`);
    expect(page.length).toBeLessThan(100_000);
    const outside = page
      .replaceAll('http://www.w3.org/', '')
      .match(/(src|href)="?https?:|url\(https?:|fetch\(|XMLHttpRequest/g);
    expect(outside).toBeNull();
  });

  it('shows names as text', async () => {
    const named = { ...recording, players: ['</script><b>', '"', '&', "'"] };
    const page = await replayPage(named, { title: '<i>"title"</i>' });
    expect(page).toContain('<h1>&lt;i&gt;&quot;title&quot;&lt;/i&gt;</h1>');
    expect(page).toContain('&lt;/script&gt;&lt;b&gt;');
    expect(page).not.toContain('</script><b>');
  });

  it('refuses what is no recording', async () => {
    await expect(replayPage([])).rejects.toThrow('replayPage: expected one recording or more, got none');
    await expect(replayPage({ ...recording, version: 2 as 1 })).rejects.toThrow('got version 2');
    await expect(replayPage(recording, { titel: 'x' } as object)).rejects.toThrow('"titel"');
  });
});

describe('differences', () => {
  const scene = (text: string): Scene => {
    const lines = text.split('/');
    const items = lines.flatMap((line, row) =>
      [...line].flatMap((symbol, column) => (symbol === '.' ? [] : [{ kind: 'agent', symbol, row, column }])),
    );
    return { rows: lines.length, columns: lines[0].length, items };
  };

  it('of two pictures are the cells that hold other things, in any order of the lists', () => {
    const actual = scene('12./..3');
    expect(differingCells(actual, { ...actual, items: [...actual.items].reverse() })).toEqual([]);
    expect(differingCells(actual, scene('12./.3.'))).toEqual([4, 5]);
    const twice = { ...actual, items: [...actual.items, actual.items[0]] };
    expect(differingCells(actual, twice)).toEqual([0]);
    expect(differingCells(actual, scene('12./..4'))).toEqual([5]);
  });

  it('of planes are told by channel, and of a vector by place', () => {
    const field = { shape: [1, 2, 3], dtype: 'uint8', channels: ['a', 'b', 'c'] } as const;
    // cells: (a0 b0 c0) (a1 b1 c1)
    const pairs = channelPairs('planes', field, [1, 0, 0, 0, 1, 0], [1, 0, 0, 0, 0, 1]);
    expect(pairs.map(({ name, differing }) => [name, differing])).toEqual([
      ['a', []],
      ['b', [1]],
      ['c', [1]],
    ]);
    expect(pairs[1].actual).toEqual([0, 1]);
    expect(pairs[1].foretold).toEqual([0, 0]);
    const vector = channelPairs('time', { shape: [2], dtype: 'float32' }, [0.5, 1], [0.5 + 1e-9, 0]);
    expect(vector).toEqual([{ name: 'time', actual: [0.5, 1], foretold: [0.5 + 1e-9, 0], differing: [1] }]);
    expect(channelPairs('planes', field, [1, 0, 0, 0, 1, 0], undefined)[1].differing).toEqual([]);
  });

  it('are marked on the board by a sign and a dashed frame', () => {
    const svg = boardSvg(scene('12./..3'), 'a board', [4], 40);
    expect(svg.match(/≠/g)).toHaveLength(1);
    expect(svg).toContain(
      '<rect x="41.5" y="41.5" width="37" height="37" fill="none" stroke="#b3005e" stroke-width="3" stroke-dasharray="5 3"/>',
    );
    expect(svg.trim().endsWith('</svg>')).toBe(true);
    expect(boardSvg(scene('1'), 'a board', [], 40)).not.toContain('≠');
  });
});
