import { fileURLToPath } from 'node:url';
import { startPeer } from '../compile/peer';
import { type Context, findPython } from '../harness';

/** A search in Python, in a process that stays. */
export interface Peer {
  readonly name: string;
  /** Trees that it searches at most: of one that takes them one after another a few are enough. */
  readonly most: number;
  run(trees: number): Promise<void>;
  end(): void;
}

const SCRIPTS = [
  { name: 'mctx', script: 'mcts_mctx.py', modules: ['numpy', 'jax', 'mctx'], most: Number.POSITIVE_INFINITY },
  { name: 'PyTorch', script: 'mcts_torch.py', modules: ['numpy', 'torch'], most: 20 },
];

/** The requested peers that can be found. Says who is missing. */
export function findPeers({ withPython, say }: Context, simulations: number): Peer[] {
  if (!withPython) return [];
  return SCRIPTS.flatMap(({ name, script, modules, most }) => {
    const python = findPython(modules);
    if ('missing' in python) {
      say(`${name} is left out: ${python.missing}`);
      return [];
    }
    const path = fileURLToPath(new URL(`../peers/${script}`, import.meta.url));
    const { ask, end } = startPeer(python.command, [path]);
    const run = async (trees: number) => {
      await ask({ trees, simulations });
    };
    return [{ name, most, run, end }];
  });
}
