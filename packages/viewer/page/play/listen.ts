/** Calls back for keys of the page, but not for keys typed into a field or meant for the browser. */
export function listenToKeys(pressed: (key: string) => boolean): void {
  document.addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.repeat) return;
    const at = event.target instanceof HTMLElement ? event.target : undefined;
    if (at?.matches('select, textarea, input')) return;
    // The space key presses a button that has the focus.
    if (event.key === ' ' && at?.matches('button')) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (pressed(key)) event.preventDefault();
  });
}
