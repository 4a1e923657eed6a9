import type { NamedArrays } from '@coplay/core';
import type { AnyStep, Executor } from '../executor';
import type { VariableStore } from '../variables';
import { GraphSession } from './graph-session';
import { record, signatureOf } from './record';
import type { Runtime } from './runtime';
import { inTurn } from './turns';

/** Sessions kept for each function; the one that wasn't used for longest is released first. */
const MAX_SESSIONS = 16;

/** Traces a step function once for each signature and runs the graphs. */
export function onnxExecutor(
  runtime: Runtime,
  name: string,
  fn: AnyStep,
  state: Record<string, VariableStore>,
  acceptState: (outputs: NamedArrays) => boolean = () => true,
): Executor {
  const where = `compiled function ${name}`;
  const sessions = new Map<string, GraphSession>();

  const sessionFor = async (...[inputs, statics]: Parameters<Executor['run']>): Promise<GraphSession> => {
    const signature = signatureOf(where, inputs, statics);
    const known = sessions.get(signature);
    if (known) {
      sessions.delete(signature);
      sessions.set(signature, known); // the newest is last
      return known;
    }
    const recorded = record(where, fn, state, inputs, statics);
    const made = await GraphSession.create(runtime, name, recorded, state, {
      intraOpNumThreads: Number(process.env['COPLAY_THREADS'] ?? 2),
      interOpNumThreads: 1,
      graphOptimizationLevel: 'all',
    });
    sessions.set(signature, made);
    if (sessions.size > MAX_SESSIONS) await releaseOldest(sessions);
    return made;
  };

  return {
    run: (inputs, statics) => inTurn(async () => (await sessionFor(inputs, statics)).run(inputs, acceptState)),
    dispose() {
      void inTurn(async () => {
        for (const session of sessions.values()) await session.release();
        sessions.clear();
      });
    },
  };
}

async function releaseOldest(sessions: Map<string, GraphSession>): Promise<void> {
  const [signature, oldest] = sessions.entries().next().value!;
  sessions.delete(signature);
  await oldest.release();
}
