/** Something that ticks while it runs. */
export interface Clock {
  readonly isRunning: boolean;
  start(): void;
  stop(): void;
}

/**
 * Calls `tick` so many times a second, in step with the screen: never twice for one picture, however fast.
 *
 * @param perSecond  called for each frame
 */
export function createClock(perSecond: () => number, tick: () => void): Clock {
  let request: number | undefined;
  let last = 0;
  const frame = (now: number) => {
    request = requestAnimationFrame(frame);
    // Half a picture's time of patience, or a rate that divides the screen's would lose every other tick.
    if (now - last < 1000 / perSecond() - 8) return;
    last = now;
    tick();
  };
  return {
    get isRunning() {
      return request !== undefined;
    },
    start() {
      last = performance.now();
      request ??= requestAnimationFrame(frame);
    },
    stop() {
      if (request !== undefined) cancelAnimationFrame(request);
      request = undefined;
    },
  };
}
