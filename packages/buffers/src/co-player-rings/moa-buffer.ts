import {
  type ActionSpaces,
  type AgentId,
  checkOptions,
  type Experience,
  fail,
  type GoalSet,
  type NamedArrays,
  ndarray,
  type SavedState,
  show,
} from '@coplay/core';
import { checkArgument, checkExperience, checkText, restoreParts, type SavedPart } from '@coplay/core/checks';
import { z } from 'zod';
import { createEpisodeCollector } from '../episodes';
import { type HistoryStore, refuseStoredState } from '../histories/store';
import { loadNpz } from '../npz';
import { CoPlayerBuffer, episodesIn, type MoaBuffer } from './co-player-buffer';
import { EpisodeRing } from './episode-ring';
import { GoalRings } from './goal-rings';
import { attemptRows, checkMoaRows, checkMoaValues, isGoalSet, moaRows, refuseAttempts } from './moa-rows';
import { StoredBuffer } from './stored-buffer';

/** Options of {@link createMoaBuffer}. */
export interface MoaBufferOptions {
  /** Whose steps are held, each apart; may be none. */
  readonly coPlayers: readonly AgentId[];
  /** Rows (steps of one agent) held of each co-player, at least the longest episode. Default 4096 */
  readonly capacity?: number | undefined;
  /**
   * What becomes of the rows once they were trained on: `ring` keeps them until newer ones need the room, `empty` drops
   * them. Default `ring`
   */
  readonly keep?: 'ring' | 'empty' | undefined;
  /** As in {@link MoaRowsOptions}: determines the goals of episodes. Default: all are unknown */
  readonly goals?: GoalSet | undefined;
  /**
   * Whether each goal, and episodes without a goal, have their own part of the capacity, all equal, so that a rare goal
   * isn't forgotten. Default false
   */
  readonly roomPerGoal?: boolean | undefined;
  /** Whether {@link attemptRows} are held too. Default false */
  readonly attempts?: boolean | undefined;
  /** As in {@link MoaRowsOptions}: leaves out episodes in which no goal was reached. Default false */
  readonly caughtOnly?: boolean | undefined;
  /**
   * A store that keeps the histories, for this buffer and for others; then episodes are pushed to the store, and the
   * buffer takes them from there. Capacity and `keep` are this buffer's own. Default: memory of its own
   */
  readonly store?: HistoryStore | undefined;
  /** Receives the rows that were added, by co-player, after each push to this buffer or to the store. */
  readonly onPush?: ((added: Readonly<Record<AgentId, NamedArrays>>) => void) | undefined;
}

const schema = z.strictObject({
  coPlayers: z.array(z.string()),
  capacity: z.int().min(1).default(4096),
  keep: z.enum(['ring', 'empty']).default('ring'),
  goals: z
    .custom<GoalSet>(isGoalSet, {
      error: 'the goals of a game: game.goals ("Goals" in docs/writing-an-environment.md)',
    })
    .optional(),
  caughtOnly: z.boolean().default(false),
  roomPerGoal: z.boolean().default(false),
  attempts: z.boolean().default(false),
  store: z.custom<HistoryStore>().optional(),
  onPush: z
    .custom<MoaBufferOptions['onPush']>((value) => typeof value === 'function', { error: 'a function' })
    .optional(),
});
type Settings = z.infer<typeof schema>;

const savedSchema = z.looseObject({
  rings: z.record(z.string(), z.unknown()),
  collector: z.record(z.string(), z.unknown()),
});

/** An empty buffer. */
export function createMoaBuffer(options: MoaBufferOptions): MoaBuffer {
  const settings = checkOptions('createMoaBuffer', schema, options);
  if (settings.attempts && settings.goals) refuseAttempts('createMoaBuffer: option attempts', settings.goals);
  return settings.store ? new StoredBuffer(settings, settings.store) : new OwnBuffer(settings);
}

/** Memory of a co-player's rows. */
type OwnRing = EpisodeRing | GoalRings<NamedArrays, EpisodeRing>;

