import { fail, type Generator } from '@coplay/core';
import { drawIndex } from '@coplay/core/rows';
import type { SearchNetworks } from './networks';
import type { SearchSettings } from './options';
import { type Question, QuestionTable } from './question-table';
import type { Trees } from './trees';

/** Entry of a seat without a query: the agent's own seat, or an agent that has left. */
const NOBODY = -1;

/** Questions so far, and how many of them went to a network. */
export interface QuestionCounts {
  focalAsked: number;
  focalRows: number;
  coPlayersAsked: number;
  coPlayerRows: number;
}

/**
 * New nodes that wait for their evaluation: the searching agent's policy and value there, and each co-player's policy.
 * Everyone's questions are put at once.
 */
export class Leaves {
  readonly counts: QuestionCounts = { focalAsked: 0, focalRows: 0, coPlayersAsked: 0, coPlayerRows: 0 };
  private readonly focal: QuestionTable;
  private readonly coPlayers: QuestionTable;
  /** [W] trees with a new node, and those nodes */
  private waiting = 0;
  private trees = new Int32Array(0);
  private nodes = new Int32Array(0);
  /**
   * [W] entries of the agent's own questions; [W, A] entries of questions about co-players, NOBODY for the agent itself
   * and for agents that have left
   */
  private focalEntries = new Int32Array(0);
  private coPlayerEntries = new Int32Array(0);
  private readonly question: Question = { seat: 0, player: 0, goal: -1, root: 0 };

  constructor(private readonly settings: SearchSettings) {
    const { game, share, reads } = settings;
    const setup = { game, share, ...reads };
    this.focal = new QuestionTable(setup);
    this.coPlayers = new QuestionTable(setup);
  }

  /** Makes room for the trees of a search. */
  begin(trees: number): void {
    const { share, capacity, game } = this.settings;
    if (!share || this.focal.count + this.coPlayers.count > capacity) this.forget();
    this.waiting = 0;
    if (this.trees.length >= trees) return;
    this.trees = new Int32Array(trees);
    this.nodes = new Int32Array(trees);
    this.focalEntries = new Int32Array(trees);
    this.coPlayerEntries = new Int32Array(trees * game.agents.length);
  }

  forget(): void {
    this.focal.clear();
    this.coPlayers.clear();
  }

  /**
   * Asks about a new node of a tree.
   *
   * @param previous  [A] from `previousOffset` on: what everyone did before
   * @param isCut     whether only its value is wanted
   */
  ask(
    { forest, seats, players, roots, goals }: Trees,
    tree: number,
    node: number,
    previous: Int32Array,
    previousOffset: number,
    isCut: boolean,
  ): void {
    const { game } = this.settings;
    const { question, counts } = this;
    const A = game.agents.length;
    const offset = node * game.stateSize;
    const at = this.waiting++;
    this.trees[at] = tree;
    this.nodes[at] = node;
    question.seat = seats[tree];
    question.player = players[tree];
    question.root = roots[tree];
    question.goal = -1;
    this.focalEntries[at] = this.focal.ask(question, forest.states, offset, previous, previousOffset);
    counts.focalAsked++;
    for (let other = 0; other < A; other++) {
      this.coPlayerEntries[at * A + other] = NOBODY;
      if (isCut || other === seats[tree] || !game.isActive(forest.states, offset, other)) continue;
      question.seat = other;
      question.goal = goals[tree * A + other];
      const entry = this.coPlayers.ask(question, forest.states, offset, previous, previousOffset);
      this.coPlayerEntries[at * A + other] = entry;
      counts.coPlayersAsked++;
    }
  }

  /** Puts the questions to the networks, and fills in the nodes that asked. */
  async evaluate(networks: SearchNetworks, trees: Trees): Promise<void> {
    const about = this.focal.waiting();
    const others = this.coPlayers.waiting();
    this.counts.focalRows += about.rows;
    this.counts.coPlayerRows += others.rows;
    const K = this.settings.game.actions;
    const [own, theirs] = await Promise.all([
      about.rows > 0 ? asked(() => networks.focal(about)) : undefined,
      others.rows > 0 && networks.coPlayers ? asked(() => networks.coPlayers!(others)) : undefined,
    ]);
    if (own) {
      checkAnswer('focal: logits', own.logits, about.rows * K);
      checkAnswer('focal: values', own.values, about.rows);
      this.focal.answer(about.rows, own.logits, own.values);
    }
    if (theirs) checkAnswer('coPlayers', theirs, others.rows * K);
    this.coPlayers.answer(others.rows, theirs);
    for (let at = 0; at < this.waiting; at++) this.fill(at, trees);
    this.waiting = 0;
    if (!this.settings.share) this.forget();
  }

  /** Copies the answers to a node, and draws its co-players' actions. */
  private fill(at: number, trees: Trees): void {
    const { game } = this.settings;
    const { forest } = trees;
    const K = game.actions;
    const tree = this.trees[at];
    const node = this.nodes[at];
    const entry = this.focalEntries[at];
    for (let k = 0; k < K; k++) forest.priors[node * K + k] = this.focal.probabilities[entry * K + k];
    forest.values[node] = this.focal.values[entry];
    trees.leafValues[tree] = forest.values[node];
    const A = game.agents.length;
    for (let i = 1; i < A; i++) {
      const other = (trees.seats[tree] + i) % A;
      this.fillCoPlayer(node, other, this.coPlayerEntries[at * A + other], forest, trees.generators[tree]);
    }
  }

  private fillCoPlayer(
    node: number,
    other: number,
    entry: number,
    forest: Trees['forest'],
    generator: Generator,
  ): void {
    const K = this.settings.game.actions;
    const at = node * this.settings.game.agents.length + other;
    const { probabilities } = this.coPlayers;
    const isGone = entry === NOBODY;
    if (!forest.size.perVisit) forest.coActions[at] = isGone ? 0 : drawIndex(probabilities, generator, entry * K, K);
    else if (isGone) forest.coPolicies.fill(0, at * K, (at + 1) * K);
    else for (let k = 0; k < K; k++) forest.coPolicies[at * K + k] = probabilities[entry * K + k];
  }
}

/** A promise also where the function throws at once, so that no failure is missed. */
async function asked<T>(ask: () => T | Promise<T>): Promise<T> {
  return ask();
}

function checkAnswer(what: string, answer: ArrayLike<number> | undefined, length: number): void {
  if (answer !== undefined && answer.length >= length) return;
  const got = answer === undefined ? 'nothing' : String(answer.length);
  fail(`search: ${what}`, `at least ${length} numbers`, got, 'Answer every row, in the order of the rows.');
}
