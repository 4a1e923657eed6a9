/**
 * Signals that end a process in which nothing listens to them: Ctrl-C, a request to end, a terminal that was closed.
 */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** What is called at the end. However many there are, the process has one listener for each signal. */
const cleanups = new Set<() => void>();

/**
 * Calls `cleanup` when this process ends by itself or by a signal that nothing else listens to. A signal that something
 * else listens to may not end the process, so it calls nothing.
 *
 * @returns takes the request back
 */
export function atProcessEnd(cleanup: () => void): () => void {
  const own = () => cleanup(); // a function that is given twice is called twice
  if (cleanups.size === 0) listen();
  cleanups.add(own);
  return () => {
    if (cleanups.delete(own) && cleanups.size === 0) stopListening();
  };
}

function listen(): void {
  process.on('exit', cleanUp);
  for (const signal of SIGNALS) process.on(signal, end);
}

function stopListening(): void {
  process.off('exit', cleanUp);
  for (const signal of SIGNALS) process.off(signal, end);
}

function cleanUp(): void {
  for (const cleanup of cleanups) cleanup();
}

function end(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  cleanUp();
  cleanups.clear();
  stopListening();
  // With no listener left, the signal has its default effect on the process.
  process.kill(process.pid, signal);
}
