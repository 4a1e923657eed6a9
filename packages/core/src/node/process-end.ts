/**
 * Signals that end a process in which nothing listens to them: Ctrl-C, a request to end, a terminal that was closed.
 */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/**
 * Calls `cleanup` when this process ends by itself or by a signal that nothing else listens to. A signal that something
 * listens to may not end the process, so it calls nothing.
 *
 * @returns takes the request back
 */
export function atProcessEnd(cleanup: () => void): () => void {
  const end = (signal: NodeJS.Signals): void => {
    // This listener is gone by now. With none left, the signal has its default effect on the process.
    if (process.listenerCount(signal) > 0) return;
    cleanup();
    process.kill(process.pid, signal);
  };
  process.once('exit', cleanup);
  for (const signal of SIGNALS) process.once(signal, end);
  return () => {
    process.off('exit', cleanup);
    for (const signal of SIGNALS) process.off(signal, end);
  };
}
