import type { Generator, Scene } from '@coplay/core';
import type { StagHuntOptions } from '@coplay/envs';

/**
 * The stag hunt a second time, written from the specification with objects and loops, slow and plain, sharing nothing
 * with the library's code. Tests compare the two step by step.
 */
export type ReferenceOptions = {
  readonly [Name in Exclude<keyof StagHuntOptions, 'partnerChance'>]-?: Exclude<StagHuntOptions[Name], undefined>;
};

interface Thing {
  row: number;
  column: number;
}

interface Walker extends Thing {
  index: number;
  gone: boolean;
  previous: number | null;
}

export interface ReferenceStep {
  rewards: number[];
  terminated: number[];
  truncated: number[];
  illegal: number[];
  caughtHare: number[];
  caughtStag: number[];
}

const DIRECTIONS = [
  { row: -1, column: 0 },
  { row: 1, column: 0 },
  { row: 0, column: -1 },
  { row: 0, column: 1 },
];

const same = (a: Thing, b: Thing) => a.row === b.row && a.column === b.column;
const inReadingOrder = (a: Thing, b: Thing) => a.row - b.row || a.column - b.column;

export class ReferenceStagHunt {
  agents: Walker[];
  obstacles: Thing[];
  stags: Thing[];
  hares: Thing[];
  time = 0;
  firstCatch: number | null = null;

  /** Begins where a picture of the game's first state shows it. */
  constructor(
    readonly options: ReferenceOptions,
    scene: Scene,
  ) {
    const kind = (name: string) => scene.items.filter((item) => item.kind === name);
    const place = ({ row, column }: Thing) => ({ row, column });
    this.agents = kind('agent').map((item) => ({
      ...place(item),
      index: Number(item.symbol) - 1,
      gone: false,
      previous: null,
    }));
    this.agents.sort((a, b) => a.index - b.index);
    this.obstacles = kind('obstacle').map(place);
    this.stags = kind('stag').map(place);
    this.hares = kind('hare').map(place);
  }

  isFree({ row, column }: Thing): boolean {
    const { size } = this.options;
    const inside = row >= 0 && column >= 0 && row < size && column < size;
    return inside && !this.obstacles.some((obstacle) => same(obstacle, { row, column }));
  }

  /** The seven actions of an agent: which are legal in the present state. */
  legal(agent: number): boolean[] {
    const me = this.agents[agent];
    if (me.gone) return [false, false, false, false, true, false, false];
    const moves = DIRECTIONS.map((d) => this.isFree({ row: me.row + d.row, column: me.column + d.column }));
    const company = this.agents.filter((other) => !other.gone && same(other, me)).length;
    const stag = this.stags.some((s) => same(s, me)) && (!this.options.stagNeedsPartner || company >= 2);
    const hare = this.hares.some((h) => same(h, me));
    return [...moves, true, stag, hare];
  }

