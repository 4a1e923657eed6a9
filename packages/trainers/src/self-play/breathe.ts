/**
 * Lets the event loop turn once. Eager tensors compute within one turn, so without this neither an interrupt nor a
 * timer would be served before training ends.
 */
export function breathe(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0);
  });
}
