import { mustRun } from '../scripts/lib/run';
import { root } from '../scripts/lib/workspaces';

/** In a process of its own, since packages aren't resolved to their sources here. */
const TRIAL = "import { useBackend } from '@coplay/tensor'; await useBackend('tensorflow');";

/** Refuses to run the tests where tfjs-node is missing: they would pass without trying it. */
export async function setup(): Promise<void> {
  const args = ['--conditions=@coplay/source', '--import', 'tsx', '--input-type=module', '--eval', TRIAL];
  try {
    await mustRun(process.execPath, args, { cwd: root });
  } catch (error) {
    throw new Error(
      'tfjs-node is not there. Install it: npm i --no-save --ignore-scripts=false @tensorflow/tfjs-node@4.22.0, or npm run setup:tfjs-node.',
      {
        cause: error,
      },
    );
  }
}
