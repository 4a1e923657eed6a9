import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { tensorboard } from '@coplay/diagnostics';
import { describe, expect, it } from 'vitest';
import { readEventFiles, slowCrc32c } from './event-files';
import { entry, runInfo, temporaryDirectory } from './helpers';

describe('the reader of this test', () => {
  it('has a right checksum: the check value of CRC-32C', () => {
    // Published with the parameters of CRC-32/ISCSI.
    expect(slowCrc32c(Buffer.from('123456789'))).toBe(0xe3069283);
  });
});

describe('tensorboard', () => {
  it('writes the version, the start of the session, and scalars by step', () => {
    const directory = temporaryDirectory();
    const log = tensorboard(directory, { clock: () => 1_700_000_000_500 });
    log.start(runInfo());
    log.write(entry(1, { 'policy/loss': 0.5, 'value/mse': 25 }));
    log.write({ envSteps: 5_000_000_000, update: 2, metrics: { 'policy/loss': -1.25 } });
    log.close();
    const [file, ...others] = readEventFiles(directory);
    expect(others).toEqual([]);
    const wallTime = 1_700_000_000.5;
    expect(file).toEqual({
      name: 'events.out.tfevents.1700000000.coplay',
      version: 'brain.Event:2',
      starts: [0],
      scalars: [
        { step: 100, wallTime, tag: 'policy/loss', value: 0.5 },
        { step: 100, wallTime, tag: 'value/mse', value: 25 },
        { step: 5_000_000_000, wallTime, tag: 'policy/loss', value: -1.25 },
      ],
      torn: 0,
    });
  });

  it('writes bytes that follow the format, for a record worked out by hand', () => {
    const directory = temporaryDirectory();
    const log = tensorboard(directory, { clock: () => 1000 });
    log.start(runInfo());
    log.close();
    const [name] = readdirSync(directory);
    const bytes = readFileSync(join(directory, name!));
    // Event { 1: double 1.0 = 00 00 00 00 00 00 f0 3f, 2: varint 0, 3: bytes(13) "brain.Event:2" }: 9 + 2 + 15 = 26
    // bytes
    const content = Buffer.from(
      `09000000000000f03f1000${'1a0d'}${Buffer.from('brain.Event:2').toString('hex')}`,
      'hex',
    );
    expect(content.length).toBe(26);
    expect(bytes.subarray(0, 8).toString('hex')).toBe('1a00000000000000');
    expect(bytes.subarray(12, 38).equals(content)).toBe(true);
  });

  it('opens a new file at every start and leaves a torn one alone', () => {
    const whole = temporaryDirectory();
    const log = tensorboard(whole, { clock: () => 1_700_000_000_000 });
    log.start(runInfo());
    for (let update = 1; update <= 3; update++) log.write(entry(update, { a: update }));
    log.close();
    const [name] = readdirSync(whole);
    const bytes = readFileSync(join(whole, name!));

    for (let cut = 1; cut < 60; cut++) {
      const directory = temporaryDirectory();
      const torn = join(directory, name!);
      writeFileSync(torn, bytes);
      truncateSync(torn, bytes.length - cut);
      // The clock stands still: the new name must differ and sort behind the old one all the same.
      const second = tensorboard(directory, { clock: () => 1_700_000_000_000 });
      second.start(runInfo(200));
      second.write(entry(3, { a: 30 }));
      second.close();
      const files = readEventFiles(directory);
      expect(files).toHaveLength(2);
      expect(files[0].name).toBe(name);
      expect(readFileSync(torn)).toEqual(bytes.subarray(0, bytes.length - cut));
      // Value { tag, float }: 3 + 5 bytes; Summary 2 + 8; Event 9 (wall time) + 3 (step 300) + 2 + 10 = 24; record 24 +
      // 16 = 40.
      expect(files[0].scalars.map(({ value }) => value)).toEqual(cut <= 40 ? [1, 2] : [1]);
      expect(files[0].torn).toBe((80 - cut) % 40);
      expect(files[1].scalars.map(({ step, value }) => [step, value])).toEqual([[300, 30]]);
      // Values of the older file from step 201 on are void.
      expect(files[1].starts).toEqual([201]);
    }
  });

  it('gives a new file the greatest name even if the clock was set back', () => {
    const directory = temporaryDirectory();
    for (const seconds of [1_700_000_000, 1_600_000_000, 1_700_000_000]) {
      const log = tensorboard(directory, { clock: () => seconds * 1000 });
      log.start(runInfo());
      log.write(entry(1, { a: seconds }));
      log.close();
    }
    const values = readEventFiles(directory).map(({ scalars }) => scalars[0].wallTime);
    expect(values).toEqual([1_700_000_000, 1_600_000_000, 1_700_000_000]);
  });

  it('has the wall time by default, and refuses a clock that is none', () => {
    const directory = temporaryDirectory();
    const log = tensorboard(directory);
    log.start(runInfo());
    log.write(entry(1, { a: 1 }));
    log.close();
    const { wallTime } = readEventFiles(directory)[0].scalars[0];
    expect(Math.abs(wallTime - Date.now() / 1000)).toBeLessThan(60);
    expect(() => tensorboard(directory, { clock: 5 as never })).toThrow(/tensorboard: option clock/);
  });
});
