import type { Agent, AgentId, ArrayOf, DType, Game } from '@coplay/core';
import type { Recording } from '@coplay/envs';
import { createTable, type DoneStep, type Table, type Turn } from '../../src/play/table';
import { html } from '../dom';
import { drawBoard } from './board';
import { NEXT_KEY } from './keys';
import { makePad, type Pad } from './pad';
import { beliefsPanel, type Company, playersTable, rounded } from './panels';

/** Breaks off the game of a table that is left. */
class LeftTable extends Error {}

/** The view's requests to the page around it. */
export interface GameViewOptions {
  readonly game: Game;
  readonly person: AgentId;
  readonly others: readonly Agent[];
  /** Milliseconds that a step takes when the person has left. */
  pace(): number;
  showsBeliefs(): boolean;
  /** The seed of the game that begins. */
  nextSeed(): number;
  /** Is given each game that was played to its end. */
  ended(recording: Recording, seed: number): void;
  /** Receives errors. */
  failed(error: unknown): void;
}

/** A table with its board, buttons and panels. */
export class GameView {
  readonly element: HTMLElement;
  private readonly board = html('div', { class: 'board' });
  private readonly status = html('p', { class: 'status', role: 'status' });
  private readonly next = html(
    'button',
    { type: 'button', class: 'main' },
    'Next game ',
    html('kbd', {}, NEXT_KEY.toUpperCase()),
  );
  private readonly players = html('div');
  private readonly beliefs = html('div', { class: 'beliefs' });
  private readonly beliefsCard: HTMLElement;
  private readonly pad: Pad;
  private readonly company: Company;
  private readonly table: Table;
  private turn: Turn | undefined;
  private isLeft = false;
  /** Answers or breaks off the turn that is open. */
  private answer: { choose(action: number): void; leave(): void } | undefined;

  constructor(private readonly options: GameViewOptions) {
    const { game, person, others } = options;
    const seat = game.agents.indexOf(person);
    const nameOf = (id: AgentId) => others.find((agent) => agent.id === id)?.name ?? 'a person';
    this.company = { game, seat, players: game.agents.map(nameOf) };
    this.pad = makePad(game, (action) => this.choose(action));
    this.table = createTable({ game, person, others, decide: (turn) => this.decide(turn) });
    this.next.addEventListener('click', () => void this.play());
    const what =
      'From what everyone could see: steps towards something speak for it, and so do earlier games at this table.';
    this.beliefsCard = html(
      'section',
      { class: 'card', 'aria-label': 'Beliefs' },
      html('h2', {}, 'Likely goals of the others'),
      html('p', { class: 'note' }, what),
      this.beliefs,
    );
    const acting = [this.status, this.pad.element, html('div', { class: 'after' }, this.next)];
    this.element = html(
      'div',
      { class: 'table' },
      html('section', { 'aria-label': 'Board' }, this.board),
      html('section', { 'aria-label': 'Play' }, ...acting, this.players, this.beliefsCard),
    );
  }

  /** Plays a game to its end, unless the table is left. */
  async play(): Promise<void> {
    const seed = this.options.nextSeed();
    this.next.hidden = true;
    try {
      const recording = await this.table.play({ seed });
      this.showEnd(recording);
      this.options.ended(recording, seed);
    } catch (error) {
      if (!(error instanceof LeftTable)) this.options.failed(error);
    }
  }

  /** Breaks off the game. */
  leave(): void {
    // Co-players may be choosing just now: then the next turn finds it out.
    this.isLeft = true;
    this.answer?.leave();
  }

  /** Handles a key. @returns whether the key has an effect */
  press(key: string): boolean {
    if (key === NEXT_KEY && !this.next.hidden) {
      void this.play();
      return true;
    }
    const action = this.pad.actionOf(key);
    if (action === undefined) return false;
    this.choose(action);
    return true;
  }

  /** Shows the beliefs or not, as the form says. */
  showBeliefs(): void {
    const beliefs = this.turn?.beliefs;
    this.beliefsCard.hidden = !this.options.showsBeliefs() || beliefs === undefined;
    if (beliefs) this.beliefs.replaceChildren(...beliefsPanel(this.company, beliefs));
  }

  private choose(action: number): void {
    const { turn, answer } = this;
    if (!turn?.isActive || !answer) return;
    if (turn.mask[action] === 1) answer.choose(action);
    else this.status.textContent = `You can't ${this.company.game.actionNames[action]} here.`;
  }

  private decide(turn: Turn): Promise<number> {
    if (this.isLeft) return Promise.reject(new LeftTable());
    this.turn = turn;
    const { game } = this.company;
    this.show(turn.state, turn.before, turn.returns);
    this.showBeliefs();
    this.pad.allow(turn.isActive ? turn.mask : undefined);
    const count = `Step ${turn.step + 1} of at most ${game.maxSteps}.`;
    this.status.textContent = turn.isActive ? `${count} Your turn.` : `${count} You have left; the others play on.`;
    return new Promise((resolve, reject) => {
      const timer = turn.isActive ? undefined : setTimeout(() => resolve(0), this.options.pace());
      this.answer = {
        choose: resolve,
        leave: () => {
          clearTimeout(timer);
          reject(new LeftTable());
        },
      };
    });
  }

  private show(state: ArrayOf<DType>, before: DoneStep | undefined, returns: readonly number[]): void {
    drawBoard(this.board, this.company.game, state, this.company.seat);
    this.players.replaceChildren(playersTable(this.company, before, returns));
  }

  private showEnd({ frames, steps }: Recording): void {
    const { game, seat } = this.company;
    const returns = game.agents.map((_, i) => steps.reduce((sum, { rewards }) => sum + rewards[i], 0));
    const { actions, rewards, terminated, truncated } = steps[steps.length - 1];
    const state = Int32Array.from(frames[frames.length - 1].state);
    const chosen = actions as readonly (number | null)[]; // people play games of discrete actions
    this.show(state, { actions: chosen, rewards, left: terminated }, returns);
    this.turn = undefined;
    this.answer = undefined;
    this.pad.allow();
    const end = truncated.includes(true) ? 'Time is up' : 'The game is over';
    const earned = `You earned ${rounded(returns[seat])}.`;
    this.status.textContent = `${end} after ${steps.length} ${steps.length === 1 ? 'step' : 'steps'}. ${earned}`;
    this.next.hidden = false;
  }
}
