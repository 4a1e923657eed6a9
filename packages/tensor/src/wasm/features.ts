import { Code, ModuleBuilder } from './assembler';
import { engine } from './engine';

/** What an engine can run. */
export interface Features {
  /** Why modules with vectors don't run here; undefined where they do. */
  readonly problem?: string;
  /** Whether there's an instruction for a b + c of vectors. */
  readonly isFused: boolean;
}

let found: Features | undefined;

/** Looks once, by offering small modules to the engine. */
export function wasmFeatures(): Features {
  found ??= look();
  return found;
}

function look(): Features {
  if (!engine) return { problem: 'there is no WebAssembly here', isFused: false };
  if (!engine.validate(sample(false))) return { problem: 'WebAssembly has no SIMD here', isFused: false };
  try {
    new engine.Module(sample(false));
  } catch (error) {
    const problem = `WebAssembly isn't allowed here (${(error as Error).message.split('\n')[0]})`;
    return { problem, isFused: false };
  }
  return { isFused: engine.validate(sample(true)) };
}

function sample(isFused: boolean): Uint8Array {
  const code = new Code([], isFused);
  code.splat(1);
  code.splat(2);
  code.multiplyAdd(() => code.splat(3));
  code.op('drop');
  const builder = new ModuleBuilder();
  return builder.encode(builder.add(code, 'sample'));
}
