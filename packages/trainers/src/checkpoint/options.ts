import { z } from 'zod';
import type { FileSystem } from './file-system';

/** A {@link FileSystem}. */
export const fileSystemSchema = z.custom<FileSystem>((value) => typeof value === 'object' && value !== null, {
  error: 'a file system',
});

/** A function that receives a line. */
export const warnSchema = z.custom<(line: string) => void>((value) => typeof value === 'function', {
  error: 'a function that takes a line',
});
