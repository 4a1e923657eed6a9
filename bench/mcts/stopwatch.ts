/** Where time goes, by name, in milliseconds; and rows that networks were given, padding included. */
export class Stopwatch {
  readonly times = { rules: 0, observe: 0, network: 0 };
  rows = 0;
  /** Calls of networks that are under way: they wait for each other, so what counts is the time while there are any. */
  private open = 0;

  /** Adds the time since `start`, during which no network ran. */
  add(part: 'rules' | 'observe', start: number): void {
    const milliseconds = performance.now() - start;
    this.times[part] += milliseconds;
    if (this.open > 0) this.times.network -= milliseconds;
  }

  /** Adds the time that a network takes. */
  async network<T>(work: () => Promise<T>): Promise<T> {
    if (this.open++ === 0) this.times.network -= performance.now();
    const result = await work();
    if (--this.open === 0) this.times.network += performance.now();
    return result;
  }

  reset(): void {
    Object.assign(this.times, { rules: 0, observe: 0, network: 0 });
    this.rows = 0;
  }
}
