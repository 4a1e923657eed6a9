/** Counts checks, prints one line for each, and sets the exit status. */
export class Checklist {
  private passed = 0;
  private failed = 0;

  /** Runs one check; its error is printed as the reason, and the next check still runs. */
  async check(name: string, body: () => Promise<void> | void): Promise<void> {
    const start = performance.now();
    try {
      await body();
      this.passed++;
      console.log(`ok    ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
    } catch (error) {
      this.failed++;
      console.log(`FAIL  ${name}\n${indented(error instanceof Error ? error.message : String(error))}`);
    }
  }

  /** The closing line; the process fails if a check failed or none ran. */
  finish(what: string): void {
    console.log(`${what}: ${this.passed} passed, ${this.failed} failed`);
    if (this.failed > 0 || this.passed === 0) process.exitCode = 1;
  }
}

function indented(text: string): string {
  return text.trimEnd().replace(/^/gm, '      ');
}
