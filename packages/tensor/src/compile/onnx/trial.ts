/** Something that can be run again and again without changing anything. */
export interface TrialRunner {
  run(): Promise<unknown>;
  release(): Promise<void>;
}

/** How a trial goes. */
export interface TrialOptions {
  /** The most threads to try, at least 1. */
  readonly cores: number;
  /** Milliseconds that pass steadily. */
  readonly clock: () => number;
}

/** Rounds of one run each; the fewest are for graphs of which a run takes long. */
const [FEWEST, MOST] = [3, 15];

/** Milliseconds after which no round is added. */
const BUDGET = 200;

/** More threads must be faster by this factor, since they take the processors from everything else. */
const GAIN = 0.9;

/**
 * Finds how many threads are fastest: 1 against 2, the better against 4, and so on up to all cores, until more threads
 * don't help. Each pair runs in turns, so that a busy machine slows both equally, and medians are compared.
 *
 * @param open  makes a runner of so many threads
 * @returns the winner, still open
 */
export async function fastestThreads<Runner extends TrialRunner>(
  open: (threads: number) => Promise<Runner>,
  { cores, clock }: TrialOptions,
): Promise<{ readonly threads: number; readonly runner: Runner }> {
  let best = { threads: 1, runner: await open(1) };
  while (best.threads < cores) {
    const threads = Math.min(2 * best.threads, cores);
    let isBetter = false;
    let runner: Runner | undefined;
    try {
      runner = await open(threads);
      isBetter = await isFaster(runner, best.runner, clock);
    } catch (error) {
      await best.runner.release();
      await runner?.release();
      throw error;
    }
    await (isBetter ? best.runner : runner).release();
    if (!isBetter) break;
    best = { threads, runner };
  }
  return best;
}

async function isFaster(candidate: TrialRunner, present: TrialRunner, clock: () => number): Promise<boolean> {
  const timeOf = async (runner: TrialRunner): Promise<number> => {
    const start = clock();
    await runner.run();
    return clock() - start;
  };
  await present.run(); // the first run of each lays out its memory
  await candidate.run();
  const times: [number, number][] = [];
  const start = clock();
  const isHopeless = () => times.length === 2 && times.every(([time, other]) => time > other);
  while (!isHopeless() && (times.length < FEWEST || (times.length < MOST && clock() - start < BUDGET))) {
    const presentFirst = times.length % 2 === 0;
    const first = await timeOf(presentFirst ? present : candidate);
    const second = await timeOf(presentFirst ? candidate : present);
    times.push(presentFirst ? [second, first] : [first, second]);
  }
  return median(times.map(([time]) => time)) < GAIN * median(times.map(([, time]) => time));
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1];
}
