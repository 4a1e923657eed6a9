/**
 * Lets the event loop turn once. Tensors compute within one turn, so without this neither an interrupt nor a
 * timer would be served before training ends.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0); // a millisecond or more, in browsers
  });
}
