import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { coplay, written } from './command-line';
import { freePort } from './servers';

const folder = mkdtempSync(join(tmpdir(), 'coplay-slurm-'));
// SLURM looks at its queue every few seconds, and its servers run as root: only where it is asked for.
const IS_ASKED = process.env['COPLAY_TEST_SLURM'] === '1';
const HAS_SLURM = IS_ASKED && ['munged', 'slurmctld', 'slurmd', 'sbatch'].every((name) => isInstalled(name));
const REASON = IS_ASKED
  ? 'SLURM is not installed (Debian: apt-get install slurm-wlm munge)'
  : 'set COPLAY_TEST_SLURM=1';
const SWEEP = {
  configuration: {
    game: { name: 'matrix', kind: 'stag-hunt', maxSteps: 4 },
    agents: { kind: 'ppo', network: { kind: 'mlp', hidden: [8] }, executor: 'eager' },
    envs: 4,
    steps: 8,
    envSteps: 3200,
    checkpointEvery: 5,
  },
  axes: { 'agents.ppo.gamma': [0.5, 0.9] },
  seeds: 1,
  episodes: 20,
};
const NAMES = ['000-seed-1', '001-seed-1'];

function isInstalled(name: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
}

/** A cluster of this machine alone, with all of its files in one folder. */
async function startSlurm(place: string): Promise<ChildProcess[]> {
  for (const name of ['state', 'spool', 'munge']) mkdirSync(join(place, name), { recursive: true, mode: 0o755 });
  const host = hostname().split('.')[0];
  const [key, socket] = [join(place, 'munge', 'key'), join(place, 'munge', 'socket')];
  writeFileSync(key, randomBytes(128), { mode: 0o400 });
  const configuration = [
    `ClusterName=test\nSlurmctldHost=${host}(127.0.0.1)\nSlurmctldPort=${await freePort()}\nSlurmdPort=${await freePort()}`,
    // A job that waits again waits for as long as its permission is valid.
    `AuthType=auth/munge\nCryptoType=crypto/munge\nAuthInfo=socket=${socket},cred_expire=5`,
    `SlurmUser=root\nSlurmdUser=root\nStateSaveLocation=${place}/state\nSlurmdSpoolDir=${place}/spool`,
    `SlurmctldPidFile=${place}/slurmctld.pid\nSlurmdPidFile=${place}/slurmd.pid`,
    'ProctrackType=proctrack/linuxproc\nTaskPlugin=task/none\nJobAcctGatherType=jobacct_gather/none\nMpiDefault=none',
    'SelectType=select/cons_tres\nSelectTypeParameters=CR_CPU\nSchedulerParameters=sched_interval=2,batch_sched_delay=0',
    `NodeName=${host} NodeAddr=127.0.0.1 CPUs=2\nPartitionName=all Nodes=ALL Default=YES State=UP`,
  ];
  writeFileSync(join(place, 'slurm.conf'), `${configuration.join('\n')}\n`);
  vi.stubEnv('SLURM_CONF', join(place, 'slurm.conf'));
  const files = [`--pid-file=${place}/munge/pid`, `--log-file=${place}/munge/log`, `--seed-file=${place}/munge/seed`];
  const start = (command: string, args: readonly string[]) => spawn(command, args, { stdio: 'ignore' });
  const servers = [start('munged', ['--foreground', '--force', `--key-file=${key}`, `--socket=${socket}`, ...files])];
  while (!existsSync(socket)) await sleep(50);
  servers.push(start('slurmctld', ['-D', '-L', join(place, 'slurmctld.log')]));
  servers.push(start('slurmd', ['-D', '-N', host, '-L', join(place, 'slurmd.log')]));
  for (let second = 0; !/idle/.test(spawnSync('sinfo').stdout.toString()); second++) {
    if (second === 60) throw new Error(readFileSync(join(place, 'slurmd.log'), 'utf8').slice(-2000));
    await sleep(1000);
  }
  return servers;
}

/** Whether SLURM has jobs still. */
const isBusy = () => execFileSync('squeue', ['--noheader']).toString().trim() !== '';

const results = (directory: string) =>
  NAMES.map((name) => {
    const { seconds: _, ...result } = JSON.parse(readFileSync(join(directory, name, 'result.json'), 'utf8'));
    const log = readFileSync(join(directory, name, 'log.jsonl'), 'utf8')
      .trim()
      .split('\n');
    const bits = log.map((line) => JSON.stringify(JSON.parse(line), (key, value) => (/^time\//.test(key) ? 0 : value)));
    return { result, bits };
  });

describe(HAS_SLURM ? 'a sweep through SLURM' : `a sweep through SLURM: skipped, ${REASON}`, {
  tags: ['learning'],
}, () => {
  let servers: ChildProcess[] = [];
  beforeAll(async () => {
    vi.stubEnv('COPLAY_THREADS', '1');
    if (HAS_SLURM) servers = await startSlurm(join(folder, 'slurm'));
  }, 120_000);
  afterAll(async () => {
    for (const server of servers.toReversed()) {
      server.kill('SIGTERM');
      await new Promise((end) => server.once('close', end));
    }
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });

  it.runIf(HAS_SLURM)(
    'gives the bits of a local sweep, though a task is told that its time is over, and waits again',
    async () => {
      const sweep = written(folder, SWEEP);
      const [single, shared] = [join(folder, 'single'), join(folder, "shared, 'quoted'")];
      await coplay(['sweep', sweep, '--directory', single, '--jobs', '1']);
      const submitted = await coplay(['sweep', sweep, '--directory', shared, '--slurm', '--jobs', '1', '--json']);
      expect(submitted).toMatchObject({ code: 0, err: '' });
      const { runs, jobs } = JSON.parse(submitted.out);
      expect([runs, jobs]).toEqual([2, { array: expect.stringMatching(/^\d+$/), summary: expect.any(String) }]);
      // As before a time limit: the signal comes to the shell of the script alone.
      while (!existsSync(join(shared, NAMES[0], 'checkpoints'))) await sleep(50);
      execFileSync('scancel', ['--signal=USR1', '--batch', `${jobs.array}_0`]);
      // A second array would do the same runs.
      const twice = await coplay(['sweep', sweep, '--directory', shared, '--slurm', '--resume']);
      expect([twice.code, twice.err]).toEqual([1, expect.stringContaining(`job ${jobs.array}, which is in the queue`)]);
      while (isBusy()) await sleep(500);
      const written0 = readFileSync(join(shared, 'slurm', '0.txt'), 'utf8');
      expect(written0).toMatch(/000-seed-1 {2}stopped, with a checkpoint.*000-seed-1 {2}done: return/s);
      expect(results(shared)).toEqual(results(single));
      // The job after the array has seen both.
      const index = JSON.parse(readFileSync(join(shared, 'index.json'), 'utf8'));
      expect(index.runs.map(({ state }: { state: string }) => state)).toEqual(['done', 'done']);
      expect(existsSync(join(shared, 'report.html'))).toBe(true);
      const again = await coplay(['sweep', sweep, '--directory', shared, '--slurm', '--resume']);
      expect([again.code, again.out]).toEqual([0, expect.stringContaining('All runs in')]);
    },
    600_000,
  );

  it.runIf(HAS_SLURM)('shows what sbatch refuses', async () => {
    vi.stubEnv('SBATCH_PARTITION', 'none-such');
    const refused = await coplay(['sweep', written(folder, SWEEP), '--directory', join(folder, 'refused'), '--slurm']);
    expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/invalid partition .*none-such/i)]);
  });
});
