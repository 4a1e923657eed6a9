import type { FileSystem } from './file-system';
import { findCheckpoints } from './find';
import { FILES, readChecked, readManifest } from './manifest';
import { abandoned, checkpointName, leftovers, withName } from './names';

/**
 * Renames a finished checkpoint to its own name. An older one of the same step steps aside until that's done. One that
 * can't be read, since it is damaged or of a newer version, keeps another name: `step-000000000024.unreadable-1`.
 */
export async function moveIntoPlace(
  files: FileSystem,
  directory: string,
  temporary: string,
  own: string,
): Promise<void> {
  const path = `${directory}/${own}`;
  if (!(await files.list(directory)).includes(own)) {
    await files.rename(temporary, path);
    return files.syncDirectory(directory);
  }
  if (!(await isReadable(files, path))) {
    const names = await files.list(directory);
    let number = 1;
    while (names.includes(`${own}.unreadable-${number}`)) number++;
    await files.rename(path, `${directory}/${own}.unreadable-${number}`);
    await files.rename(temporary, path);
    return files.syncDirectory(directory);
  }
  await withName(own, 'replaced', async (name) => {
    const aside = `${directory}/${name}`;
    await files.rename(path, aside);
    try {
      await files.rename(temporary, path);
    } catch (error) {
      await files.rename(aside, path);
      throw error;
    }
    await files.syncDirectory(directory);
  });
}

/** Whether a checkpoint is complete: its manifest, and the files with the checksums there. */
async function isReadable(files: FileSystem, path: string): Promise<boolean> {
  try {
    const manifest = await readManifest(files, path);
    for (const name of FILES) await readChecked(files, path, name, manifest);
    return true;
  } catch {
    return false;
  }
}

/**
 * Removes directories that a kill left half written or half removed, and puts back a checkpoint that was moved aside.
 */
export async function clean(files: FileSystem, directory: string): Promise<void> {
  const names = new Set(await files.list(directory));
  for (const leftover of leftovers([...names]).filter(abandoned)) {
    const path = `${directory}/${leftover.name}`;
    if (leftover.purpose !== 'replaced') await files.remove(path);
    else if (!names.has(leftover.checkpoint)) {
      await files.rename(path, `${directory}/${leftover.checkpoint}`);
      names.add(leftover.checkpoint);
    }
  }
}

/**
 * Removes all but the newest `keep` checkpoints, and replaced ones. Unreadable ones are kept: they may not be ours, and
 * a user may want to examine them.
 */
export async function prune(files: FileSystem, directory: string, keep: number): Promise<void> {
  const { readable } = await findCheckpoints(files, directory);
  for (const { path, manifest } of readable.slice(keep)) {
    // Under another name first: half removed, it would look like a damaged checkpoint.
    await withName(checkpointName(manifest.step), 'removing', async (name) => {
      await files.rename(path, `${directory}/${name}`);
      await files.remove(`${directory}/${name}`);
    });
  }
  const replaced = leftovers(await files.list(directory)).filter(({ purpose }) => purpose === 'replaced');
  for (const leftover of replaced.filter(abandoned)) await files.remove(`${directory}/${leftover.name}`);
}