function makeRing(id: AgentId, { capacity, goals, roomPerGoal }: Settings): OwnRing {
  const where = `moaBuffer (${id})`;
  const make = (rows: number) => new EpisodeRing(where, rows);
  const goalOf = ({ goals: labels }: NamedArrays) => labels.data[0];
  return roomPerGoal && goals ? new GoalRings(where, capacity, goals.names.length, goalOf, make) : make(capacity);
}

/** A buffer with memory of its own. */
class OwnBuffer extends CoPlayerBuffer<OwnRing> {
  private readonly collector = createEpisodeCollector<ActionSpaces>();

  constructor(private readonly settings: Settings) {
    super(new Map(settings.coPlayers.map((id) => [id, makeRing(id, settings)])), settings.keep);
  }

  push(experience: Experience<ActionSpaces>): Readonly<Record<AgentId, NamedArrays>> {
    const { goals, caughtOnly, attempts, onPush } = this.settings;
    checkExperience('moaBuffer.push', experience, 'experience', 'any');
    refuseImagined(experience);
    const missing = this.coPlayers.find((id) => !experience.agents.includes(id));
    if (missing !== undefined) {
      fail('moaBuffer.push', `experience of ${missing}`, show(experience.agents), 'Push the same game.');
    }
    const episodes = this.collector.push(experience);
    const added = this.coPlayers.map((id) => {
      const seat = experience.agents.indexOf(id);
      const rows = moaRows(episodes, seat, { goals, caughtOnly });
      this.pushRows(id, rows);
      if (attempts && goals) this.pushRows(id, attemptRows(rows, seat, goals));
      return [id, rows] as const;
    });
    onPush?.(Object.fromEntries(added));
    return Object.fromEntries(added);
  }

  pushRows(coPlayer: AgentId, rows: NamedArrays): void {
    const ring = this.ringOf('moaBuffer.pushRows', coPlayer);
    checkMoaRows(`moaBuffer.pushRows (${coPlayer})`, rows);
    if (ring instanceof EpisodeRing) ring.push(rows);
    else for (const episode of episodesIn(rows)) ring.push(episode);
  }

  state(): SavedState {
    return { collector: this.collector.state(), rings: this.perCoPlayer((ring) => ring.state()) };
  }

  restore(saved: SavedState): void {
    refuseStoredState('moaBuffer.restore', saved);
    checkArgument('moaBuffer.restore', 'saved', savedSchema, saved);
    const states = saved['rings'] as SavedState;
    this.checkSavedRings(states);
    const ringParts = [...this.rings].map(([id, ring]) => {
      const part = ofMoaRows(ring, this.settings.goals);
      return { path: `saved.rings.${id}`, part, saved: states[id] as SavedState };
    });
    const pending = { path: 'saved.collector', part: this.collector, saved: saved['collector'] as SavedState };
    restoreParts('moaBuffer.restore', [pending, ...ringParts]);
  }

  async load(path: string): Promise<void> {
    checkText('moaBuffer.load', 'path', path);
    const arrays = await loadNpz(path);
    for (const id of this.coPlayers) {
      const rows = Object.entries(arrays).filter(([name]) => name.startsWith(`${id}/`));
      if (rows.length === 0) continue;
      const columns = rows.map(([name, { data, shape }]) => [name.slice(id.length + 1), ndarray(data, shape)]);
      this.pushRows(id, Object.fromEntries(columns) as NamedArrays);
    }
  }
}

/** A ring that restores only rows of `moaRows`. */
function ofMoaRows(ring: OwnRing, goals: GoalSet | undefined): SavedPart {
  return {
    state: () => ring.state(),
    restore(saved) {
      if (ring instanceof EpisodeRing) ring.restore(saved);
      else ring.restore(saved, (inner, state) => inner.restore(state));
      if (ring.size === 0) return;
      const rows = ring.rows();
      checkMoaRows('moaBuffer.restore: rows', rows);
      checkMoaValues('moaBuffer.restore', rows, goals?.names.length);
    },
  };
}

function refuseImagined(experience: Experience<ActionSpaces>): void {
  if (!experience.isImagined.includes(1)) return;
  const remedy = 'Models of others learn from what others did, not from what models made of them.';
  fail('moaBuffer.push', 'real experience', 'imagined episodes', remedy);
}
