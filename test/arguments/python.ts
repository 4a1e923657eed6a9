import type { Doors } from './doors';

const reason = 'starts Python; packages/python/test/trouble.test.ts gives it wrong arguments';

/** The public functions of the package for Python games. */
export const pythonDoors: Doors = { pettingZoo: reason, gymnasium: reason };
