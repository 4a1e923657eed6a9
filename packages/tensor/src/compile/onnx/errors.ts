import { CoplayError } from '@coplay/core';

/** The expected content of a function, for errors about one that can't be compiled. The tracing backend says it so. */
const EXPECTED = 'operations that can be compiled';

/** The same for code that we generate. */
const GENERATED = 'operations that WebAssembly code can be generated for';

/** A graph for which no code is generated. */
export function explainRefused(where: string, what: string): CoplayError {
  const remedy = 'Leave executor out, or install onnxruntime-node.';
  return new CoplayError({ where, expected: GENERATED, got: what, remedy });
}

/** Whether an error says that no code is generated for a graph, which another executor may run. */
export function isRefused(error: unknown): error is CoplayError {
  return error instanceof CoplayError && error.complaint.expected === GENERATED;
}

/** A graph that ONNX Runtime refuses to load. */
export function explainSession(where: string, error: unknown): CoplayError {
  const got = `a graph that ONNX Runtime doesn't load (${firstLine(error)})`;
  const remedy = "Compile it with executor: 'eager', and report it with the function.";
  return new CoplayError({ where, expected: EXPECTED, got, remedy }, { cause: error });
}

/** A graph that fails while it runs, such as a gather beyond the end of a table. */
export function explainRun(where: string, error: unknown): CoplayError {
  const remedy = 'Look at the inputs: indices out of range, or too little memory. The state is as it was.';
  return new CoplayError({ where, expected: 'a graph that runs', got: firstLine(error), remedy }, { cause: error });
}

/** Whether an error says that a function can't be compiled. */
export function isUncompilable(error: unknown): error is CoplayError {
  return error instanceof CoplayError && error.complaint.expected === EXPECTED;
}

function firstLine(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).split('\n')[0];
}
