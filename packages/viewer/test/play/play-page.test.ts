import { playPage } from '@coplay/viewer';
import { describe, expect, it } from 'vitest';
import { keysOf } from '../../page/play/keys';

/** What the page's script is told. */
function dataOf(page: string): { settings: { title: string; game: string }[]; ort: string } {
  const [, json] = /id="coplay-play">(.*?)<\/script>/.exec(page)!;
  return JSON.parse(json);
}

describe('playPage', () => {
  it('is under 500 kB and offers both games', () => {
    const page = playPage();
    console.log(`${page.length} bytes`);
    expect(page.length).toBeLessThan(500_000);
    const { settings, ort } = dataOf(page);
    expect(new Set(settings.map(({ game }) => game))).toEqual(new Set(['stag-hunt', 'snowdrift']));
    expect(ort).toBe('ort/');
    expect(page.match(/(src|href)="?https?:/g)).toBeNull();
  });

  it('takes settings as text, never as markup', () => {
    const title = '</script><script>alert(1)</script>';
    const page = playPage({ settings: [{ title, game: 'stag-hunt' }] });
    expect(page).not.toContain('<script>alert');
    expect(dataOf(page).settings[0].title).toBe(title);
  });

  it('refuses games and options that it does not have', () => {
    const page = (game: string, options: object) => () =>
      playPage({ settings: [{ title: 'x', game, options: { ...options } }] });
    expect(page('chess', {})).toThrow('expected one of stag-hunt, snowdrift, got "chess"');
    expect(page('stag-hunt', { sise: 4 })).toThrow('the unknown option "sise"');
    expect(() => playPage({ settings: [] })).toThrow('settings');
    expect(() => playPage({ ort: 'ort' })).toThrow('ort');
  });
});

describe('keysOf', () => {
  it('gives every action a key of its own', () => {
    const keys = keysOf(['up', 'down', 'left', 'right', 'stay', 'hunt stag', 'hunt hare', 'shovel', 'next']);
    expect(keys.map(({ key }) => key)).toEqual([
      'ArrowUp',
      'ArrowDown',
      'ArrowLeft',
      'ArrowRight',
      ' ',
      's', // of stag
      'h', // of hare
      'o', // of shovel: s and h are taken
      'e', // of next: N is for the next game
    ]);
  });
});
