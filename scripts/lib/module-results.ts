/**
 * What `run-modules.ts` writes before a module runs, and after it ran to its end, each with the file's name on one
 * line.
 */
export const BEGIN = '=== module begins: ';
export const DONE = '=== module is done: ';

/** How a module ended. */
export interface ModuleResult {
  readonly ok: boolean;
  /** The output of the process from its beginning to the beginning of the next. */
  readonly output: string;
}

/** How a module ended, from the output of `run-modules.ts`; one that was never begun is not ok. */
export function resultOf(file: string, output: string): ModuleResult {
  const after = output.split(`${BEGIN}${file}\n`)[1];
  if (after === undefined) return { ok: false, output: `Not begun: the process had ended.\n${output.slice(-2000)}` };
  const own = after.split(BEGIN)[0];
  const ok = own.includes(`${DONE}${file}\n`);
  return { ok, output: ok ? own : `It did not run to its end:\n${own}` };
}
