import type { FileSystem } from './file-system';
import { type Manifest, readManifest } from './manifest';
import { isCheckpointName, leftovers } from './names';

/** The checkpoints of a directory by what their manifests say. */
export interface FoundCheckpoints {
  /** Newest first. */
  readonly readable: readonly { readonly path: string; readonly manifest: Manifest }[];
  /** Highest step first. */
  readonly unreadable: readonly { readonly path: string; readonly error: unknown }[];
}

/** Reads the manifests of a directory's checkpoints, not their contents. */
export async function findCheckpoints(files: FileSystem, directory: string): Promise<FoundCheckpoints> {
  const readable: { path: string; manifest: Manifest }[] = [];
  const unreadable: { path: string; error: unknown }[] = [];
  for (const name of candidates(await files.list(directory))) {
    const path = `${directory}/${name}`;
    try {
      readable.push({ path, manifest: await readManifest(files, path) });
    } catch (error) {
      unreadable.push({ path, error });
    }
  }
  readable.sort((a, b) => b.manifest.sequence - a.manifest.sequence || b.manifest.step - a.manifest.step);
  return { readable, unreadable };
}

/**
 * Names that may be checkpoints, highest step first. A kill while a step was saved for the second time can leave the
 * first one under another name and nothing in its place: then that one counts.
 */
function candidates(names: readonly string[]): string[] {
  const present = new Set(names);
  const replaced = leftovers(names).filter(
    ({ purpose, checkpoint }) => purpose === 'replaced' && !present.has(checkpoint),
  );
  return [...names.filter(isCheckpointName), ...replaced.map(({ name }) => name)].sort().reverse();
}
