import {
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
import { loadNpz, type StoredArrays, saveNpz } from '../npz';
import { EpisodeRing } from './episode-ring';
import { GoalRings } from './goal-rings';
import { attemptRows, checkMoaRows, checkMoaValues, moaRows, refuseAttempts } from './moa-rows';

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
}

/** How much came in over all time. */
export interface MoaCounts {
  readonly rows: number;
  readonly episodes: number;
}

/** The rows of one co-player. */
export interface MoaHeld {
  /** [capacity, ...] for each column of `moaRows`: views, read only, valid until the next push; {} before the first. */
  readonly columns: NamedArrays;
  /** [n] where in `columns` the rows held are, oldest first; episodes follow one another. */
  readonly places: Int32Array;
  /** Lengths of the episodes held, oldest first; they sum to n. */
  readonly lengths: readonly number[];
  /** Their numbers, counted from the first one that was ever pushed, 0. */
  readonly serials: readonly number[];
}

/**
 * Steps of co-players, by co-player, for models of them. Holds real, whole episodes, and no step after an agent left.
 */
export interface MoaBuffer {
  readonly coPlayers: readonly AgentId[];
  /** Rows held now. */
  readonly rows: Readonly<Record<AgentId, number>>;
  /** What came in so far. */
  readonly pushed: Readonly<Record<AgentId, MoaCounts>>;
  /**
   * Takes the next piece of a rollout. Episodes that haven't ended wait for their end, since it labels them.
   *
   * @returns for each co-player the rows that were added
   * @throws CoplayError for imagined experience
   */
  push(experience: Experience): Readonly<Record<AgentId, NamedArrays>>;
  /**
   * Adds one co-player's whole episodes, as `moaRows` makes them.
   *
   * @throws CoplayError for a step after the co-player left, naming the row
   */
  pushRows(coPlayer: AgentId, rows: NamedArrays): void;
  /** One co-player's rows. */
  held(coPlayer: AgentId): MoaHeld;
  /** Says that the rows held were trained on: with `keep: 'empty'` they are dropped. */
  trained(): void;
  state(): SavedState;
  restore(saved: SavedState): void;
  /** Writes the rows held as a .npz file, `<co-player>/<column>`. Node only. */
  save(path: string): Promise<void>;
  /** Adds the rows of a file that `save` wrote. Node only. */
  load(path: string): Promise<void>;
}

const isGoalSet = (value: unknown) => typeof (value as GoalSet | undefined)?.reached === 'function';
const schema = z.strictObject({
  coPlayers: z.array(z.string()),
  capacity: z.int().min(1).default(4096),
  keep: z.enum(['ring', 'empty']).default('ring'),
  goals: z.custom<GoalSet>(isGoalSet, { error: 'the goals of a game: game.goals' }).optional(),
  caughtOnly: z.boolean().default(false),
  roomPerGoal: z.boolean().default(false),
  attempts: z.boolean().default(false),
});

const savedSchema = z.looseObject({
  rings: z.record(z.string(), z.unknown()),
  collector: z.record(z.string(), z.unknown()),
});

type Ring = EpisodeRing | GoalRings;

function makeRing(id: AgentId, { capacity, goals, roomPerGoal }: z.infer<typeof schema>): Ring {
  const where = `moaBuffer (${id})`;
  return roomPerGoal && goals ? new GoalRings(where, capacity, goals.names.length) : new EpisodeRing(where, capacity);
}

