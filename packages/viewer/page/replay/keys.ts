import type { Wishes } from './controls';

/** Keys of a replay, in words. */
export const KEYS_HELP = '← → one step, Home and End, space plays and pauses, + and − change the speed.';

/** What keys do, on a whole page or within an element. @returns what takes them off again */
export function listenToKeys(
  target: EventTarget,
  steps: number,
  wishes: Wishes & { changeSpeed(by: number): void },
): () => void {
  const listen = (event: Event) => {
    const key = event as KeyboardEvent;
    if (key.altKey || key.ctrlKey || key.metaKey) return;
    const at = event.target instanceof HTMLElement ? event.target : undefined;
    // A choice of the speed or the episode has use for arrows itself, and a button for the space key.
    if (at?.matches('select, textarea, input:not([type=range])')) return;
    if (key.key === ' ' && at?.matches('button, summary, a')) return;
    const act = actionOf(key.key, steps, wishes);
    if (!act) return;
    event.preventDefault();
    act();
  };
  target.addEventListener('keydown', listen);
  return () => target.removeEventListener('keydown', listen);
}

function actionOf(
  key: string,
  steps: number,
  wishes: Wishes & { changeSpeed(by: number): void },
): (() => void) | undefined {
  const actions: Record<string, () => void> = {
    ArrowLeft: () => wishes.step(-1),
    ArrowRight: () => wishes.step(1),
    Home: () => wishes.goTo(0),
    End: () => wishes.goTo(steps),
    ' ': () => wishes.toggle(),
    '+': () => wishes.changeSpeed(1),
    '-': () => wishes.changeSpeed(-1),
  };
  return Object.hasOwn(actions, key) ? actions[key] : undefined;
}
