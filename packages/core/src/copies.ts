/** Any class, abstract ones included. */
type AnyClass = abstract new (...given: never[]) => object;

/**
 * Makes `instanceof` hold for objects of the same class in another copy of its package: a process may have loaded the
 * ES module and the CommonJS build, or two installations. For classes that tell objects of ours from others; copies
 * whose objects can't stand in for each other need different names. Messages show the version:
 * `VariableStore of @coplay/tensor 0.1`.
 *
 * @param kind  the class; its subclasses need a call of their own, and without one are told apart as usual
 * @param name  of package, class and, if objects of another version wouldn't do, version:
 *              `@coplay/tensor/Variables@0.1`
 */
export function sharedAmongCopies(kind: AnyClass, name: string): void {
  const mark = Symbol.for(name);
  Object.defineProperty(kind.prototype, mark, { value: true });
  Object.defineProperty(kind, Symbol.hasInstance, {
    value(this: AnyClass, x: unknown): boolean {
      // Subclasses inherit this function.
      if (this !== kind) return Function.prototype[Symbol.hasInstance].call(this, x);
      return typeof x === 'object' && x !== null && mark in x;
    },
  });
}

/**
 * A value that all copies of a package in a process share, such as a queue in which their calls wait. The first copy
 * that asks makes it.
 *
 * @param name  of package, thing and version: copies of another version share another value
 */
export function oneForAllCopies<T extends object>(name: string, make: () => T): T {
  const shared = globalThis as Record<symbol, unknown>;
  const key = Symbol.for(name);
  shared[key] ??= make();
  return shared[key] as T;
}
