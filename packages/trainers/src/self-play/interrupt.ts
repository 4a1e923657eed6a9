import { checkFunction } from '@coplay/core/checks';

/** Ctrl-C, a request to end, a terminal that was closed, and SLURM's word before a time limit. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR1'] as const;

/** A signal that a process's own signals abort; see {@link interruptSignal}. */
export interface InterruptSignal extends AbortSignal {
  /** Stops listening. The signal stays as it is. */
  dispose(): void;
}

interface Listener {
  readonly controller: AbortController;
  readonly onStop: (() => void) | undefined;
}

/** What waits for the process's signals. However many there are, the process has one listener for each signal. */
const listeners = new Set<Listener>();

/**
 * A signal that aborts at the first Ctrl-C (SIGINT), SIGTERM, SIGHUP (the terminal was closed) or SIGUSR1 (sent by
 * SLURM before a time limit, with `--signal=USR1@60`), so that `train({ signal })` ends in good order. When all signals
 * that were made have aborted, the next one ends the process at once, with status 130. `dispose()` stops listening.
 *
 * @param onStop  called at the first one
 */
export function interruptSignal(onStop?: () => void): InterruptSignal {
  if (onStop !== undefined) checkFunction('interruptSignal', 'onStop', onStop);
  const listener: Listener = { controller: new AbortController(), onStop };
  if (listeners.size === 0) for (const name of SIGNALS) process.on(name, stop);
  listeners.add(listener);
  const dispose = (): void => {
    if (listeners.delete(listener) && listeners.size === 0) for (const name of SIGNALS) process.off(name, stop);
  };
  return Object.assign(listener.controller.signal, { dispose });
}

function stop(name: NodeJS.Signals): void {
  const running = [...listeners].filter(({ controller }) => !controller.signal.aborted);
  if (running.length === 0) process.exit(130);
  if (name === 'SIGHUP') outliveTerminal();
  for (const { controller, onStop } of running) {
    controller.abort();
    onStop?.();
  }
}

/**
 * Without a terminal every line that is written there fails, which would end the process before its checkpoint is
 * saved.
 */
function outliveTerminal(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}
