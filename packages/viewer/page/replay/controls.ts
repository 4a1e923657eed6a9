import { html, setText } from '../dom';

/** Steps per second that can be chosen. */
const SPEEDS = [1, 2, 4, 8, 15, 30, 60];
const USUAL = 4;

/** The controls' requests. */
export interface Wishes {
  goTo(moment: number): void;
  step(by: number): void;
  toggle(): void;
  download(kind: 'svg' | 'png' | 'gif'): void;
}

/** Buttons, a slider and a choice of speed. */
export interface Controls {
  /** What steps. */
  readonly element: HTMLElement;
  /** Speed, and pictures to save. */
  readonly more: HTMLElement;
  /** Steps per second. */
  speed(): number;
  /** The next faster speed (1), or slower one (-1). */
  changeSpeed(by: number): void;
  show(moment: number, isPlaying: boolean): void;
  /** The state of a task in progress, such as a file that is being made. */
  say(text: string): void;
}

/** Makes them for an episode of `steps` steps. */
export function createControls(steps: number, hasPictures: boolean, wishes: Wishes): Controls {
  const play = html('button', { type: 'button', class: 'play' }, 'Play');
  play.addEventListener('click', () => wishes.toggle());
  const slider = html('input', { type: 'range', min: 0, max: steps, value: 0, step: 1, 'aria-label': 'Step' });
  slider.addEventListener('input', () => wishes.goTo(Number(slider.value)));
  const place = html('output', { class: 'place' });
  const speeds = SPEEDS.map((speed) => html('option', { value: speed }, `${speed} a second`));
  const speed = html('select', { 'aria-label': 'Speed, steps a second' }, ...speeds);
  speed.value = String(USUAL);
  const status = html('span', { role: 'status', class: 'status' });
  const downloads = (['svg', 'png', 'gif'] as const).map((kind) => {
    const what = kind === 'gif' ? 'Save the episode as animated GIF' : `Save this picture as ${kind.toUpperCase()}`;
    return button(what, kind.toUpperCase(), () => wishes.download(kind));
  });
  const element = html(
    'div',
    { class: 'replay-controls', role: 'group', 'aria-label': 'Replay' },
    button('To the start', '|◀', () => wishes.goTo(0)),
    button('One step back', '◀', () => wishes.step(-1)),
    play,
    button('One step forward', '▶', () => wishes.step(1)),
    button('To the end', '▶|', () => wishes.goTo(steps)),
    slider,
    place,
  );
  const more = html('div', { class: 'replay-more' }, speed, ...(hasPictures ? downloads : []), status);
  return {
    element,
    more,
    speed: () => Number(speed.value),
    changeSpeed(by) {
      speed.selectedIndex = Math.min(SPEEDS.length - 1, Math.max(0, speed.selectedIndex + by));
    },
    show(moment, isPlaying) {
      slider.value = String(moment);
      slider.setAttribute('aria-valuetext', `step ${moment} of ${steps}`);
      setText(place, `${moment} / ${steps}`);
      setText(play, isPlaying ? 'Pause' : 'Play');
    },
    say(text) {
      status.textContent = text;
    },
  };
}

function button(name: string, sign: string, press: () => void): HTMLButtonElement {
  const made = html('button', { type: 'button', 'aria-label': name, title: name }, sign);
  made.addEventListener('click', press);
  return made;
}
