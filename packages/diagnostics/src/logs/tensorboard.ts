import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { checkOptions, type Log } from '@coplay/core';
import { codeOf } from '@coplay/core/node';
import { z } from 'zod';
import { type AppendFile, openAppend } from './files';
import { checkDirectory, checkEntry, checkStart, isFunction, notStarted } from './options';
import { scalarEvent, sessionStartEvent, versionEvent } from './tensorboard-event';
import { tfRecord } from './tfrecord';

/** Options of {@link tensorboard}. */
export interface TensorboardOptions {
  /** Milliseconds since 1970, the wall time of events. Default: performance.timeOrigin + performance.now() */
  readonly clock?: () => number;
}

const schema = z
  .object({
    clock: z
      .custom<() => number>(isFunction, 'a function that returns milliseconds since 1970')
      .default(() => () => performance.timeOrigin + performance.now()),
  })
  .strict();

/**
 * Writes each entry's metrics as scalars into an event file in `directory`: `tensorboard --logdir runs` shows them over
 * environment steps.
 *
 * Every start opens a new file. Nothing is ever appended to one that a kill may have torn, as readers stop at a torn
 * record for good; they go on with the next file. When a run goes on from an earlier step, the new file declares later
 * values of the older ones void, which TensorBoard honours; the older files are left as they are.
 *
 * @throws CoplayError for a directory that is no path
 */
export function tensorboard(directory: string, options: TensorboardOptions = {}): Log {
  checkDirectory('tensorboard', directory);
  const { clock } = checkOptions('tensorboard', schema, options);
  const seconds = () => clock() / 1000;
  let file: AppendFile | undefined;
  return {
    start(info) {
      const startedAt = checkStart('tensorboard', info);
      file?.close();
      file = openNext(directory, seconds());
      file.append(tfRecord(versionEvent(seconds())));
      file.append(tfRecord(sessionStartEvent(seconds(), startedAt === 0 ? 0 : startedAt + 1)));
    },
    write(entry) {
      const open = file ?? notStarted('tensorboard');
      const { envSteps, metrics } = checkEntry('tensorboard', entry);
      open.append(tfRecord(scalarEvent(seconds(), envSteps, metrics)));
    },
    close() {
      file?.close();
      file = undefined;
    },
  };
}

/** Opens a new file. Another process may have taken the name in the meantime: then the next one is tried. */
function openNext(directory: string, seconds: number): AppendFile {
  for (;;) {
    const path = nextFile(directory, seconds);
    try {
      return openAppend(path, 'ax');
    } catch (error) {
      if (codeOf((error as Error).cause) !== 'EEXIST') throw error;
    }
  }
}

/**
 * TensorBoard reads files in the order of their names, so a new one gets the greatest, even if the clock was set back.
 */
function nextFile(directory: string, seconds: number): string {
  mkdirSync(directory, { recursive: true });
  const times = readdirSync(directory).flatMap((name) => /^events\.out\.tfevents\.(\d{10})\b/.exec(name)?.[1] ?? []);
  const time = Math.max(Math.floor(seconds), ...times.map((text) => Number(text) + 1));
  return join(directory, `events.out.tfevents.${String(time).padStart(10, '0')}.coplay`);
}
