import type { Agent, AgentId, Game } from '@coplay/core';
import { playableGame, ruleAgentNamed, rulesOf } from '../../src/play/games';
import type { PlayData, PlaySetting } from '../../src/play/play-page';
import { html } from '../dom';
import { policyAgent } from './policies';

/** The form's values. */
export interface Setup {
  readonly game: Game;
  readonly person: AgentId;
  /** Makes the agents of the other seats; loads policies. */
  others(): Promise<Agent[]>;
}

/** The form above the board. */
export interface SetupForm {
  readonly element: HTMLFormElement;
  readonly seed: HTMLInputElement;
  readonly beliefs: HTMLInputElement;
  readonly keep: HTMLInputElement;
  /** Milliseconds that a step takes when the person has left. */
  pace(): number;
}

/** Who may sit in a seat: `rule:NearestStag` or `policy:0`. */
type Choice = readonly [value: string, label: string];

/** Makes the form. @param start is called when a new table is asked for */
export function setupForm(data: PlayData, start: (setup: Setup) => void): SetupForm {
  const setting = choice(data.settings.map(({ title }, i) => [String(i), title]));
  const seat = choice([]);
  const seats = html('fieldset', {}, html('legend', {}, 'In the other seats'));
  const seed = html('input', { type: 'number', min: 0, step: 1, value: 1 });
  const beliefs = html('input', { type: 'checkbox' });
  const keep = html('input', { type: 'checkbox' });
  const pace = choice([
    ['700', '0.7 s'],
    ['200', '0.2 s'],
    ['0', 'no time'],
  ]);
  const button = html('button', { type: 'submit', class: 'main' }, 'New table');
  const element = html(
    'form',
    { 'aria-label': 'Table' },
    labelled('Game', setting),
    labelled('My seat', seat),
    labelled('Seed of the game', seed),
    labelled('A step without me takes', pace),
    seats,
    checked('Show beliefs about the others', beliefs),
    checked('Save each game when it ends', keep),
    button,
  );
  const chosen = () => data.settings[Number(setting.value)];
  let others: { readonly id: AgentId; readonly choice: HTMLSelectElement }[] = [];

  const fillSeats = () => {
    const game = gameOf(chosen());
    others = game.agents
      .filter((id) => id !== seat.value)
      .map((id) => ({ id, choice: choice(coPlayers(chosen(), game, id)) }));
    seats.replaceChildren(seats.children[0], ...others.map((one) => labelled(seatName(game, one.id), one.choice)));
  };
  const fillGame = () => {
    const game = gameOf(chosen());
    seat.replaceChildren(...game.agents.map((id) => option(id, seatName(game, id))));
    fillSeats();
  };
  setting.addEventListener('change', fillGame);
  seat.addEventListener('change', fillSeats);
  element.addEventListener('submit', (event) => {
    event.preventDefault();
    const game = gameOf(chosen());
    const seated = others.map(({ id, choice: { value } }) => ({ id, value }));
    const setup = chosen();
    start({ game, person: seat.value, others: () => makeAgents(data, setup, game, seated) });
    // Keys are for the game now.
    button.blur();
  });
  fillGame();
  return { element, seed, beliefs, keep, pace: () => Number(pace.value) };
}

/** `1, agent_0`: the number is that on the board. */
function seatName({ agents }: Game, id: AgentId): string {
  return `${agents.indexOf(id) + 1}, ${id}`;
}

function gameOf({ game, options }: PlaySetting): Game {
  return playableGame(game, options);
}

/** First the policy of the seat, then the rules, then policies of other seats. */
function coPlayers({ policies = [] }: PlaySetting, game: Game, id: AgentId): Choice[] {
  const trained = policies.map((policy, i) => {
    const label = policy.id === id ? policy.name : `${policy.name}, of ${policy.id}`;
    return { isOwn: policy.id === id, choice: [`policy:${i}`, label] as const };
  });
  const rules = rulesOf(game).map((rule) => [`rule:${rule}`, rule] as const);
  const of = (own: boolean) => trained.filter(({ isOwn }) => isOwn === own).map((one) => one.choice);
  return [...of(true), ...rules, ...of(false)];
}

async function makeAgents(
  { ort }: PlayData,
  { policies = [] }: PlaySetting,
  game: Game,
  seated: readonly { readonly id: AgentId; readonly value: string }[],
): Promise<Agent[]> {
  const agents: Agent[] = [];
  for (const { id, value } of seated) {
    const [kind, name] = value.split(':');
    agents.push(
      kind === 'policy' ? await policyAgent(ort, game, id, policies[Number(name)]) : ruleAgentNamed(name, game, id),
    );
  }
  return agents;
}

function choice(options: readonly Choice[]): HTMLSelectElement {
  return html('select', {}, ...options.map(([value, label]) => option(value, label)));
}

function option(value: string, label: string): HTMLOptionElement {
  return html('option', { value }, label);
}

function labelled(text: string, control: HTMLElement): HTMLLabelElement {
  return html('label', {}, text, control);
}

function checked(text: string, control: HTMLElement): HTMLLabelElement {
  return html('label', { class: 'check' }, control, text);
}
