import { CoplayError } from '@coplay/core';

/** The expected content of a function, for errors about one that can't be compiled. The tracing backend says it so. */
const EXPECTED = 'operations that can be compiled';

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
