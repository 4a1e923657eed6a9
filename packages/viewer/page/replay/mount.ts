import type { Recording } from '@coplay/envs';
import { html, setText } from '../dom';
import { actionAt, agentCard } from './agent-card';
import { boardsView } from './boards';
import { createClock } from './clock';
import { createControls, type Wishes } from './controls';
import { pictureFile, save } from './download';
import { KEYS_HELP, listenToKeys } from './keys';
import { addStyle } from './style';

/** Options of {@link mountReplay}. */
export interface ReplayOptions {
  /**
   * Where keys are listened to: `element` for the replay alone, when something in it has the focus, or the whole
   * `page`. Default `element`
   */
  readonly keys?: 'element' | 'page';
}

/** A replay on a page. */
export interface Replay {
  /** The moment that is shown, 0 to the number of steps. */
  readonly moment: number;
  /** Goes to a moment; one out of range is moved into it. */
  goTo(moment: number): void;
  /** Takes it off the page. */
  dispose(): void;
}

/**
 * Puts a recorded episode into an element of a page: the board, each agent's observations, choices and beliefs, and a
 * world model's predictions, as far as the recording has them; with controls, keys, and pictures to save.
 */
export function mountReplay(element: Element, recording: Recording, { keys = 'element' }: ReplayOptions = {}): Replay {
  const { steps, frames, agents, game } = recording;
  let moment = 0;
  const parts = [boardsView(recording), ...agents.map((_, seat) => agentCard(recording, seat))];
  const told = html('p', { class: 'told', role: 'status' });

  const draw = () => {
    controls.show(moment, clock.isRunning);
    for (const part of parts) part.show(moment);
    // What plays by itself is too quick to be read out.
    if (!clock.isRunning) setText(told, inWords(recording, moment));
  };
  const goTo = (wanted: number) => {
    moment = Math.min(steps.length, Math.max(0, wanted));
    draw();
  };
  const pause = () => {
    clock.stop();
    draw();
  };
  const wishes: Wishes = {
    goTo(wanted) {
      clock.stop();
      goTo(wanted);
    },
    step: (by) => wishes.goTo(moment + by),
    toggle() {
      if (clock.isRunning) return pause();
      if (moment === steps.length) moment = 0;
      clock.start();
      draw();
    },
    download: (kind) => void download(kind),
  };
  const download = async (kind: 'svg' | 'png' | 'gif') => {
    controls.say(`Making the ${kind.toUpperCase()} …`);
    try {
      const name = kind === 'gif' ? game : `${game}-step-${moment}`;
      save(await pictureFile(recording, kind, moment, controls.speed()), `${name}.${kind}`);
      controls.say(`${name}.${kind} is saved.`);
    } catch (error) {
      controls.say(`No ${kind.toUpperCase()}: ${(error as Error).message}`);
    }
  };
  const controls = createControls(steps.length, frames[0].scene !== undefined, wishes);
  const clock = createClock(controls.speed, () => {
    if (moment < steps.length) goTo(moment + 1);
    if (moment === steps.length) pause();
  });

  const [boards, ...cards] = parts.map((part) => part.element);
  const root = html(
    'div',
    { class: 'coplay-replay' },
    controls.element,
    controls.more,
    html('p', { class: 'help' }, KEYS_HELP),
    told,
    html('div', { class: 'scene' }, boards, html('div', { class: 'agents' }, ...cards)),
  );
  // First of all: a recording that can't be drawn leaves nothing on the page.
  draw();
  const changeSpeed = (by: number) => controls.changeSpeed(by);
  const forget = listenToKeys(keys === 'page' ? document : root, steps.length, { ...wishes, changeSpeed });
  addStyle();
  element.append(root);
  return {
    get moment() {
      return moment;
    },
    goTo: (wanted) => wishes.goTo(wanted),
    dispose() {
      clock.stop();
      forget();
      root.remove();
    },
  };
}

/** `Step 3 of 12. 1: up, 2: hunt stag` */
function inWords(recording: Recording, moment: number): string {
  const { steps, agents } = recording;
  const place = `Step ${moment} of ${steps.length}`;
  if (moment === steps.length) return `${place}: the end.`;
  return `${place}. Next, ${agents.map((_, seat) => `${seat + 1}: ${actionAt(recording, moment, seat)}`).join(', ')}.`;
}
