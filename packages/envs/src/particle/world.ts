/**
 * A particle world: a plane with A agents, which move by forces, and L landmarks, which never move. Entities are the
 * agents, then the landmarks.
 */
export interface World {
  /** A */
  readonly agents: number;
  /** L */
  readonly landmarks: number;
  /** [A + L] radius of each entity */
  readonly sizes: readonly number[];
  /** [A + L] whether an entity pushes others away, and is pushed */
  readonly collides: readonly boolean[];
  /** [A] force of a full action; 0 for an agent that can't move */
  readonly forces: readonly number[];
  /** [A] Infinity for none */
  readonly maxSpeeds: readonly number[];
}

/** Layout of a state: the index of each field, relative to its offset. */
export const STEPS = 0;
/** [A + L, 2] x and y of each entity */
export const POSITIONS = 1;

/** Where [A, 2] velocities of the agents begin in a state, behind the positions. */
export function velocitiesOf({ agents, landmarks }: World): number {
  return POSITIONS + 2 * (agents + landmarks);
}

/** Values of a state with steps, positions and velocities. */
export function sizeOfWorld(world: World): number {
  return velocitiesOf(world) + 2 * world.agents;
}

/** Time between two steps. */
const TIME_STEP = 0.1;
/** Share of its velocity that an agent loses in a step. */
const DAMPING = 0.25;
/** The force between two entities is CONTACT_FORCE * MARGIN * ln(1 + exp(overlap / MARGIN)), away from each other. */
const CONTACT_FORCE = 100;
const MARGIN = 1e-3;
/** In units of MARGIN: the force between entities that are further apart is below 1e-18, and left out. */
const FAR = -40;

/**
 * Moves all agents by one step of time.
 *
 * @param forces  [A, 2] of the agents' actions; contact forces are added
 */
export function moveAgents(world: World, state: Float64Array, offset: number, forces: Float64Array): void {
  pushApart(world, state, offset + POSITIONS, forces);
  const first = offset + POSITIONS;
  const velocities = offset + velocitiesOf(world);
  for (let agent = 0; agent < world.agents; agent++) {
    if (world.forces[agent] === 0) continue;
    const at = 2 * agent;
    const oldX = state[velocities + at];
    const oldY = state[velocities + at + 1];
    state[first + at] += oldX * TIME_STEP;
    state[first + at + 1] += oldY * TIME_STEP;
    let x = oldX * (1 - DAMPING) + forces[at] * TIME_STEP;
    let y = oldY * (1 - DAMPING) + forces[at + 1] * TIME_STEP;
    const speed = Math.sqrt(x * x + y * y);
    const limit = world.maxSpeeds[agent];
    if (speed > limit) {
      x = (x / speed) * limit;
      y = (y / speed) * limit;
    }
    state[velocities + at] = x;
    state[velocities + at + 1] = y;
  }
}

/** Adds the forces of all pairs of entities in contact to those of the agents. */
function pushApart(world: World, state: Float64Array, positions: number, forces: Float64Array): void {
  const { agents, sizes, collides } = world;
  const entities = agents + world.landmarks;
  for (let a = 0; a < agents; a++) {
    if (!collides[a]) continue;
    for (let b = a + 1; b < entities; b++) {
      if (!collides[b]) continue;
      const x = state[positions + 2 * a] - state[positions + 2 * b];
      const y = state[positions + 2 * a + 1] - state[positions + 2 * b + 1];
      const distance = Math.sqrt(x * x + y * y);
      const overlap = -(distance - (sizes[a] + sizes[b])) / MARGIN;
      if (overlap < FAR || distance === 0) continue;
      const penetration = softplus(overlap) * MARGIN;
      const forceX = ((CONTACT_FORCE * x) / distance) * penetration;
      const forceY = ((CONTACT_FORCE * y) / distance) * penetration;
      forces[2 * a] += forceX;
      forces[2 * a + 1] += forceY;
      if (b >= agents) continue; // a landmark, which never moves
      forces[2 * b] -= forceX;
      forces[2 * b + 1] -= forceY;
    }
  }
}

/** Distance of two entities. */
export function distanceOf(state: Float64Array, offset: number, a: number, b: number): number {
  const first = offset + POSITIONS;
  const x = state[first + 2 * a] - state[first + 2 * b];
  const y = state[first + 2 * a + 1] - state[first + 2 * b + 1];
  return Math.sqrt(x * x + y * y);
}

/** Whether two entities overlap. */
export function isCollision({ sizes }: World, state: Float64Array, offset: number, a: number, b: number): boolean {
  return distanceOf(state, offset, a, b) < sizes[a] + sizes[b];
}

/** ln(1 + exp(x)), for x of at least -40. */
function softplus(x: number): number {
  if (x > -FAR) return x;
  return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

const LN2 = 0.6931471803691238; // in two parts: products of the first with small whole numbers are exact
const LN2_REST = 1.9082149292705877e-10;

/**
 * e to the power of x, to the last digits, for x from -50 to 50. `Math.exp` may differ there between machines, and an
 * episode shall be the same everywhere.
 */
export function exp(x: number): number {
  const power = Math.round(x / Math.LN2);
  const rest = x - power * LN2 - power * LN2_REST; // within ln(2) / 2 of 0
  let sum = 1;
  for (let n = 14; n >= 1; n--) sum = 1 + (rest / n) * sum;
  // Powers of two are exact in halves and doubles.
  for (let n = power; n < 0; n++) sum /= 2;
  for (let n = power; n > 0; n--) sum *= 2;
  return sum;
}

/** ln(1 + x) for x in [0, 1], as {@link exp}: 2 artanh(x / (2 + x)). */
function log1p(x: number): number {
  const z = x / (2 + x);
  const square = z * z;
  let sum = 0;
  for (let n = 33; n >= 1; n -= 2) sum = 1 / n + square * sum;
  return 2 * z * sum;
}
