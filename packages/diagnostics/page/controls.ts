import { byId } from './dom';
import type { View } from './lines';

const KEY = 'coplay-report';

/** The state that is kept while the page reloads itself. */
type Kept = Partial<View> & { readonly search?: string; readonly theme?: string };

/** Shows the controls and calls back whenever the view changes. @returns the view now */
export function controls(defaults: View, changed: (view: View) => void): () => View {
  const form = document.querySelector<HTMLFormElement>('form.controls')!;
  const [apart, single, log] = ['apart', 'single', 'log'].map((id) => byId<HTMLInputElement>(id));
  const [search, theme] = [byId<HTMLInputElement>('search'), byId<HTMLSelectElement>('theme')];
  const kept = load();
  apart.checked = kept.apart ?? defaults.apart;
  single.checked = kept.single ?? defaults.single;
  log.checked = kept.log ?? false;
  search.value = kept.search ?? '';
  theme.value = kept.theme ?? '';
  form.hidden = false;
  const view = (): View => ({ apart: apart.checked, single: single.checked, log: log.checked });
  const keep = () => save({ ...view(), search: search.value, theme: theme.value });
  const update = () => {
    setTheme(theme.value);
    filter(search.value);
    keep();
  };
  form.addEventListener('submit', (event) => event.preventDefault());
  search.addEventListener('input', update);
  theme.addEventListener('change', update);
  for (const box of [apart, single, log]) {
    box.addEventListener('change', () => {
      keep();
      changed(view());
    });
  }
  update();
  return view;
}

/** Leaves the panels whose name or explanation has every word. */
function filter(text: string): void {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
  const panels = [...document.querySelectorAll<HTMLElement>('[data-listed]')];
  for (const panel of panels) {
    const told = `${panel.dataset['metric']} ${panel.querySelector('.what')?.textContent}`.toLowerCase();
    panel.hidden = !words.every((word) => told.includes(word));
  }
  for (const group of document.querySelectorAll<HTMLElement>('.group')) {
    group.hidden = group.querySelector('[data-listed]:not([hidden])') === null;
  }
  const shown = panels.filter((panel) => !panel.hidden).length;
  byId('nothing').hidden = shown > 0;
  byId('found').textContent = words.length > 0 ? `${shown} of ${panels.length} metrics` : '';
}

function setTheme(theme: string): void {
  if (theme === '') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

/** Reloads the page after a while, until a reader stops it. */
export function refreshEvery(seconds: number): void {
  if (seconds <= 0) return;
  const button = byId<HTMLButtonElement>('refresh');
  button.hidden = false;
  const timer = setTimeout(() => location.reload(), 1000 * seconds);
  button.addEventListener('click', () => {
    clearTimeout(timer);
    button.disabled = true;
    button.textContent = 'Refreshing stopped';
  });
}

function load(): Kept {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? '{}') as Kept;
  } catch {
    return {}; // a browser that keeps nothing for files
  }
}

function save(kept: Kept): void {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(kept));
  } catch {
    // Then the view begins anew with each load.
  }
}