/** An empty buffer. */
export function createMoaBuffer(options: MoaBufferOptions): MoaBuffer {
  const checked = checkOptions('createMoaBuffer', schema, options);
  const { coPlayers, keep, goals, caughtOnly, attempts } = checked;
  if (attempts && goals) refuseAttempts('createMoaBuffer: option attempts', goals);
  const rings = new Map(coPlayers.map((id) => [id, makeRing(id, checked)]));
  const collector = createEpisodeCollector();
  const ringOf = (where: string, id: AgentId): Ring => {
    const known = coPlayers.join(', ') || 'nobody';
    return rings.get(id) ?? fail(where, `one of ${known}`, show(id), 'Name a co-player of this buffer.');
  };
  const perCoPlayer = <T>(of: (ring: Ring) => T) => Object.fromEntries([...rings].map(([id, ring]) => [id, of(ring)]));

  const buffer: MoaBuffer = {
    coPlayers,
    get rows() {
      return perCoPlayer((ring) => ring.size);
    },
    get pushed() {
      return perCoPlayer((ring) => ({ ...ring.pushed }));
    },
    push(experience) {
      checkExperience('moaBuffer.push', experience);
      refuseImagined(experience);
      const missing = coPlayers.find((id) => !experience.agents.includes(id));
      if (missing !== undefined) {
        fail('moaBuffer.push', `experience of ${missing}`, show(experience.agents), 'Push the same game.');
      }
      const episodes = collector.push(experience);
      const added = coPlayers.map((id) => {
        const seat = experience.agents.indexOf(id);
        const rows = moaRows(episodes, seat, { goals, caughtOnly });
        buffer.pushRows(id, rows);
        if (attempts && goals) buffer.pushRows(id, attemptRows(rows, seat, goals));
        return [id, rows] as const;
      });
      return Object.fromEntries(added);
    },
    pushRows(coPlayer, rows) {
      const ring = ringOf('moaBuffer.pushRows', coPlayer);
      checkMoaRows(`moaBuffer.pushRows (${coPlayer})`, rows);
      ring.push(rows);
    },
    held(coPlayer) {
      const ring = ringOf('moaBuffer.held', coPlayer);
      return { columns: ring.columns, places: ring.places(), lengths: ring.lengths, serials: ring.serials };
    },
    trained() {
      if (keep === 'empty') for (const ring of rings.values()) ring.clear();
    },
    state: () => ({ collector: collector.state(), rings: perCoPlayer((ring) => ring.state()) }),
    restore(saved) {
      checkArgument('moaBuffer.restore', 'saved', savedSchema, saved);
      const states = saved['rings'] as SavedState;
      const unlike = [...coPlayers, ...Object.keys(states)].find((id) => !rings.has(id) || !Object.hasOwn(states, id));
      if (unlike !== undefined) {
        const got = Object.keys(states).join(', ') || 'nobody';
        const expected = `rows of ${coPlayers.join(', ') || 'nobody'}`;
        fail('moaBuffer.restore: saved.rings', expected, got, 'Restore what this buffer saved.');
      }
      const ringParts = [...rings].map(([id, ring]) => {
        return { path: `saved.rings.${id}`, part: ofMoaRows(ring, goals), saved: states[id] as SavedState };
      });
      const pending = { path: 'saved.collector', part: collector, saved: saved['collector'] as SavedState };
      restoreParts('moaBuffer.restore', [pending, ...ringParts]);
    },
    async save(path) {
      checkText('moaBuffer.save', 'path', path);
      await saveNpz(path, storedRows(rings));
    },
    async load(path) {
      checkText('moaBuffer.load', 'path', path);
      const arrays = await loadNpz(path);
      for (const id of coPlayers) {
        const rows = Object.entries(arrays).filter(([name]) => name.startsWith(`${id}/`));
        if (rows.length === 0) continue;
        const columns = rows.map(([name, { data, shape }]) => [name.slice(id.length + 1), ndarray(data, shape)]);
        buffer.pushRows(id, Object.fromEntries(columns) as NamedArrays);
      }
    },
  };
  return buffer;
}

/** A ring that restores only rows of `moaRows`. */
function ofMoaRows(ring: Ring, goals: GoalSet | undefined): SavedPart {
  return {
    state: () => ring.state(),
    restore(saved) {
      ring.restore(saved);
      if (ring.size === 0) return;
      const rows = ring.rows();
      checkMoaRows('moaBuffer.restore: rows', rows);
      checkMoaValues('moaBuffer.restore', rows, goals?.names.length);
    },
  };
}

function refuseImagined(experience: Experience): void {
  if (!experience.isImagined.includes(1)) return;
  const remedy = 'Models of others learn from what others did, not from what models made of them.';
  fail('moaBuffer.push', 'real experience', 'imagined episodes', remedy);
}

function storedRows(rings: ReadonlyMap<AgentId, Ring>): StoredArrays {
  const stored: StoredArrays = {};
  for (const [id, ring] of rings) {
    const rows = ring.rows();
    for (const name in rows) stored[`${id}/${name}`] = rows[name];
  }
  return stored;
}
