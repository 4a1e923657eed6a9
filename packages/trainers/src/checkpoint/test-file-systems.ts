import type { FileSystem } from './file-system';

/** The operations that change something. */
export type Change = 'makeDirectory' | 'write' | 'rename' | 'remove' | 'syncDirectory';

/**
 * A file system for tests in which `before` runs ahead of each change; it may throw instead of letting it happen. A
 * write for which it throws leaves nothing, as a write that fails does; kill.test.ts tests the leftovers of a kill.
 */
export function watched(files: FileSystem, before: (change: Change, path: string) => void): FileSystem {
  const guarded =
    (change: Change, work: (path: string) => Promise<void>) =>
    async (path: string): Promise<void> => {
      before(change, path);
      await work(path);
    };
  return {
    ...files,
    makeDirectory: guarded('makeDirectory', files.makeDirectory),
    remove: guarded('remove', files.remove),
    syncDirectory: guarded('syncDirectory', files.syncDirectory),
    async rename(from, to) {
      before('rename', from);
      await files.rename(from, to);
    },
    async write(path, pieces) {
      before('write', path);
      await files.write(path, pieces);
    },
  };
}

/** An error as the system makes it. */
export function systemError(code: string, message: string): Error {
  return Object.assign(new Error(`${code}: ${message}`), { code });
}
