import type { Recording } from '@coplay/envs';
import { html, setText } from '../dom';
import { shortNumber } from './bars';
import { boardSvg, cellSizeFor } from './board';
import { differingCells } from './differences';
import { livePicture } from './picture';
import { countOf } from './planes';
import type { View } from './view';

const PIXELS = 480;

/** The picture of a moment as an SVG file; undefined for a game without scenes. */
export function momentSvg({ frames, game }: Recording, moment: number, pixels = PIXELS): string | undefined {
  const { scene } = frames[moment];
  return scene && boardSvg(scene, `${game}, step ${moment}`, [], cellSizeFor(scene, pixels));
}

/** The board, and next to it a world model's prediction of this moment. */
export function boardsView(recording: Recording): View {
  const { steps, frames } = recording;
  const actual = figure('What happened');
  const foretold = steps.some(({ predicted }) => predicted) ? figure('Predicted') : undefined;
  const element = html('div', { class: 'boards' }, actual.element, ...(foretold ? [foretold.element] : []));
  return {
    element,
    show(moment) {
      const { scene } = frames[moment];
      const predicted = steps[moment - 1]?.predicted;
      const differing = scene && predicted?.scene ? differingCells(scene, predicted.scene) : [];
      if (scene) {
        actual.show(boardSvg(scene, `${recording.game}, step ${moment}`, differing, cellSizeFor(scene, PIXELS)));
      } else {
        actual.describe(stateText(recording, moment));
      }
      if (!foretold) return;
      const title = `predicted for step ${moment}`;
      foretold.show(
        predicted?.scene ? boardSvg(predicted.scene, title, differing, cellSizeFor(predicted.scene, PIXELS)) : '',
      );
      foretold.say(
        predicted ? verdict(recording, moment, differing.length) : 'There is no prediction of the first moment.',
      );
    },
  };
}

/** What differs between the prediction and what happened, in words. */
function verdict({ steps, agents }: Recording, moment: number, cells: number): string {
  const { rewards, terminated, predicted } = steps[moment - 1];
  const told = agents.flatMap((_, i) => {
    const [is, was] = [rewards[i], predicted!.rewards[i]];
    const reward = Math.abs(is - was) < 0.005 ? [] : [`reward ${shortNumber(was)} instead of ${shortNumber(is)}`];
    const end = terminated[i] === predicted!.terminated[i] ? [] : [terminated[i] ? 'that it stays' : 'that it leaves'];
    const all = [...reward, ...end];
    return all.length > 0 ? [`≠ ${i + 1}: ${all.join(', ')}`] : [];
  });
  return [countOf(cells), ...told].join('; ');
}

/** A picture under a heading, and a note below it. */
interface Figure {
  readonly element: HTMLElement;
  show(svg: string): void;
  describe(words: string): void;
  say(text: string): void;
}

function figure(title: string): Figure {
  const picture = livePicture();
  const note = html('p', { class: 'note' });
  return {
    element: html('figure', {}, html('figcaption', {}, title), picture.element, note),
    show: picture.show,
    describe: picture.say,
    say: (text) => setText(note, text),
  };
}

/** What stands in the place of a picture for a game that has none. */
function stateText({ frames }: Recording, moment: number): string {
  const { layout, state } = frames[moment];
  return layout ?? `state ${state.map(shortNumber).join(' ')}`;
}
