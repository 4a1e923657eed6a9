import {
  type AgentId,
  type Experience,
  fail,
  type GoalSet,
  type NamedArrays,
  type SavedState,
  show,
} from '@coplay/core';
import { checkArgument, restorePart } from '@coplay/core/checks';
import { z } from 'zod';
import {
  checkStored,
  type FindHistory,
  type History,
  type HistoryStore,
  newStore,
  refuseStored,
  type Store,
} from '../histories/store';
import { CoPlayerBuffer, episodesIn } from './co-player-buffer';
import { GoalRings } from './goal-rings';
import { attemptRows, moaRows } from './moa-rows';
import { type LabelledHistory, StoredEpisodes } from './stored-episodes';

/** The options of `createMoaBuffer` with the defaults filled in. */
interface StoredBufferSettings {
  readonly coPlayers: readonly AgentId[];
  readonly capacity: number;
  readonly keep: 'ring' | 'empty';
  readonly goals?: GoalSet | undefined;
  readonly caughtOnly: boolean;
  readonly roomPerGoal: boolean;
  readonly attempts: boolean;
  readonly onPush?: ((added: Readonly<Record<AgentId, NamedArrays>>) => void) | undefined;
}

/** A co-player's histories. */
type SharedRing = StoredEpisodes | GoalRings<LabelledHistory, StoredEpisodes>;

const savedSchema = z.looseObject({ rings: z.record(z.string(), z.unknown()) });

/** A buffer of co-players' episodes whose steps lie in a store. */
export class StoredBuffer extends CoPlayerBuffer<SharedRing> {
  private readonly store: Store;

  constructor(
    private readonly settings: StoredBufferSettings,
    store: HistoryStore,
  ) {
    super(new Map(settings.coPlayers.map((id) => [id, makeRing(id, settings)])), settings.keep);
    this.store = newStore('createMoaBuffer', store);
    const { agents } = this.store.game;
    const stranger = settings.coPlayers.find((id) => !agents.includes(id) || id === store.id);
    if (stranger !== undefined) {
      const expected = `co-players of ${store.id}, whose store it is`;
      fail('createMoaBuffer: option coPlayers', expected, show(stranger), 'Make one store for each observer.');
    }
    this.store.readers.push({
      kind: 'moa',
      readsOwn: false,
      needsValues: false,
      take: (episodes, histories) => this.take(episodes, histories),
      held: () => [...this.rings.values()].flatMap(ringsIn).flatMap((ring) => ring.held()),
      state: () => ({ rings: this.perCoPlayer((ring) => ring.state()) }),
      read: (saved, find) => this.readRings(saved, find),
    });
  }

  push(): never {
    return refuseStored('moaBuffer.push');
  }

  pushRows(): never {
    return refuseStored('moaBuffer.pushRows');
  }

  async load(): Promise<never> {
    return refuseStored('moaBuffer.load');
  }

  state(): SavedState {
    return { store: this.store.fingerprint() };
  }

  restore(saved: SavedState): void {
    checkStored('moaBuffer.restore', this.store, saved);
  }

  private take(episodes: Experience, histories: readonly History[]): void {
    const added = [...this.rings].map(([id, ring]) => {
      const seat = episodes.agents.indexOf(id);
      const own = histories.filter((history) => history.seat === seat);
      return [id, this.takeHistories(seat, ring, episodes, own)] as const;
    });
    this.settings.onPush?.(Object.fromEntries(added));
  }

  /**
   * Puts one co-player's histories, and its attempts if they are wanted, into its ring.
   *
   * @returns the rows that were added, without attempts
   */
  private takeHistories(
    seat: number,
    ring: SharedRing,
    episodes: Experience,
    histories: readonly History[],
  ): NamedArrays {
    const { goals, caughtOnly, attempts } = this.settings;
    const rows = moaRows(episodes, seat, { goals, caughtOnly });
    // With the option caughtOnly, steps after the last goal are missing, and so are whole episodes without a goal.
    const labels = labelsIn(caughtOnly ? moaRows(episodes, seat, { goals }) : rows);
    const labelled = histories
      .map((history, i) => ({ history, goals: caughtOnly ? labels[i].filter((goal) => goal >= 0) : labels[i] }))
      .filter((entry) => entry.goals.length > 0);
    for (const entry of labelled) ring.push(entry);
    if (!attempts || !goals) return rows;
    episodesIn(rows).forEach((episode, i) => {
      const [tried] = labelsIn(attemptRows(episode, seat, goals));
      if (tried) ring.push({ history: labelled[i].history, goals: tried });
    });
    return rows;
  }

  /** Reads a saved state. @returns a function that takes it over */
  private readRings(saved: SavedState, find: FindHistory): () => void {
    checkArgument('moaBuffer.restore', 'saved', savedSchema, saved);
    const states = saved['rings'] as Readonly<Record<AgentId, SavedState>>;
    this.checkSavedRings(states);
    const takeOver = [...this.rings].map(([id, ring]) => {
      return restorePart(`moaBuffer.restore: saved.rings.${id}`, () => readRing(ring, states[id], find));
    });
    return () => {
      for (const one of takeOver) one();
    };
  }
}

function makeRing(id: AgentId, { capacity, goals, roomPerGoal }: StoredBufferSettings): SharedRing {
  const where = `moaBuffer (${id})`;
  const G = goals?.names.length;
  const make = (rows: number) => new StoredEpisodes(where, rows, G);
  const goalOf = ({ goals: labels }: LabelledHistory) => labels[0];
  return roomPerGoal && G !== undefined ? new GoalRings(where, capacity, G, goalOf, make) : make(capacity);
}

function ringsIn(ring: SharedRing): readonly StoredEpisodes[] {
  return ring instanceof StoredEpisodes ? [ring] : ring.rings;
}

function readRing(ring: SharedRing, saved: SavedState, find: FindHistory): () => void {
  if (ring instanceof StoredEpisodes) return ring.read(saved, find);
  return ring.read(saved, (inner, state) => inner.read(state, find));
}

/** The goals of each episode's steps. */
function labelsIn(rows: NamedArrays): Int32Array[] {
  return episodesIn(rows).map(({ goals }) => goals.data.slice() as Int32Array);
}
