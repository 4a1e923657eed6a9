import { z } from 'zod';
import type { FileSystem } from './file-system';

/** A {@link FileSystem}. */
export const fileSystemSchema = z.custom<FileSystem>((value) => typeof value === 'object' && value !== null, {
  error: 'a file system',
});

const isCount = (value: unknown): boolean =>
  value === Number.POSITIVE_INFINITY || (Number.isSafeInteger(value) && Number(value) >= 1);

/** How many checkpoints stay. */
export const keepSchema = z.custom<number>(isCount, { error: 'a whole number of at least 1, or Infinity' });

/** A function that receives a line. */
export const warnSchema = z.custom<(line: string) => void>((value) => typeof value === 'function', {
  error: 'a function that takes a line',
});
