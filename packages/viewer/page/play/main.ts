import type { PlayData } from '../../src/play/play-page';
import { html } from '../dom';
import { GameView } from './game-view';
import { makeHistory, saveGame } from './history';
import { listenToKeys } from './listen';
import { type Setup, setupForm } from './setup';

const data = JSON.parse(document.getElementById('coplay-play')?.textContent ?? '') as PlayData;
const main = document.querySelector('main')!;
const problem = html('p', { class: 'status', role: 'alert' });
const place = html('div');
const history = makeHistory();
let view: GameView | undefined;

const form = setupForm(data, (setup) => void open(setup));
form.beliefs.addEventListener('change', () => view?.showBeliefs());
listenToKeys((key) => view?.press(key) ?? false);
problem.hidden = true;
main.append(form.element, problem, place, history.element);

/** Seats all players at a new table and begins. */
async function open({ game, person, others }: Setup): Promise<void> {
  view?.leave();
  view = undefined;
  problem.hidden = true;
  try {
    const seated = await others();
    view = new GameView({
      game,
      person,
      others: seated,
      pace: form.pace,
      showsBeliefs: () => form.beliefs.checked,
      nextSeed: takeSeed,
      ended(recording, seed) {
        const played = { recording, seed, seat: game.agents.indexOf(person) };
        history.add(played);
        if (form.keep.checked) void saveGame(played);
      },
      failed: complain,
    });
    place.replaceChildren(view.element);
    // On a phone the form fills the screen.
    if (matchMedia('(max-width: 760px)').matches) place.scrollIntoView();
    await view.play();
  } catch (error) {
    complain(error);
  }
}

/** The seed in the form, which then shows the next one. */
function takeSeed(): number {
  const seed = Math.max(0, Math.floor(Number(form.seed.value) || 0));
  form.seed.value = String(seed + 1);
  return seed;
}

function complain(error: unknown): void {
  problem.textContent = error instanceof Error ? error.message : String(error);
  problem.hidden = false;
}
