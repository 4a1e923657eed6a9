/** Graphs kept for each function; the one that wasn't used for longest is released first. */
export const MAX_SESSIONS = 32;

/** Something that holds memory until it's released. */
export interface Releasable {
  release(): Promise<void>;
}

/** The graphs of one function by signature: a bounded number of them. */
export class SessionCache<Session extends Releasable> {
  private readonly sessions = new Map<string, Session>();
  private readonly seen = new Set<string>();
  private hasWarned = false;

  constructor(
    private readonly where: string,
    private readonly warn: (line: string) => void,
  ) {}

  /** The session of a signature, which becomes the newest. */
  get(signature: string): Session | undefined {
    const session = this.sessions.get(signature);
    if (!session) return undefined;
    this.sessions.delete(signature);
    this.sessions.set(signature, session);
    return session;
  }

  /** Adds a session, and releases the oldest one if there are too many. */
  async add(signature: string, session: Session): Promise<void> {
    this.sessions.set(signature, session);
    this.count(signature);
    if (this.sessions.size <= MAX_SESSIONS) return;
    const [oldest] = this.sessions.keys();
    await this.remove(oldest);
  }

  /** Releases the session of a signature, if there is one. */
  async remove(signature: string): Promise<void> {
    const session = this.sessions.get(signature);
    this.sessions.delete(signature);
    await session?.release();
  }

  /** Releases all. */
  async clear(): Promise<void> {
    for (const signature of [...this.sessions.keys()]) await this.remove(signature);
  }

  values(): Iterable<Session> {
    return this.sessions.values();
  }

  /** Each signature costs a trace and a session, and when there are too many of them, it costs that again and again. */
  private count(signature: string): void {
    if (this.hasWarned) return;
    this.seen.add(signature);
    if (this.seen.size <= MAX_SESSIONS) return;
    this.hasWarned = true;
    this.seen.clear();
    this.warn(
      `${this.where} was traced for more than ${MAX_SESSIONS} sizes or static values (the last one: ${signature}). ` +
        `Each costs a trace, and only the last ${MAX_SESSIONS} are kept. Pad its inputs to a few sizes.`,
    );
  }
}