  step(actions: readonly number[], generator: Generator): ReferenceStep {
    const { strengths, stagReward, hareReward, stepReward, maxSteps, stepsAfterFirstHunt, preyMoves } = this.options;
    const A = this.agents.length;
    const zeros = () => new Array<number>(A).fill(0);
    const out: ReferenceStep = {
      rewards: zeros(),
      terminated: zeros(),
      truncated: zeros(),
      illegal: zeros(),
      caughtHare: zeros(),
      caughtStag: zeros(),
    };
    const before = this.agents.map((agent) => ({ ...agent }));
    const legal = this.agents.map((_, i) => this.legal(i));
    const effective = actions.map((action, i) => (before[i].gone ? 4 : legal[i][action] ? action : 4));
    this.time += 1;

    before.forEach((agent, i) => {
      if (agent.gone) return;
      out.illegal[i] = legal[i][actions[i]] ? 0 : 1;
      out.rewards[i] = stepReward;
      this.agents[i].previous = actions[i];
      if (effective[i] < 4) {
        this.agents[i].row += DIRECTIONS[effective[i]].row;
        this.agents[i].column += DIRECTIONS[effective[i]].column;
      }
    });
    before.forEach((agent, i) => {
      if (agent.gone) this.agents[i].previous = null;
    });

    for (const hare of [...this.hares]) {
      const hunters = before.filter((agent) => !agent.gone && effective[agent.index] === 6 && same(agent, hare));
      if (hunters.length === 0) continue;
      this.hares = this.hares.filter((other) => other !== hare);
      for (const { index } of hunters) {
        out.rewards[index] += hareReward / hunters.length;
        out.caughtHare[index] = 1;
      }
    }
    for (const stag of [...this.stags]) {
      const hunters = before.filter((agent) => !agent.gone && effective[agent.index] === 5 && same(agent, stag));
      if (hunters.length < 2) continue;
      this.stags = this.stags.filter((other) => other !== stag);
      const total = hunters.reduce((sum, { index }) => sum + strengths[index], 0);
      for (const { index } of hunters) {
        out.rewards[index] += (stagReward * strengths[index]) / total;
        out.caughtStag[index] = 1;
      }
    }
    this.agents.forEach((agent, i) => {
      if (out.caughtHare[i] || out.caughtStag[i]) agent.gone = true;
    });
    const anyCatch = [...out.caughtHare, ...out.caughtStag].includes(1);
    if (anyCatch && this.firstCatch === null) this.firstCatch = this.time;

    if (preyMoves > 0) this.movePrey(generator);

    const last =
      stepsAfterFirstHunt === false || this.firstCatch === null ? maxSteps : this.firstCatch + stepsAfterFirstHunt;
    this.agents.forEach((agent, i) => {
      out.terminated[i] = agent.gone ? 1 : 0;
      out.truncated[i] = !agent.gone && this.time >= Math.min(maxSteps, last) ? 1 : 0;
    });
    return out;
  }

  /** Stags first, then hares, each in reading order of where they stand; the same draws as documented for the game. */
  private movePrey(generator: Generator): void {
    for (const kind of [this.stags, this.hares]) {
      for (const prey of [...kind].sort(inReadingOrder)) {
        if (generator.integer(2 ** 30) >= this.options.preyMoves * 2 ** 30) continue;
        const open = DIRECTIONS.map((d) => ({ row: prey.row + d.row, column: prey.column + d.column })).filter(
          (cell) => this.isFree(cell) && ![...this.stags, ...this.hares].some((other) => same(other, cell)),
        );
        if (open.length > 0) Object.assign(prey, open[generator.integer(open.length)]);
      }
    }
  }

  /** [H][W][A + 3]: what an agent sees of the whole grid, or of the cells around it. */
  planes(observer: number): number[][][] {
    const { size, viewRadius } = this.options;
    const me = this.agents[observer];
    const side = viewRadius === false ? size : 2 * viewRadius + 1;
    return Array.from({ length: side }, (_, i) =>
      Array.from({ length: side }, (_, j) => {
        if (viewRadius === false) return this.pixel(observer, { row: i, column: j });
        if (me.gone) return new Array<number>(this.agents.length + 3).fill(0);
        return this.pixel(observer, { row: me.row + i - viewRadius, column: me.column + j - viewRadius });
      }),
    );
  }

  private pixel(observer: number, cell: Thing): number[] {
    const A = this.agents.length;
    const holds = (things: Thing[]) => (things.some((thing) => same(thing, cell)) ? 1 : 0);
    const inside = cell.row >= 0 && cell.column >= 0 && cell.row < this.options.size && cell.column < this.options.size;
    const walkers = this.agents.map((_, i) => this.agents[(observer + i) % A]).map((a) => holds(a.gone ? [] : [a]));
    return [...walkers, inside ? holds(this.obstacles) : 1, holds(this.stags), holds(this.hares)];
  }

  /** [A * 7] one-hot, the observer first. */
  previousActions(observer: number): number[] {
    const A = this.agents.length;
    return this.agents.flatMap((_, i) => {
      const { previous } = this.agents[(observer + i) % A];
      return Array.from({ length: 7 }, (_, action) => (action === previous ? 1 : 0));
    });
  }
}
