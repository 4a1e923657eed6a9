import { useBackend } from '@coplay/tensor';

/** Refuses to run the tests where tfjs-node is missing: they would pass without trying it. */
export async function setup(): Promise<void> {
  try {
    await useBackend('tensorflow');
  } catch (error) {
    throw new Error(
      'tfjs-node is not there. Install it: npm i --no-save --ignore-scripts=false @tensorflow/tfjs-node@4.22.0, or npm run setup:tfjs-node.',
      {
        cause: error,
      },
    );
  }
}
