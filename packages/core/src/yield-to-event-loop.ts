/**
 * Lets the event loop turn once. Tensors compute within one turn, so a loop over steps must await this now and then:
 * otherwise an interrupt or a timer has no effect before the loop ends.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0); // a millisecond or more, in browsers
  });
}
