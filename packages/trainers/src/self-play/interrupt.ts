/**
 * A signal that aborts at the first Ctrl-C (SIGINT) or SIGTERM, so that `train({ signal })` ends in good order. A second
 * one ends the process at once.
 *
 * @param onStop  told at the first one
 */
export function interruptSignal(onStop?: () => void): AbortSignal {
  const controller = new AbortController();
  const stop = () => {
    if (controller.signal.aborted) process.exit(130);
    controller.abort();
    onStop?.();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return controller.signal;
}
