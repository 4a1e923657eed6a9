import { codeOf, writeError } from '@coplay/core/node';
import { EXIT } from './command';

/** The standard output of this process, for lines of a result. */
export interface Output {
  line(text: string): void;
  /** Waits until all lines are written. @returns the exit code: that of a failure where a line was lost */
  end(code: number): Promise<number>;
}

/**
 * A result that could not be written must not look like success, and a terminal that is gone must not end a run in the
 * middle: failures of the two streams are kept until the end.
 *
 * @param complain  receives the reason why lines were lost; a closed reader (`coplay inspect RUN | head`) is no error
 */
export function watchedOutput(complain: (line: string) => void): Output {
  let failure: unknown;
  process.stdout.on('error', (error) => {
    failure ??= error;
  });
  // Where that fails, there is nowhere left to say so.
  process.stderr.on('error', () => undefined);
  return {
    line: (text) => process.stdout.write(`${text}\n`),
    async end(code) {
      await new Promise((resolve) => {
        process.stdout.write('', resolve);
      });
      // The error of the last line comes one turn after its write.
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
      if (failure === undefined) return code;
      if (codeOf(failure) !== 'EPIPE') {
        complain(
          writeError('coplay', 'to write the result to the standard output', failure, 'Send it elsewhere.').message,
        );
      }
      return code === EXIT.ok ? EXIT.failed : code;
    },
  };
}
